# SPDX-License-Identifier: GPL-2.0-or-later
# Scripts for the source tree; only the completions of the shells and the units of systemd/ are
# installed.

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/completion/virt-seed
zshcompletiondir = $(zsh_completion_dir)
dist_zshcompletion_DATA = %D%/completion/_virt-seed
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = %D%/completion/virt-seed.fish

EXTRA_DIST += \
	%D%/bench \
	%D%/bench-imds \
	%D%/bench-scale \
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
	%D%/refresh-schema \
	%D%/syntax-check \
	%D%/test \
	%D%/test-packages \
	$(NULL)
