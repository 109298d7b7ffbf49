# SPDX-License-Identifier: GPL-2.0-or-later
# The page in Cockpit, in a real browser; needs root, Cockpit, Chromium and, for the last test, VIRT_SEED_GUEST, which
# build-guest makes.

cockpit_tests = %D%/page.bats
EXTRA_DIST += $(cockpit_tests) \
	%D%/browser.py \
	%D%/common.bash \
	%D%/page.py \
	$(NULL)
MOSTLYCLEANFILES += check-cockpit.log $(cockpit_tests:.bats=.log) $(cockpit_tests:.bats=.trs)

check-cockpit: all
	TEST_SECONDS=3600 VIRT_SEED_BUILDDIR='$(abs_builddir)' VIRT_SEED_GUEST='$(VIRT_SEED_GUEST)' \
		$(MAKE) check-TESTS $(call ring,$(cockpit_tests)) AM_TESTS_ENVIRONMENT=
.PHONY: check-cockpit
