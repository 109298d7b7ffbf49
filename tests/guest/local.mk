# SPDX-License-Identifier: GPL-2.0-or-later
# Real guests with the real cloud-init; needs root, and VIRT_SEED_GUEST, which build-guest makes.

# The one that takes longest has one guest at a time; so it begins first, and the others run at the same time.
guest_tests = \
	%D%/medium.bats \
	%D%/new.bats \
	%D%/boot.bats \
	%D%/report.bats \
	%D%/try.bats \
	%D%/imds.bats \
	%D%/clone.bats \
	%D%/doors.bats \
	%D%/migrate.bats \
	%D%/readme.bats \
	%D%/session.bats \
	$(NULL)
EXTRA_DIST += $(guest_tests) \
	%D%/common.bash \
	$(NULL)
MOSTLYCLEANFILES += check-guest.log $(guest_tests:.bats=.log) $(guest_tests:.bats=.trs)

check-guest: all
	TEST_SECONDS=7200 VIRT_SEED_BUILDDIR='$(abs_builddir)' VIRT_SEED_GUEST='$(VIRT_SEED_GUEST)' \
		$(MAKE) check-TESTS $(call ring,$(guest_tests)) AM_TESTS_ENVIRONMENT=
.PHONY: check-guest
