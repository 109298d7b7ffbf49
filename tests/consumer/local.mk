# SPDX-License-Identifier: GPL-2.0-or-later
# The real cloud-init, unpacked by scripts/fetch-cloud-init, reads what virt-seed makes; no root,
# and no network.

consumer_tests = \
	%D%/combine.bats \
	%D%/configdrive.bats \
	%D%/dropped.bats \
	%D%/findings.bats \
	%D%/identity.bats \
	%D%/imds.bats \
	%D%/import.bats \
	%D%/initialization.bats \
	%D%/interfaces.bats \
	%D%/net.bats \
	%D%/network.bats \
	%D%/payload.bats \
	%D%/readers.bats \
	%D%/releases.bats \
	%D%/schema.bats \
	%D%/user-data.bats \
	$(NULL)
EXTRA_DIST += $(consumer_tests) \
	%D%/cloudbase.py \
	%D%/compare.py \
	%D%/consumer.bash \
	%D%/documents.yaml \
	%D%/findings.yaml \
	%D%/known-differences \
	%D%/machine.py \
	%D%/read-seed.py \
	%D%/render-networks.py \
	%D%/scalars.yaml \
	%D%/schema-agrees.py \
	%D%/schema-examples.py \
	$(NULL)
MOSTLYCLEANFILES += check-consumer.log $(consumer_tests:.bats=.log) $(consumer_tests:.bats=.trs)

check_PROGRAMS += %D%/schema-verdicts
%C%_schema_verdicts_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_schema_verdicts_LDADD = libcheck.a libbase.a $(JANSSON_LIBS)

check-consumer: all %D%/schema-verdicts$(EXEEXT)
	VIRT_SEED_CONSUMER='$(VIRT_SEED_CONSUMER)' $(MAKE) check-TESTS $(call ring,$(consumer_tests))
.PHONY: check-consumer
