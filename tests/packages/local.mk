# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's packages from installation to purge, and from an image to a login; scripts/test-packages runs them.

EXTRA_DIST += \
	%D%/enter.bash \
	%D%/newcomer.bats \
	%D%/packages.bats \
	$(NULL)
