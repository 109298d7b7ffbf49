# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's packages from installation to purge; scripts/test-packages runs them.

EXTRA_DIST += \
	%D%/enter.bash \
	%D%/packages.bats \
	$(NULL)
