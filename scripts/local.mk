# SPDX-License-Identifier: GPL-2.0-or-later
# Scripts for the source tree; none is installed but the completion of bash and the units of
# systemd/.

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/completion/virt-seed

EXTRA_DIST += \
	%D%/bench \
	%D%/bench-imds \
	%D%/build-guest \
	%D%/build-host \
	%D%/fetch-cloud-init \
	%D%/fuzz \
	%D%/guest \
	%D%/host \
	%D%/image.bash \
	%D%/in-release \
	%D%/package \
	%D%/packages.bash \
	%D%/packaging \
	%D%/quickstart \
	%D%/record \
	%D%/syntax-check \
	%D%/test \
	%D%/test-packages \
	$(NULL)
