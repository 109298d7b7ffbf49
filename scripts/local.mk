# SPDX-License-Identifier: GPL-2.0-or-later
# Scripts for the source tree; only the completions of the shells, the catalogue of images and the units of
# systemd/ are installed.

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/completion/virt-seed
zshcompletiondir = $(zsh_completion_dir)
dist_zshcompletion_DATA = %D%/completion/_virt-seed
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = %D%/completion/virt-seed.fish

imagesdir = $(datadir)/virt-seed/images.d
dist_images_DATA = \
	%D%/images.d/almalinux-10.conf \
	%D%/images.d/almalinux-9.conf \
	%D%/images.d/alpine-3.22.conf \
	%D%/images.d/arch.conf \
	%D%/images.d/centos-stream-10.conf \
	%D%/images.d/centos-stream-9.conf \
	%D%/images.d/debian-12.conf \
	%D%/images.d/debian-13.conf \
	%D%/images.d/fedora-42.conf \
	%D%/images.d/fedora-43.conf \
	%D%/images.d/opensuse-leap-15.6.conf \
	%D%/images.d/opensuse-leap-16.0.conf \
	%D%/images.d/rocky-10.conf \
	%D%/images.d/rocky-9.conf \
	%D%/images.d/ubuntu-22.04.conf \
	%D%/images.d/ubuntu-24.04.conf \
	%D%/images.d/ubuntu-26.04.conf \
	$(NULL)

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
