# SPDX-License-Identifier: GPL-2.0-or-later

dist_man_MANS += \
	%D%/virt-seed.1 \
	%D%/virt-seed-apply.1 \
	%D%/virt-seed-build.1 \
	%D%/virt-seed-check.1 \
	%D%/virt-seed-doctor.1 \
	%D%/virt-seed-done.1 \
	%D%/virt-seed-dump.1 \
	%D%/virt-seed-edit.1 \
	%D%/virt-seed-gc.1 \
	%D%/virt-seed-images.1 \
	%D%/virt-seed-import.1 \
	%D%/virt-seed-inspect.1 \
	%D%/virt-seed-known-hosts.1 \
	%D%/virt-seed-logs.1 \
	%D%/virt-seed-new.1 \
	%D%/virt-seed-pending.1 \
	%D%/virt-seed-rm.1 \
	%D%/virt-seed-set.1 \
	%D%/virt-seed-ssh.1 \
	%D%/virt-seed-start.1 \
	%D%/virt-seed-status.1 \
	%D%/virt-seed-try.1 \
	%D%/virt-seed-unset.1 \
	%D%/virt-seed-update.1 \
	%D%/virt-seed-wait.1 \
	%D%/virt-seed-wire.1 \
	%D%/virt-seed-images.5 \
	%D%/virt-seed.conf.5 \
	%D%/virt-seed-check.7 \
	%D%/virt-seed-json.7 \
	%D%/virt-seed-hook.8 \
	%D%/virt-seed-imds.8 \
	%D%/virt-seed-qemu.8 \
	%D%/virt-seed-selinux.8 \
	%D%/virt-seed-vdsm.8 \
	%D%/virt-seed-wiring.7 \
	%D%/virt-seed-xml.5 \
	$(NULL)

# The README refers to them by these names.
nobase_dist_doc_DATA = \
	%D%/cockpit.png \
	%D%/first-start.svg \
	%D%/guide.md \
	%D%/recipes.md \
	$(NULL)
