# SPDX-License-Identifier: GPL-2.0-or-later
# One library for each layer, in the order in which they may include one another (HACKING.md).

noinst_LIBRARIES += \
	libbase.a \
	libhost.a \
	libdomain.a \
	libwire.a \
	libseed.a \
	libimage.a \
	libstore.a \
	libmaker.a \
	libcheck.a \
	libimport.a \
	$(NULL)

libbase_a_SOURCES = \
	%D%/base/base.h \
	%D%/base/buffer.c \
	%D%/base/buffer.h \
	%D%/base/child.c \
	%D%/base/child.h \
	%D%/base/failure.c \
	%D%/base/failure.h \
	%D%/base/fs.c \
	%D%/base/fs.h \
	%D%/base/inet.c \
	%D%/base/inet.h \
	%D%/base/json.h \
	%D%/base/limits.h \
	%D%/base/memory.c \
	%D%/base/memory.h \
	%D%/base/options.h \
	%D%/base/names.h \
	%D%/base/process.c \
	%D%/base/process.h \
	%D%/base/qemu-list.c \
	%D%/base/qemu-list.h \
	%D%/base/scope.c \
	%D%/base/scope.h \
	%D%/base/shell-word.c \
	%D%/base/signals.c \
	%D%/base/text.c \
	%D%/base/text.h \
	%D%/base/texts.c \
	%D%/base/user.c \
	%D%/base/user.h \
	%D%/base/utf8.c \
	$(NULL)

# What the hook does as root: libc alone.
libhost_a_SOURCES = \
	%D%/host/answer.c \
	%D%/host/answer.h \
	%D%/host/config-files.c \
	%D%/host/config-files.h \
	%D%/host/datasource.c \
	%D%/host/datasource.h \
	%D%/host/documents.c \
	%D%/host/documents.h \
	%D%/host/domain-secret.c \
	%D%/host/domain-secret.h \
	%D%/host/domain-text.c \
	%D%/host/domain-text.h \
	%D%/host/exchange.c \
	%D%/host/exchange.h \
	%D%/host/forbidden-paths.c \
	%D%/host/forbidden-paths.h \
	%D%/host/host-key.c \
	%D%/host/host-key.h \
	%D%/host/imds-health.c \
	%D%/host/imds-health.h \
	%D%/host/imds-tree.c \
	%D%/host/imds-tree.h \
	%D%/host/label.c \
	%D%/host/label.h \
	%D%/host/libvirt-host.c \
	%D%/host/libvirt-host.h \
	%D%/host/maker.c \
	%D%/host/maker.h \
	%D%/host/message.c \
	%D%/host/message.h \
	%D%/host/need.c \
	%D%/host/need.h \
	%D%/host/own-directory.c \
	%D%/host/own-directory.h \
	%D%/host/publication.c \
	%D%/host/publication.h \
	%D%/host/record-file.c \
	%D%/host/record-file.h \
	%D%/host/report-file.c \
	%D%/host/report-file.h \
	%D%/host/rundir.c \
	%D%/host/rundir.h \
	%D%/host/secret.c \
	%D%/host/secret.h \
	%D%/host/storage.c \
	%D%/host/storage.h \
	%D%/host/verdict.h \
	$(NULL)

libdomain_a_SOURCES = \
	%D%/domain/address.c \
	%D%/domain/address.h \
	%D%/domain/digest.c \
	%D%/domain/digest.h \
	%D%/domain/domain.c \
	%D%/domain/domain.h \
	%D%/domain/element.c \
	%D%/domain/element.h \
	%D%/domain/guest-value.c \
	%D%/domain/guest-value.h \
	%D%/domain/initialization.c \
	%D%/domain/initialization.h \
	%D%/domain/interface.c \
	%D%/domain/network.c \
	%D%/domain/network.h \
	%D%/domain/network-interfaces.c \
	%D%/domain/network-ovirt.c \
	%D%/domain/part.c \
	%D%/domain/part.h \
	%D%/domain/request.c \
	%D%/domain/request.h \
	%D%/domain/request-read.c \
	%D%/domain/payload.c \
	%D%/domain/ssh-key.c \
	%D%/domain/ssh-key.h \
	%D%/domain/target.c \
	%D%/domain/uuid.c \
	%D%/domain/uuid.h \
	%D%/domain/vocabulary.c \
	%D%/domain/vocabulary.h \
	%D%/domain/xml-format.c \
	%D%/domain/xml.c \
	%D%/domain/xml.h \
	$(NULL)
libdomain_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(NETTLE_CFLAGS)

libwire_a_SOURCES = \
	%D%/wire/disk.c \
	%D%/wire/parts.h \
	%D%/wire/report.c \
	%D%/wire/serial.c \
	%D%/wire/url.c \
	%D%/wire/url.h \
	%D%/wire/wire.c \
	%D%/wire/wire.h \
	$(NULL)
libwire_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS)

libseed_a_SOURCES = \
	%D%/seed/cloud-config.c \
	%D%/seed/combine.c \
	%D%/seed/configdrive.c \
	%D%/seed/content.h \
	%D%/seed/instance-id.c \
	%D%/seed/layout.c \
	%D%/seed/layout.h \
	%D%/seed/meta-data.c \
	%D%/seed/network.c \
	%D%/seed/network-check.c \
	%D%/seed/network-configdrive.c \
	%D%/seed/nocloud.c \
	%D%/seed/pieces.c \
	%D%/seed/seed.c \
	%D%/seed/seed.h \
	%D%/seed/ssh-host-keys.c \
	%D%/seed/ssh-host-keys.h \
	%D%/seed/template.c \
	%D%/seed/user-data.c \
	%D%/seed/writers.h \
	%D%/seed/yaml-json.c \
	%D%/seed/yaml-scalar.c \
	%D%/seed/yaml.c \
	%D%/seed/yaml.h \
	$(NULL)
libseed_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(YAML_CFLAGS) $(JANSSON_CFLAGS) \
	$(NETTLE_CFLAGS) $(ZLIB_CFLAGS)

as_strings = sed 's/\\/&&/g; s/"/\\"/g; s/.*/"&\\n"/'

# What runs in the guest is a script of its own, and a string in the program.
guest_scripts = %D%/seed/machine-id-script.inc %D%/seed/reporter-script.inc
nodist_libseed_a_SOURCES = $(guest_scripts)
EXTRA_DIST += %D%/seed/machine-id.sh %D%/seed/reporter.sh
BUILT_SOURCES += $(guest_scripts)
CLEANFILES += $(guest_scripts)

%D%/seed/libseed_a-combine.$(OBJEXT): $(guest_scripts)

$(guest_scripts): %D%/seed/%-script.inc: %D%/seed/%.sh
	$(AM_V_GEN)mkdir -p %D%/seed && $(as_strings) $(srcdir)/%D%/seed/$*.sh >$@.new && mv $@.new $@

libimage_a_SOURCES = \
	%D%/image/image.h \
	%D%/image/iso.c \
	$(NULL)
libimage_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(LIBISOFS_CFLAGS)

libstore_a_SOURCES = \
	%D%/store/configuration.c \
	%D%/store/configuration.h \
	%D%/store/consumption.c \
	%D%/store/consumption.h \
	%D%/store/deliver-drive.c \
	%D%/store/deliver-imds.c \
	%D%/store/deliver-shim.c \
	%D%/store/delivery.c \
	%D%/store/delivery.h \
	%D%/store/guest-login.c \
	%D%/store/guest-login.h \
	%D%/store/guest-report.c \
	%D%/store/guest-report.h \
	%D%/store/imds-check.c \
	%D%/store/imds-check.h \
	%D%/store/imds-read.c \
	%D%/store/imds-read.h \
	%D%/store/leftovers.c \
	%D%/store/leftovers.h \
	%D%/store/libvirt-daemon.c \
	%D%/store/libvirt-daemon.h \
	%D%/store/pipeline.c \
	%D%/store/pipeline.h \
	%D%/store/record.c \
	%D%/store/record.h \
	%D%/store/secret-write.c \
	%D%/store/secret-write.h \
	%D%/store/seed-file.c \
	%D%/store/seed-file.h \
	$(NULL)
libstore_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(JANSSON_CFLAGS)

libmaker_a_SOURCES = \
	%D%/maker/exchange.c \
	%D%/maker/maker.h \
	%D%/maker/prepare.c \
	%D%/maker/result.c \
	%D%/maker/sandbox.c \
	%D%/maker/sandbox.h \
	%D%/maker/wire.c \
	$(NULL)
libmaker_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(JANSSON_CFLAGS)

libcheck_a_SOURCES = \
	%D%/check/check.c \
	%D%/check/check.h \
	%D%/check/conflicts.c \
	%D%/check/disks.c \
	%D%/check/json-schema.c \
	%D%/check/json-schema.h \
	%D%/check/meta-data.c \
	%D%/check/network.c \
	%D%/check/nocloud-net.c \
	%D%/check/rules.c \
	%D%/check/schema.c \
	%D%/check/secrets.c \
	%D%/check/ssh-keys.c \
	%D%/check/user-data.c \
	$(NULL)
libcheck_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(YAML_CFLAGS) $(JANSSON_CFLAGS)

# cloud-init's schemas, as strings in the program.
schemas = %D%/check/schemas/cloud-config.inc %D%/check/schemas/network-config.inc
nodist_libcheck_a_SOURCES = $(schemas)
EXTRA_DIST += %D%/check/schemas/README $(schemas:.inc=.json)
BUILT_SOURCES += $(schemas)
CLEANFILES += $(schemas)

%D%/check/libcheck_a-schema.$(OBJEXT): $(schemas)

$(schemas): %.inc: %.json
	$(AM_V_GEN)mkdir -p $(@D) && $(as_strings) $< >$@.new && mv $@.new $@

libimport_a_SOURCES = \
	%D%/import/import.c \
	%D%/import/import.h \
	%D%/import/interfaces.c \
	%D%/import/kubevirt.c \
	%D%/import/kubevirt.h \
	%D%/import/kubevirt-file.c \
	%D%/import/kubevirt-source.c \
	%D%/import/ovirt.c \
	%D%/import/seed.c \
	%D%/import/vendor-data.c \
	$(NULL)
libimport_a_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(JANSSON_CFLAGS) $(NETTLE_CFLAGS)

# Everything that makes a seed, without libvirt.
SEED_ARCHIVES = libmaker.a libcheck.a libstore.a libimage.a libseed.a libwire.a libdomain.a libhost.a \
	libbase.a
SEED_LIBS = \
	$(LIBXML2_LIBS) \
	$(LIBISOFS_LIBS) \
	$(YAML_LIBS) \
	$(JANSSON_LIBS) \
	$(HOGWEED_LIBS) \
	$(NETTLE_LIBS) \
	$(ZLIB_LIBS) \
	$(NULL)

sbin_PROGRAMS += virt-seed-hook virt-seed-maker

# What the hook does; an archive for tests.
noinst_LIBRARIES += liblifecycle.a
liblifecycle_a_SOURCES = \
	%D%/lifecycle/lifecycle.h \
	%D%/lifecycle/log.c \
	%D%/lifecycle/prepare.c \
	%D%/lifecycle/release.c \
	%D%/lifecycle/run.c \
	%D%/lifecycle/started.c \
	$(NULL)

# Runs as root for every domain of the host: libc alone.
virt_seed_hook_SOURCES = %D%/lifecycle/main.c
virt_seed_hook_LDADD = liblifecycle.a libhost.a libbase.a
virt_seed_hook_LDFLAGS = $(HOOK_LDFLAGS)

# The same for tests.
noinst_PROGRAMS += hook-in-root
hook_in_root_SOURCES = tests/hook-in-root.c
hook_in_root_LDADD = $(virt_seed_hook_LDADD)
hook_in_root_LDFLAGS = $(HOOK_LDFLAGS)

virt_seed_maker_SOURCES = %D%/maker/main.c
virt_seed_maker_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS)
virt_seed_maker_LDADD = $(SEED_ARCHIVES) $(VIRT_SEED_FIRST_LIBS) $(MAKER_LIBS)

# Installed by `make install-vdsm` alone (hooks/local.mk).
noinst_PROGRAMS += virt-seed-vdsm

virt_seed_vdsm_SOURCES = \
	%D%/vdsm/main.c \
	$(NULL)
virt_seed_vdsm_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS)
virt_seed_vdsm_LDADD = libstore.a libwire.a libdomain.a libhost.a libbase.a $(LIBXML2_LIBS) \
	$(NETTLE_LIBS)

bin_PROGRAMS += virt-seed virt-seed-qemu

# Becomes QEMU at each start of a domain that names it: libc alone, as the hook. Its archive is
# for tests.
noinst_LIBRARIES += libshim.a
libshim_a_SOURCES = \
	%D%/shim/arguments.c \
	%D%/shim/command.c \
	%D%/shim/report.c \
	%D%/shim/shim.h \
	$(NULL)

virt_seed_qemu_SOURCES = %D%/shim/main.c
virt_seed_qemu_LDADD = libshim.a libbase.a
virt_seed_qemu_LDFLAGS = $(HOOK_LDFLAGS)

# The metadata server. Its archive is for tests.
if WITH_IMDS
sbin_PROGRAMS += virt-seed-imds
noinst_LIBRARIES += libimds.a
libimds_a_SOURCES = \
	%D%/imds/access.c \
	%D%/imds/access.h \
	%D%/imds/connections.c \
	%D%/imds/connections.h \
	%D%/imds/http.c \
	%D%/imds/http.h \
	%D%/imds/peer.c \
	%D%/imds/peer.h \
	%D%/imds/socket.c \
	%D%/imds/socket.h \
	$(NULL)
libimds_a_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS) $(SYSTEMD_CFLAGS) $(NETTLE_CFLAGS)

virt_seed_imds_SOURCES = %D%/imds/main.c
virt_seed_imds_CFLAGS = $(libimds_a_CFLAGS)
IMDS_LDADD = libimds.a libstore.a libhost.a libbase.a $(MICROHTTPD_LIBS) $(SYSTEMD_LIBS) $(NETTLE_LIBS)
virt_seed_imds_LDADD = $(IMDS_LDADD)
endif WITH_IMDS

virt_seed_SOURCES = \
	%D%/cli/arguments.c \
	%D%/cli/ask.c \
	%D%/cli/ask.h \
	%D%/cli/catalogue.c \
	%D%/cli/change.c \
	%D%/cli/change.h \
	%D%/cli/cli.h \
	%D%/cli/cmd-apply.c \
	%D%/cli/cmd-build.c \
	%D%/cli/cmd-check.c \
	%D%/cli/cmd-doctor.c \
	%D%/cli/cmd-done.c \
	%D%/cli/cmd-complete.c \
	%D%/cli/cmd-dump.c \
	%D%/cli/cmd-edit.c \
	%D%/cli/cmd-gc.c \
	%D%/cli/cmd-images.c \
	%D%/cli/cmd-import.c \
	%D%/cli/cmd-inspect.c \
	%D%/cli/cmd-known-hosts.c \
	%D%/cli/cmd-logs.c \
	%D%/cli/cmd-new.c \
	%D%/cli/cmd-pending.c \
	%D%/cli/cmd-rm.c \
	%D%/cli/cmd-set.c \
	%D%/cli/cmd-ssh.c \
	%D%/cli/cmd-start.c \
	%D%/cli/cmd-status.c \
	%D%/cli/cmd-try.c \
	%D%/cli/cmd-unset.c \
	%D%/cli/cmd-update.c \
	%D%/cli/cmd-wait.c \
	%D%/cli/cmd-wire.c \
	%D%/cli/comparison.c \
	%D%/cli/comparison.h \
	%D%/cli/definition.c \
	%D%/cli/definition.h \
	%D%/cli/doctor/confinement.c \
	%D%/cli/doctor/doctor.h \
	%D%/cli/doctor/files.c \
	%D%/cli/doctor/hook.c \
	%D%/cli/doctor/libvirt.c \
	%D%/cli/doctor/server.c \
	%D%/cli/doctor/systemd.c \
	%D%/cli/findings.c \
	%D%/cli/findings.h \
	%D%/cli/follow.c \
	%D%/cli/help.c \
	%D%/cli/image-disk.c \
	%D%/cli/image-fetch.c \
	%D%/cli/images.h \
	%D%/cli/io.c \
	%D%/cli/io.h \
	%D%/cli/libvirt.c \
	%D%/cli/libvirt.h \
	%D%/cli/login.c \
	%D%/cli/login.h \
	%D%/cli/machine.c \
	%D%/cli/machine.h \
	%D%/cli/main.c \
	%D%/cli/pool.c \
	%D%/cli/progress.c \
	%D%/cli/progress.h \
	%D%/cli/rehearsal.c \
	%D%/cli/rehearsal.h \
	%D%/cli/running-seed.c \
	%D%/cli/running-seed.h \
	%D%/cli/set.c \
	%D%/cli/set-guest.c \
	%D%/cli/set.h \
	%D%/cli/status.h \
	%D%/cli/status-print.c \
	%D%/cli/waiting.c \
	%D%/cli/waiting.h \
	$(NULL)
virt_seed_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS) $(LIBVIRT_CFLAGS) $(JANSSON_CFLAGS) \
	$(NETTLE_CFLAGS) $(SYSTEMD_CFLAGS) $(SMARTCOLS_CFLAGS) $(CRYPT_CFLAGS)
virt_seed_LDADD = libimport.a $(SEED_ARCHIVES) $(SEED_LIBS) $(LIBVIRT_LIBS) $(SYSTEMD_LIBS) \
	$(SMARTCOLS_LIBS) $(CRYPT_LIBS)
