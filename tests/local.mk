# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of `make check`: no root, no network, no libvirtd.

# --- unit tests: a program for each subject of src/ that has rules of its own -------------------

if HAVE_CMOCKA

unit_tests = \
	%D%/unit/test-address \
	%D%/unit/test-buffer \
	%D%/unit/test-process \
	%D%/unit/test-cloud-config \
	%D%/unit/test-check-rules \
	%D%/unit/test-configuration \
	%D%/unit/test-consumption \
	%D%/unit/test-delivery \
	%D%/unit/test-domain \
	%D%/unit/test-domain-secret \
	%D%/unit/test-domain-text \
	%D%/unit/test-drives \
	%D%/unit/test-exchange \
	%D%/unit/test-failure \
	%D%/unit/test-forbidden-paths \
	%D%/unit/test-foreign \
	%D%/unit/test-fs \
	%D%/unit/test-guest-report \
	%D%/unit/test-guest-value \
	%D%/unit/test-host-key \
	%D%/unit/test-hostile-maker \
	%D%/unit/test-imds-tree \
	%D%/unit/test-inet \
	%D%/unit/test-initialization \
	%D%/unit/test-iso \
	%D%/unit/test-iso-read \
	%D%/unit/test-label \
	%D%/unit/test-layout \
	%D%/unit/test-leftovers \
	%D%/unit/test-libvirt-host \
	%D%/unit/test-memory \
	%D%/unit/test-message \
	%D%/unit/test-network \
	%D%/unit/test-network-ovirt \
	%D%/unit/test-seed-network \
	%D%/unit/test-part \
	%D%/unit/test-pipeline \
	%D%/unit/test-progress \
	%D%/unit/test-record \
	%D%/unit/test-report-file \
	%D%/unit/test-request \
	%D%/unit/test-rundir \
	%D%/unit/test-scope \
	%D%/unit/test-secret \
	%D%/unit/test-seed \
	%D%/unit/test-ssh-host-keys \
	%D%/unit/test-ssh-key \
	%D%/unit/test-target \
	%D%/unit/test-user-data \
	%D%/unit/test-uuid \
	%D%/unit/test-text \
	%D%/unit/test-xml \
	%D%/unit/test-yaml \
	%D%/unit/test-yaml-json \
	%D%/unit/test-yaml-scalar \
	$(NULL)
if WITH_IMDS
unit_tests += \
	%D%/unit/test-imds-access \
	%D%/unit/test-imds-http \
	%D%/unit/test-imds-limits \
	$(NULL)
endif WITH_IMDS
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

check_LIBRARIES = libunit.a
libunit_a_SOURCES = \
	%D%/unit/domain-values.c \
	%D%/unit/domain-values.h \
	%D%/unit/exchange-readers.c \
	%D%/unit/exchange-readers.h \
	%D%/unit/imds-host.c \
	%D%/unit/imds-host.h \
	%D%/unit/unit.c \
	%D%/unit/unit.h \
	$(NULL)
libunit_a_CFLAGS = $(UNIT_CFLAGS)

UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(LIBXML2_CFLAGS)
UNIT_LDADD = libunit.a $(SEED_ARCHIVES) $(SEED_LIBS) $(CMOCKA_LIBS)

%C%_unit_test_address_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_address_LDADD = $(UNIT_LDADD)
%C%_unit_test_buffer_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_buffer_LDADD = $(UNIT_LDADD)
%C%_unit_test_process_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_process_LDADD = $(UNIT_LDADD)
%C%_unit_test_cloud_config_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
%C%_unit_test_cloud_config_LDADD = $(UNIT_LDADD)
%C%_unit_test_check_rules_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_check_rules_LDADD = $(UNIT_LDADD)
%C%_unit_test_configuration_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_configuration_LDADD = $(UNIT_LDADD)
%C%_unit_test_domain_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_domain_LDADD = $(UNIT_LDADD)
%C%_unit_test_drives_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_drives_LDADD = $(UNIT_LDADD)
%C%_unit_test_exchange_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_exchange_LDADD = $(UNIT_LDADD)
%C%_unit_test_failure_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_failure_LDADD = $(UNIT_LDADD)
%C%_unit_test_forbidden_paths_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_forbidden_paths_LDADD = $(UNIT_LDADD)
%C%_unit_test_foreign_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_foreign_LDADD = $(UNIT_LDADD)
%C%_unit_test_fs_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_fs_LDADD = $(UNIT_LDADD)
%C%_unit_test_guest_report_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_guest_report_LDADD = $(UNIT_LDADD)
%C%_unit_test_guest_value_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_guest_value_LDADD = $(UNIT_LDADD)
%C%_unit_test_domain_secret_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_domain_secret_LDADD = $(UNIT_LDADD)
%C%_unit_test_domain_text_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_domain_text_LDADD = $(UNIT_LDADD)
%C%_unit_test_host_key_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_host_key_LDADD = $(UNIT_LDADD)
%C%_unit_test_hostile_maker_SOURCES = \
	%D%/hostile/maker-rows.c \
	%D%/hostile/maker-rows.h \
	%D%/unit/test-hostile-maker.c \
	$(NULL)
%C%_unit_test_hostile_maker_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_hostile_maker_LDADD = $(UNIT_LDADD)
%C%_unit_test_imds_access_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_imds_access_LDADD = libimds.a $(UNIT_LDADD)
%C%_unit_test_imds_http_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_imds_http_LDADD = libimds.a $(UNIT_LDADD) $(SYSTEMD_LIBS) $(MICROHTTPD_LIBS)
%C%_unit_test_imds_limits_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_imds_limits_LDADD = libimds.a $(UNIT_LDADD) $(SYSTEMD_LIBS) $(MICROHTTPD_LIBS)
%C%_unit_test_imds_tree_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_imds_tree_LDADD = $(UNIT_LDADD)
%C%_unit_test_inet_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_inet_LDADD = $(UNIT_LDADD)
%C%_unit_test_initialization_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_initialization_LDADD = $(UNIT_LDADD)
%C%_unit_test_iso_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_iso_LDADD = $(UNIT_LDADD)
%C%_unit_test_iso_read_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_iso_read_LDADD = $(UNIT_LDADD)
%C%_unit_test_label_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_label_LDADD = $(UNIT_LDADD)
%C%_unit_test_layout_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_layout_LDADD = $(UNIT_LDADD)
%C%_unit_test_leftovers_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_leftovers_LDADD = $(UNIT_LDADD)
%C%_unit_test_libvirt_host_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_libvirt_host_LDADD = $(UNIT_LDADD)
%C%_unit_test_memory_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_memory_LDADD = $(UNIT_LDADD)
%C%_unit_test_message_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_message_LDADD = $(UNIT_LDADD)
%C%_unit_test_network_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_network_LDADD = $(UNIT_LDADD)
%C%_unit_test_network_ovirt_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_network_ovirt_LDADD = $(UNIT_LDADD)
%C%_unit_test_seed_network_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
%C%_unit_test_seed_network_LDADD = $(UNIT_LDADD)
%C%_unit_test_part_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_part_LDADD = $(UNIT_LDADD)
%C%_unit_test_progress_SOURCES = \
	%D%/unit/test-progress.c \
	src/cli/io.c \
	src/cli/progress.c \
	$(NULL)
%C%_unit_test_progress_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS) $(LIBVIRT_CFLAGS) \
	$(SMARTCOLS_CFLAGS)
%C%_unit_test_progress_LDADD = $(UNIT_LDADD) $(SMARTCOLS_LIBS)
%C%_unit_test_consumption_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_consumption_LDADD = $(UNIT_LDADD)
%C%_unit_test_record_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_record_LDADD = $(UNIT_LDADD)
%C%_unit_test_report_file_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_report_file_LDADD = $(UNIT_LDADD)
%C%_unit_test_request_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_request_LDADD = $(UNIT_LDADD)
%C%_unit_test_pipeline_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_pipeline_LDADD = $(UNIT_LDADD)
%C%_unit_test_rundir_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_rundir_LDADD = $(UNIT_LDADD)
%C%_unit_test_scope_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_scope_LDADD = $(UNIT_LDADD)
%C%_unit_test_secret_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_secret_LDADD = $(UNIT_LDADD)
%C%_unit_test_seed_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
%C%_unit_test_seed_LDADD = $(UNIT_LDADD)
%C%_unit_test_delivery_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_delivery_LDADD = $(UNIT_LDADD)
%C%_unit_test_ssh_host_keys_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS) $(NETTLE_CFLAGS)
%C%_unit_test_ssh_host_keys_LDADD = $(UNIT_LDADD)
%C%_unit_test_ssh_key_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_ssh_key_LDADD = $(UNIT_LDADD)
%C%_unit_test_target_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_target_LDADD = $(UNIT_LDADD)
%C%_unit_test_user_data_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_user_data_LDADD = $(UNIT_LDADD)
%C%_unit_test_text_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_text_LDADD = $(UNIT_LDADD)
%C%_unit_test_uuid_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_uuid_LDADD = $(UNIT_LDADD)
%C%_unit_test_xml_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_xml_LDADD = $(UNIT_LDADD)
%C%_unit_test_yaml_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_yaml_LDADD = $(UNIT_LDADD)
%C%_unit_test_yaml_json_CFLAGS = $(UNIT_CFLAGS) $(JANSSON_CFLAGS)
%C%_unit_test_yaml_json_LDADD = $(UNIT_LDADD)
%C%_unit_test_yaml_scalar_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_yaml_scalar_LDADD = $(UNIT_LDADD)

endif HAVE_CMOCKA

# --- what the programs do, in bats -----------------------------------------------------------

functional_tests = \
	%D%/functional/bad-input.bats \
	%D%/functional/check.bats \
	%D%/functional/cli.bats \
	%D%/functional/completion.bats \
	%D%/functional/edit.bats \
	%D%/functional/examples.bats \
	%D%/functional/docs.bats \
	%D%/functional/defaults.bats \
	%D%/functional/doctor.bats \
	%D%/functional/hook.bats \
	%D%/functional/hostile-delivery.bats \
	%D%/functional/hostile-environment.bats \
	%D%/functional/hostile-input.bats \
	%D%/functional/hostile-maker.bats \
	%D%/functional/host-keys.bats \
	%D%/functional/image.bats \
	%D%/functional/imds.bats \
	%D%/functional/imds-replace.bats \
	%D%/functional/imds-units.bats \
	%D%/functional/import-seed.bats \
	%D%/functional/raw.bats \
	%D%/functional/import.bats \
	%D%/functional/in-place.bats \
	%D%/functional/instance-id.bats \
	%D%/functional/journal.bats \
	%D%/functional/json.bats \
	%D%/functional/lifecycle.bats \
	%D%/functional/maker.bats \
	%D%/functional/manual.bats \
	%D%/functional/record.bats \
	%D%/functional/passwords.bats \
	%D%/functional/pending.bats \
	%D%/functional/net.bats \
	%D%/functional/network-documents.bats \
	%D%/functional/remote.bats \
	%D%/functional/reporter.bats \
	%D%/functional/sandbox.bats \
	%D%/functional/secrets.bats \
	%D%/functional/selinux.bats \
	%D%/functional/set.bats \
	%D%/functional/shim.bats \
	%D%/functional/source.bats \
	%D%/functional/ssh-keys.bats \
	%D%/functional/vdsm.bats \
	%D%/golden/golden.bats \
	$(NULL)
# For 'make quick', with the unit tests.
quick_tests = \
	%D%/functional/cli.bats \
	%D%/functional/completion.bats \
	%D%/functional/manual.bats \
	%D%/functional/source.bats \
	%D%/golden/golden.bats \
	$(NULL)
# For 'make distcheck-short': those in which another release's libraries, tools or kernel interface matter most.
release_tests = \
	$(quick_tests) \
	%D%/functional/check.bats \
	%D%/functional/examples.bats \
	%D%/functional/hook.bats \
	%D%/functional/hostile-input.bats \
	%D%/functional/image.bats \
	%D%/functional/import.bats \
	%D%/functional/import-seed.bats \
	%D%/functional/lifecycle.bats \
	%D%/functional/maker.bats \
	%D%/functional/sandbox.bats \
	%D%/functional/set.bats \
	%D%/functional/shim.bats \
	$(NULL)
dist_check_SCRIPTS += $(functional_tests)
EXTRA_DIST += \
	%D%/domain.bash \
	%D%/answer.py \
	%D%/wait.bash \
	%D%/manual.bash \
	%D%/readme.bash \
	%D%/network-documents \
	%D%/transcript.py \
	%D%/functional/common.bash \
	%D%/imds/imds.bash \
	%D%/functional/zsh-complete.py \
	%D%/imds/raw.py \
	%D%/functional/vdsm.bash \
	%D%/golden/check \
	%D%/golden/dump \
	%D%/golden/dump-errors \
	%D%/golden/import-kubevirt \
	%D%/golden/import-kubevirt-errors \
	%D%/golden/import-ovirt \
	%D%/golden/import-ovirt-errors \
	%D%/golden/vdsm \
	%D%/golden/shim \
	%D%/golden/wire \
	%D%/golden/wire-errors \
	$(NULL)

check_PROGRAMS += %D%/functional/journal-socket %D%/functional/shim-command
%C%_functional_journal_socket_LDADD =
%C%_functional_shim_command_LDADD = libshim.a libbase.a

# What the maker's sandbox forbids, and what it must not hinder: the latter next to the maker.
check_PROGRAMS += %D%/functional/sandbox-plant maker-in-root
%C%_functional_sandbox_plant_LDADD = libmaker.a libbase.a $(LIBXML2_LIBS) $(JANSSON_LIBS)
maker_in_root_SOURCES = %D%/maker-in-root.c
maker_in_root_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS)
maker_in_root_LDADD = libdomain.a libhost.a libbase.a $(LIBXML2_LIBS) $(NETTLE_LIBS)

# A maker that was taken over.
check_PROGRAMS += %D%/functional/hostile-maker
%C%_functional_hostile_maker_SOURCES = \
	%D%/functional/hostile-maker.c \
	%D%/hostile/maker-rows.c \
	%D%/hostile/maker-rows.h \
	$(NULL)
%C%_functional_hostile_maker_LDADD = libhost.a libbase.a

# What fills the metadata server's tree in place of the hook.
check_PROGRAMS += %D%/imds/publish
%C%_imds_publish_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS)
%C%_imds_publish_LDADD = $(SEED_ARCHIVES) $(SEED_LIBS)

if HAVE_BATS
TESTS += $(functional_tests)
endif HAVE_BATS

TEST_EXTENSIONS = .bats
BATS_LOG_COMPILER = $(top_srcdir)/%D%/bound $(BATS)
AM_BATS_LOG_FLAGS = --timing
EXTRA_DIST += %D%/bound %D%/valgrind %D%/valgrind.supp
# check-valgrind takes the programs from another folder.
tested_builddir = $(abs_top_builddir)
AM_TESTS_ENVIRONMENT = \
	export top_srcdir='$(abs_top_srcdir)' top_builddir='$(tested_builddir)' \
		VIRT_SEED_RUNDIR='$(runstatedir)/libvirt/virt-seed' \
		VIRT_SEED_CONFDIR='$(sysconfdir)/virt-seed' \
		VIRT_SEED_QEMU_HOME='$(localstatedir)/lib/libvirt/qemu' \
		VIRT_SEED_STATEDIR='$(localstatedir)/lib/virt-seed' \
		VIRT_SEED_REPORTDIR='$(localstatedir)/log/libvirt/virt-seed' \
		VIRT_SEED_DEFINITIONS='$(sysconfdir)/libvirt/qemu' \
		VIRT_SEED_HOOKDIR='$(libvirt_hooks_dir)' \
		VIRT_SEED_SBINDIR='$(sbindir)' \
		VIRT_SEED_BINDIR='$(bindir)' \
		VIRT_SEED_ZSHDIR='$(zshcompletiondir)' \
		PATH='$(tested_builddir)':"$$PATH";

# --- the other rings --------------------------------------------------------------------------

# $(call ring,FILES) makes check-TESTS run these, or what TESTS names on the command line, as it runs
# the tests of `make check`: as many at a time as -j says, each with a log of its own.
ring = TEST_SUITE_LOG='$@.log' TESTS='$(if $(filter command,$(origin TESTS)),$(TESTS),$(1))'
