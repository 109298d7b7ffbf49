# SPDX-License-Identifier: GPL-2.0-or-later

schemadir = $(datadir)/virt-seed/schemas
dist_schema_DATA = %D%/cloud-init.rng

examplesdir = $(docdir)/examples
dist_examples_DATA = \
	%D%/examples/ansible.yml \
	%D%/examples/configdrive.xml \
	%D%/examples/identity.xml \
	%D%/examples/label-alone.xml \
	%D%/examples/minimal.xml \
	%D%/examples/ovirt.xml \
	%D%/examples/passwords.xml \
	%D%/examples/raw.xml \
	%D%/examples/references.xml \
	%D%/examples/served.xml \
	%D%/examples/static-network.xml \
	%D%/examples/text.xml \
	%D%/examples/virt-seed-qemu.tf \
	$(NULL)
