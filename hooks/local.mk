# SPDX-License-Identifier: GPL-2.0-or-later
# libvirt runs all executables in hooks/qemu.d, sorted by name. The program itself stays in
# sbindir, where AppArmor lets libvirtd run it; AppArmor follows the link to its target.

hook_link = $(DESTDIR)$(libvirt_hooks_dir)/qemu.d/50-virt-seed

# The emulators that virt-seed-qemu can replace, each under its own name.
shim_links = \
	virt-seed-qemu-kvm \
	virt-seed-qemu-system-aarch64 \
	virt-seed-qemu-system-arm \
	virt-seed-qemu-system-i386 \
	virt-seed-qemu-system-ppc64 \
	virt-seed-qemu-system-riscv64 \
	virt-seed-qemu-system-s390x \
	virt-seed-qemu-system-x86_64 \
	$(NULL)

# AppArmor rules that every QEMU needs for virt-seed-qemu. Recent versions of libvirt include this
# folder in their rules; Debian 12's does not: virt-seed-qemu(8).
apparmor_qemudir = $(sysconfdir)/apparmor.d/abstractions/libvirt-qemu.d
nodist_apparmor_qemu_DATA = hooks/virt-seed-qemu
# The profile of the program that reads what domains ask for. AppArmor loads it when the host boots.
apparmordir = $(sysconfdir)/apparmor.d
nodist_apparmor_DATA = hooks/virt-seed-maker
hooks/virt-seed-qemu hooks/virt-seed-maker: hooks/%: $(srcdir)/hooks/%.apparmor.in Makefile
	$(AM_V_GEN)$(MKDIR_P) hooks && sed -e 's|@bindir[@]|$(bindir)|g' -e 's|@sbindir[@]|$(sbindir)|g' \
		-e 's|@runstatedir[@]|$(runstatedir)|g' \
		-e 's|@localstatedir[@]|$(localstatedir)|g' \
		'$(srcdir)/$@.apparmor.in' >$@
CLEANFILES += hooks/virt-seed-qemu hooks/virt-seed-maker
EXTRA_DIST += hooks/virt-seed-qemu.apparmor.in hooks/virt-seed-maker.apparmor.in

install-exec-hook:
	$(MKDIR_P) '$(DESTDIR)$(libvirt_hooks_dir)/qemu.d'
	$(LN_S) -f '$(sbindir)/virt-seed-hook' '$(hook_link)'
	for name in $(shim_links); do \
		$(LN_S) -f virt-seed-qemu '$(DESTDIR)$(bindir)'/$$name || exit; done

# The configuration; the directory of secrets is closed to others from the start.
install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/virt-seed/files' '$(DESTDIR)$(sysconfdir)/virt-seed/conf.d'
	test -d '$(DESTDIR)$(sysconfdir)/virt-seed/secrets' || \
		$(INSTALL) -d -m 0700 '$(DESTDIR)$(sysconfdir)/virt-seed/secrets'
	test -e '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf' || \
		$(INSTALL_DATA) '$(srcdir)/docs/virt-seed.conf' '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf'

# Removes directories only if they are empty, and the configuration only if it is unchanged.
uninstall-hook:
	rm -f '$(hook_link)'
	for name in $(shim_links); do rm -f '$(DESTDIR)$(bindir)'/$$name; done
	if cmp -s '$(srcdir)/docs/virt-seed.conf' '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf'; then \
		rm -f '$(DESTDIR)$(sysconfdir)/virt-seed/virt-seed.conf'; fi
	for dir in conf.d files secrets; do \
		rmdir '$(DESTDIR)$(sysconfdir)/virt-seed'/$$dir 2>/dev/null || :; done
	-rmdir '$(DESTDIR)$(sysconfdir)/virt-seed' 2>/dev/null

EXTRA_DIST += docs/virt-seed.conf

# VDSM runs all executables in a hook point's directory, sorted by name, and tells its engine
# the program's digest: so the program itself is installed there.

vdsm_hook = $(DESTDIR)$(vdsm_hooks_dir)/before_vm_start/50_virt_seed

install-vdsm: virt-seed-vdsm$(EXEEXT)
	$(MKDIR_P) '$(DESTDIR)$(vdsm_hooks_dir)/before_vm_start'
	$(INSTALL_PROGRAM) virt-seed-vdsm$(EXEEXT) '$(vdsm_hook)'

uninstall-vdsm:
	rm -f '$(vdsm_hook)'
.PHONY: install-vdsm uninstall-vdsm
