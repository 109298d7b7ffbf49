# SPDX-License-Identifier: GPL-2.0-or-later
# Whole hosts in virtual machines, with systemd, AppArmor or SELinux, and virt-seed's packages; needs neither root
# nor libvirtd here, but VIRT_SEED_HOST, which build-host makes, and VIRT_SEED_DEBS, the packages for
# that release of Debian.

# The one that takes longest is begun first.
host_tests = \
	%D%/boot.bats \
	%D%/imds.bats \
	%D%/disk.bats \
	%D%/shim.bats \
	%D%/try.bats \
	%D%/install.bats \
	%D%/clock.bats \
	%D%/maker.bats \
	%D%/session.bats \
	%D%/selinux.bats \
	$(NULL)
EXTRA_DIST += $(host_tests) \
	%D%/guest.bats \
	%D%/host.bash \
	$(NULL)
MOSTLYCLEANFILES += check-host.log check-host-guest.log $(host_tests:.bats=.log) \
	$(host_tests:.bats=.trs) %D%/guest.log %D%/guest.trs

# Hours, as everything is emulated: the machines have their own limits.
host_environment = TEST_SECONDS=10000 VIRT_SEED_BUILDDIR='$(abs_builddir)' VIRT_SEED_HOST='$(VIRT_SEED_HOST)' \
	VIRT_SEED_DEBS='$(VIRT_SEED_DEBS)' VIRT_SEED_GUEST='$(VIRT_SEED_GUEST)'

check-host: all
	$(host_environment) $(MAKE) check-TESTS $(call ring,$(host_tests)) AM_TESTS_ENVIRONMENT=

# A guest with cloud-init in an emulated machine takes its time, so it is not in every run.
check-host-guest: all
	$(host_environment) $(MAKE) check-TESTS $(call ring,%D%/guest.bats) AM_TESTS_ENVIRONMENT=
.PHONY: check-host check-host-guest
