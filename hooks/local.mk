# SPDX-License-Identifier: GPL-2.0-or-later
# libvirt runs whatever is executable in hooks/qemu.d, in the order of the names. The program
# itself stays in sbindir: AppArmor lets libvirtd run it there, and judges a link by its target.

hook_link = $(DESTDIR)$(libvirt_hooks_dir)/qemu.d/50-virt-seed

install-exec-hook:
	$(MKDIR_P) '$(DESTDIR)$(libvirt_hooks_dir)/qemu.d'
	$(LN_S) -f '$(sbindir)/virt-seed-hook' '$(hook_link)'

# What the hook looks for; the secrets are closed to others from the start.
install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/virt-seed/files'
	test -d '$(DESTDIR)$(sysconfdir)/virt-seed/secrets' || \
		$(INSTALL) -d -m 0700 '$(DESTDIR)$(sysconfdir)/virt-seed/secrets'
	test -e '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf' || \
		$(INSTALL_DATA) '$(srcdir)/docs/virt-seed.conf' '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf'

# Directories go only where nothing of the administrator's is left in them, and the
# configuration only as it came.
uninstall-hook:
	rm -f '$(hook_link)'
	if cmp -s '$(srcdir)/docs/virt-seed.conf' '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf'; then \
		rm -f '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf'; fi
	for dir in files secrets; do \
		rmdir '$(DESTDIR)$(sysconfdir)/virt-seed'/$$dir 2>/dev/null || :; done
	-rmdir '$(DESTDIR)$(sysconfdir)/virt-seed' 2>/dev/null

EXTRA_DIST += docs/virt-seed.conf

# VDSM runs whatever is executable in the directory of a point, in the order of the names, and
# tells its engine the program's digest: so the program itself lies there.

vdsm_hook = $(DESTDIR)$(vdsm_hooks_dir)/before_vm_start/50_virt_seed

install-vdsm: virt-seed-vdsm$(EXEEXT)
	$(MKDIR_P) '$(DESTDIR)$(vdsm_hooks_dir)/before_vm_start'
	$(INSTALL_PROGRAM) virt-seed-vdsm$(EXEEXT) '$(vdsm_hook)'

uninstall-vdsm:
	rm -f '$(vdsm_hook)'
.PHONY: install-vdsm uninstall-vdsm
