# SPDX-License-Identifier: GPL-2.0-or-later
# Scripts for the source tree; none of them is installed.

EXTRA_DIST += \
	%D%/bench \
	%D%/bench-imds \
	%D%/build-guest \
	%D%/fetch-cloud-init \
	%D%/fuzz \
	%D%/guest \
	%D%/packages.bash \
	%D%/quickstart \
	%D%/syntax-check \
	%D%/test \
	$(NULL)
