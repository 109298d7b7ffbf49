# SPDX-License-Identifier: GPL-2.0-or-later
# The policy module for SELinux, built with the headers of the policy that is installed here: a module
# built with Debian's does not fit Fedora's. It is not part of `all`.

selinux_devel = /usr/share/selinux/devel
# The policy's name, "targeted" on Fedora and EL; other installed policies have their own
# directories below selinux_dir.
selinux_policy = $$(sed -n 's/^NAME ?= *//p' $(selinux_devel)/include/build.conf)
selinux_dir = $(DESTDIR)/usr/share/selinux

selinux_sources = %D%/virt_seed.te %D%/virt_seed.if %D%/virt_seed.fc.in
EXTRA_DIST += $(selinux_sources)

selinux: %D%/module/virt_seed.pp
%D%/module/virt_seed.pp: $(selinux_sources) Makefile
	@test -e $(selinux_devel)/Makefile || { \
		echo 'selinux: $(selinux_devel) is missing; install selinux-policy-dev (Debian)' \
			'or selinux-policy-devel (Fedora)' >&2; exit 1; }
	$(MKDIR_P) %D%/module
	$(INSTALL_DATA) $(srcdir)/%D%/virt_seed.te $(srcdir)/%D%/virt_seed.if %D%/module
	sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@bindir[@]|$(bindir)|g' \
		-e 's|@sysconfdir[@]|$(sysconfdir)|g' -e 's|@localstatedir[@]|$(localstatedir)|g' \
		'$(srcdir)/%D%/virt_seed.fc.in' >%D%/module/virt_seed.fc
	$(MAKE) -C %D%/module -f $(selinux_devel)/Makefile virt_seed.pp

# semodule(8) loads the module, restorecon(8) labels existing files: virt-seed-selinux(8).
install-selinux: selinux
	$(MKDIR_P) "$(selinux_dir)/packages/$(selinux_policy)" \
		'$(selinux_dir)/devel/include/distributed'
	bzip2 -c %D%/module/virt_seed.pp \
		>"$(selinux_dir)/packages/$(selinux_policy)/virt_seed.pp.bz2"
	$(INSTALL_DATA) '$(srcdir)/%D%/virt_seed.if' '$(selinux_dir)/devel/include/distributed'

uninstall-selinux:
	rm -f "$(selinux_dir)/packages/$(selinux_policy)/virt_seed.pp.bz2" \
		'$(selinux_dir)/devel/include/distributed/virt_seed.if'

clean-local:
	rm -rf %D%/module
.PHONY: selinux install-selinux uninstall-selinux
