# SPDX-License-Identifier: GPL-2.0-or-later
# The units of the metadata server, its user and its directory; the user of virt-seed-maker, virt-seed's
# directories, and what hides them from virtlogd.

systemd_templates = \
	%D%/virt-seed-imds-address.service.in \
	%D%/virt-seed-imds.service.in \
	%D%/virt-seed-imds.socket.in \
	%D%/virt-seed-imds.sysusers.in \
	%D%/virt-seed-imds.tmpfiles.in \
	%D%/virt-seed.sysusers.in \
	%D%/virt-seed.tmpfiles.in \
	%D%/virtlogd-virt-seed.conf.in \
	$(NULL)
EXTRA_DIST += $(systemd_templates)

systemdunitdir = $(systemd_unit_dir)
systemd_usersdir = $(DESTDIR)$(prefix)/lib/sysusers.d
systemd_tmpfilesdir = $(DESTDIR)$(prefix)/lib/tmpfiles.d
systemd_virtlogddir = $(DESTDIR)$(systemdunitdir)/virtlogd.service.d

if WITH_SYSTEMD_UNIT_DIR
systemd_made = \
	%D%/virt-seed.sysusers \
	%D%/virt-seed.tmpfiles \
	%D%/virtlogd-virt-seed.conf \
	$(NULL)
systemd_parts = systemd

# The metadata server takes its socket from systemd with libsystemd.
if WITH_SYSTEMD
nodist_systemdunit_DATA = \
	%D%/virt-seed-imds-address.service \
	%D%/virt-seed-imds.service \
	%D%/virt-seed-imds.socket \
	$(NULL)
systemd_made += \
	$(nodist_systemdunit_DATA) \
	%D%/virt-seed-imds.sysusers \
	%D%/virt-seed-imds.tmpfiles \
	$(NULL)
systemd_parts += systemd-imds
endif WITH_SYSTEMD
endif WITH_SYSTEMD_UNIT_DIR

CLEANFILES += $(systemd_made)
all-local: $(systemd_made)
install-data-local: $(addprefix install-,$(systemd_parts))
uninstall-local: $(addprefix uninstall-,$(systemd_parts))

$(systemd_made): %D%/%: $(srcdir)/%D%/%.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && sed \
		-e 's|@imds_address[@]|$(imds_address)|g' \
		-e 's|@bindir[@]|$(bindir)|g' \
		-e 's|@sbindir[@]|$(sbindir)|g' \
		-e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		-e 's|@localstatedir[@]|$(localstatedir)|g' \
		-e 's|@runstatedir[@]|$(runstatedir)|g' '$<' >$@

# They are installed under other names.
install-systemd: $(systemd_made)
	$(MKDIR_P) '$(systemd_usersdir)' '$(systemd_tmpfilesdir)' '$(systemd_virtlogddir)'
	$(INSTALL_DATA) %D%/virt-seed.sysusers '$(systemd_usersdir)/virt-seed.conf'
	$(INSTALL_DATA) %D%/virt-seed.tmpfiles '$(systemd_tmpfilesdir)/virt-seed.conf'
	$(INSTALL_DATA) %D%/virtlogd-virt-seed.conf '$(systemd_virtlogddir)/virt-seed.conf'
install-systemd-imds: $(systemd_made)
	$(MKDIR_P) '$(systemd_usersdir)' '$(systemd_tmpfilesdir)'
	$(INSTALL_DATA) %D%/virt-seed-imds.sysusers '$(systemd_usersdir)/virt-seed-imds.conf'
	$(INSTALL_DATA) %D%/virt-seed-imds.tmpfiles '$(systemd_tmpfilesdir)/virt-seed-imds.conf'
uninstall-systemd:
	rm -f '$(systemd_usersdir)/virt-seed.conf' '$(systemd_tmpfilesdir)/virt-seed.conf' \
		'$(systemd_virtlogddir)/virt-seed.conf'
uninstall-systemd-imds:
	rm -f '$(systemd_usersdir)/virt-seed-imds.conf' '$(systemd_tmpfilesdir)/virt-seed-imds.conf'
.PHONY: install-systemd install-systemd-imds uninstall-systemd uninstall-systemd-imds
