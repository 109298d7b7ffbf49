# SPDX-License-Identifier: GPL-2.0-or-later

dist_man_MANS += \
	%D%/virt-seed.1 \
	%D%/virt-seed.conf.5 \
	%D%/virt-seed-check.7 \
	%D%/virt-seed-hook.8 \
	%D%/virt-seed-imds.8 \
	%D%/virt-seed-qemu.8 \
	%D%/virt-seed-selinux.8 \
	%D%/virt-seed-vdsm.8 \
	%D%/virt-seed-wiring.7 \
	%D%/virt-seed-xml.5 \
	$(NULL)

EXTRA_DIST += \
	%D%/first-start.svg \
	%D%/recipes.md \
	$(NULL)
