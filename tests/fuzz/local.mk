# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz targets. `make check` feeds each its corpus (replay-NAME), with any compiler; with
# --enable-fuzzers, which needs clang, `make fuzzers` makes them for libFuzzer (fuzz-NAME), and
# scripts/fuzz runs those.

fuzz_replays = \
	%D%/replay-config \
	%D%/replay-domain \
	%D%/replay-exchange \
	%D%/replay-iso \
	%D%/replay-ovirt \
	%D%/replay-paths \
	%D%/replay-report \
	%D%/replay-request \
	%D%/replay-shim \
	%D%/replay-yaml \
	$(NULL)
if WITH_IMDS
fuzz_replays += %D%/replay-imds
endif WITH_IMDS
check_PROGRAMS += $(fuzz_replays)
TESTS += $(fuzz_replays)

EXTRA_LIBRARIES = libfuzz.a
libfuzz_a_SOURCES = \
	%D%/fuzz.c \
	%D%/fuzz.h \
	%D%/wiring.c \
	$(NULL)
libfuzz_a_CFLAGS = $(FUZZ_CFLAGS)
CLEANFILES += libfuzz.a

# What libxml2 finds in a domain's XML, as the unit test compares it.
fuzz_paths_values = tests/unit/domain-values.c tests/unit/domain-values.h

FUZZ_CFLAGS = $(AM_CFLAGS) $(LIBXML2_CFLAGS)
FUZZ_LDADD = libfuzz.a $(SEED_ARCHIVES) $(SEED_LIBS)

%C%_replay_config_SOURCES = %D%/fuzz-config.c %D%/replay.c
%C%_replay_config_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_config_LDADD = $(FUZZ_LDADD)
%C%_replay_domain_SOURCES = %D%/fuzz-domain.c %D%/replay.c
%C%_replay_domain_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_domain_LDADD = $(FUZZ_LDADD)
%C%_replay_exchange_SOURCES = %D%/fuzz-exchange.c %D%/replay.c
%C%_replay_exchange_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_exchange_LDADD = $(FUZZ_LDADD)
%C%_replay_imds_SOURCES = %D%/fuzz-imds.c %D%/replay.c
%C%_replay_imds_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_imds_LDADD = libimds.a $(FUZZ_LDADD)
%C%_replay_iso_SOURCES = %D%/fuzz-iso.c %D%/replay.c
%C%_replay_iso_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_iso_LDADD = $(FUZZ_LDADD)
%C%_replay_ovirt_SOURCES = %D%/fuzz-ovirt.c %D%/replay.c
%C%_replay_ovirt_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_ovirt_LDADD = libimport.a $(FUZZ_LDADD)
%C%_replay_paths_SOURCES = %D%/fuzz-paths.c %D%/replay.c $(fuzz_paths_values)
%C%_replay_paths_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_paths_LDADD = $(FUZZ_LDADD)
%C%_replay_report_SOURCES = %D%/fuzz-report.c %D%/replay.c
%C%_replay_report_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_report_LDADD = $(FUZZ_LDADD)
%C%_replay_request_SOURCES = %D%/fuzz-request.c %D%/replay.c
%C%_replay_request_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_request_LDADD = $(FUZZ_LDADD)
%C%_replay_shim_SOURCES = %D%/fuzz-shim.c %D%/replay.c
%C%_replay_shim_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_shim_LDADD = libshim.a $(FUZZ_LDADD)
%C%_replay_yaml_SOURCES = %D%/fuzz-yaml.c %D%/replay.c
%C%_replay_yaml_CFLAGS = $(FUZZ_CFLAGS)
%C%_replay_yaml_LDADD = $(FUZZ_LDADD)

if ENABLE_FUZZERS

fuzz_programs = \
	%D%/fuzz-config \
	%D%/fuzz-domain \
	%D%/fuzz-exchange \
	%D%/fuzz-iso \
	%D%/fuzz-ovirt \
	%D%/fuzz-paths \
	%D%/fuzz-report \
	%D%/fuzz-request \
	%D%/fuzz-shim \
	%D%/fuzz-yaml \
	$(NULL)
if WITH_IMDS
fuzz_programs += %D%/fuzz-imds
endif WITH_IMDS
EXTRA_PROGRAMS = $(fuzz_programs)
CLEANFILES += $(fuzz_programs)

fuzzers: $(fuzz_programs)

%C%_fuzz_config_SOURCES = %D%/fuzz-config.c
%C%_fuzz_config_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_config_LDADD = $(FUZZ_LDADD)
%C%_fuzz_config_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_domain_SOURCES = %D%/fuzz-domain.c
%C%_fuzz_domain_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_domain_LDADD = $(FUZZ_LDADD)
%C%_fuzz_domain_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_exchange_SOURCES = %D%/fuzz-exchange.c
%C%_fuzz_exchange_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_exchange_LDADD = $(FUZZ_LDADD)
%C%_fuzz_exchange_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_imds_SOURCES = %D%/fuzz-imds.c
%C%_fuzz_imds_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_imds_LDADD = libimds.a $(FUZZ_LDADD)
%C%_fuzz_imds_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_iso_SOURCES = %D%/fuzz-iso.c
%C%_fuzz_iso_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_iso_LDADD = $(FUZZ_LDADD)
%C%_fuzz_iso_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_ovirt_SOURCES = %D%/fuzz-ovirt.c
%C%_fuzz_ovirt_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_ovirt_LDADD = libimport.a $(FUZZ_LDADD)
%C%_fuzz_ovirt_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_paths_SOURCES = %D%/fuzz-paths.c $(fuzz_paths_values)
%C%_fuzz_paths_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_paths_LDADD = $(FUZZ_LDADD)
%C%_fuzz_paths_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_report_SOURCES = %D%/fuzz-report.c
%C%_fuzz_report_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_report_LDADD = $(FUZZ_LDADD)
%C%_fuzz_report_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_request_SOURCES = %D%/fuzz-request.c
%C%_fuzz_request_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_request_LDADD = $(FUZZ_LDADD)
%C%_fuzz_request_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_shim_SOURCES = %D%/fuzz-shim.c
%C%_fuzz_shim_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_shim_LDADD = libshim.a $(FUZZ_LDADD)
%C%_fuzz_shim_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
%C%_fuzz_yaml_SOURCES = %D%/fuzz-yaml.c
%C%_fuzz_yaml_CFLAGS = $(FUZZ_CFLAGS)
%C%_fuzz_yaml_LDADD = $(FUZZ_LDADD)
%C%_fuzz_yaml_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

endif ENABLE_FUZZERS

EXTRA_DIST += \
	%D%/corpus \
	%D%/config.dict \
	%D%/domain.dict \
	%D%/exchange.dict \
	%D%/imds.dict \
	%D%/iso.dict \
	%D%/ovirt.dict \
	%D%/paths.dict \
	%D%/report.dict \
	%D%/request.dict \
	%D%/shim.dict \
	%D%/yaml.dict \
	$(NULL)
