# SPDX-License-Identifier: GPL-2.0-or-later
# The real cloud-init, unpacked by scripts/fetch-cloud-init, reads what virt-seed makes; no root,
# and no network.

check-consumer: all tests/imds/publish$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) VIRT_SEED_CONSUMER='$(VIRT_SEED_CONSUMER)' $(BATS) '$(srcdir)/%D%'
.PHONY: check-consumer

EXTRA_DIST += \
	%D%/combine.bats \
	%D%/configdrive.bats \
	%D%/consumer.bash \
	%D%/identity.bats \
	%D%/imds.bats \
	%D%/initialization.bats \
	%D%/interfaces.bats \
	%D%/machine.py \
	%D%/net.bats \
	%D%/network.bats \
	%D%/payload.bats \
	%D%/read-seed.py \
	%D%/requests.bats \
	%D%/scalars.yaml \
	%D%/user-data.bats \
	$(NULL)
