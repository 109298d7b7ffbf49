# SPDX-License-Identifier: GPL-2.0-or-later
# The units of the metadata server, its user and its directory; virt-seed's directories, and what hides them from
# virtlogd.

systemd_templates = \
	%D%/virt-seed-imds-address.service.in \
	%D%/virt-seed-imds.service.in \
	%D%/virt-seed-imds.socket.in \
	%D%/virt-seed-imds.sysusers.in \
	%D%/virt-seed-imds.tmpfiles.in \
	%D%/virt-seed.tmpfiles.in \
	%D%/virtlogd-virt-seed.conf.in \
	$(NULL)
EXTRA_DIST += $(systemd_templates)

if WITH_SYSTEMD

systemdunitdir = $(systemd_unit_dir)
nodist_systemdunit_DATA = \
	%D%/virt-seed-imds-address.service \
	%D%/virt-seed-imds.service \
	%D%/virt-seed-imds.socket \
	$(NULL)
systemd_made = \
	$(nodist_systemdunit_DATA) \
	%D%/virt-seed-imds.sysusers \
	%D%/virt-seed-imds.tmpfiles \
	%D%/virt-seed.tmpfiles \
	%D%/virtlogd-virt-seed.conf \
	$(NULL)
CLEANFILES += $(systemd_made)
all-local: $(systemd_made)

$(systemd_made): %D%/%: $(srcdir)/%D%/%.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed \
		-e 's|@imds_address[@]|$(imds_address)|g' \
		-e 's|@bindir[@]|$(bindir)|g' \
		-e 's|@sbindir[@]|$(sbindir)|g' \
		-e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		-e 's|@localstatedir[@]|$(localstatedir)|g' \
		-e 's|@runstatedir[@]|$(runstatedir)|g' '$<' >$@

systemd_usersdir = $(DESTDIR)$(prefix)/lib/sysusers.d
systemd_tmpfilesdir = $(DESTDIR)$(prefix)/lib/tmpfiles.d
systemd_virtlogddir = $(DESTDIR)$(systemdunitdir)/virtlogd.service.d

# They are installed under other names.
install-systemd: $(systemd_made)
	$(MKDIR_P) '$(systemd_usersdir)' '$(systemd_tmpfilesdir)' '$(systemd_virtlogddir)'
	$(INSTALL_DATA) %D%/virt-seed-imds.sysusers '$(systemd_usersdir)/virt-seed-imds.conf'
	$(INSTALL_DATA) %D%/virt-seed-imds.tmpfiles '$(systemd_tmpfilesdir)/virt-seed-imds.conf'
	$(INSTALL_DATA) %D%/virt-seed.tmpfiles '$(systemd_tmpfilesdir)/virt-seed.conf'
	$(INSTALL_DATA) %D%/virtlogd-virt-seed.conf '$(systemd_virtlogddir)/virt-seed.conf'
install-data-local: install-systemd
uninstall-local:
	rm -f '$(systemd_usersdir)/virt-seed-imds.conf' '$(systemd_tmpfilesdir)/virt-seed-imds.conf' \
		'$(systemd_tmpfilesdir)/virt-seed.conf' '$(systemd_virtlogddir)/virt-seed.conf'

endif WITH_SYSTEMD
.PHONY: install-systemd
