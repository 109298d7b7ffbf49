# SPDX-License-Identifier: GPL-2.0-or-later
# Real guests with the real cloud-init; needs root, and VIRT_SEED_GUEST, which build-guest makes.

check-guest: all
	VIRT_SEED_BUILDDIR='$(abs_builddir)' VIRT_SEED_GUEST='$(VIRT_SEED_GUEST)' \
		$(BATS) '$(srcdir)/%D%'
.PHONY: check-guest

EXTRA_DIST += \
	%D%/boot.bats \
	%D%/common.bash \
	%D%/doors.bats \
	%D%/imds.bats \
	%D%/medium.bats \
	%D%/report.bats \
	$(NULL)
