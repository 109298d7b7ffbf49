# SPDX-License-Identifier: GPL-2.0-or-later
# A real libvirtd and QEMU, private to the tests; needs root.

check-libvirt: all tests/imds/publish$(EXEEXT)
	VIRT_SEED_BUILDDIR='$(abs_builddir)' $(BATS) '$(srcdir)/%D%'
.PHONY: check-libvirt

EXTRA_DIST += \
	%D%/common.bash \
	%D%/domains.bash \
	%D%/imds.bats \
	%D%/import.bats \
	%D%/lab-namespace.bash \
	%D%/lab.bash \
	%D%/lab.bats \
	%D%/medium.bats \
	%D%/migrate.bats \
	%D%/net.bats \
	%D%/pending.bats \
	%D%/recipes.bats \
	%D%/record.bats \
	%D%/report.bash \
	%D%/scrub.bats \
	%D%/served.bats \
	%D%/set.bats \
	%D%/shim.bats \
	%D%/start.bats \
	%D%/vdsm.bats \
	%D%/wait.bats \
	%D%/wiring.bats \
	$(NULL)
