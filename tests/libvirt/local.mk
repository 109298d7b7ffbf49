# SPDX-License-Identifier: GPL-2.0-or-later
# A real libvirtd and QEMU, private to the tests; needs root.

libvirt_tests = \
	%D%/apply.bats \
	%D%/defaults.bats \
	%D%/doctor.bats \
	%D%/edit.bats \
	%D%/events.bats \
	%D%/events-net.bats \
	%D%/events-session.bats \
	%D%/events-shim.bats \
	%D%/forbidden.bats \
	%D%/imds.bats \
	%D%/import.bats \
	%D%/lab.bats \
	%D%/manual.bats \
	%D%/medium.bats \
	%D%/medium-session.bats \
	%D%/migrate.bats \
	%D%/net.bats \
	%D%/new.bats \
	%D%/new-session.bats \
	%D%/patterns.bats \
	%D%/pending.bats \
	%D%/recipes.bats \
	%D%/readme.bats \
	%D%/record.bats \
	%D%/scrub.bats \
	%D%/served.bats \
	%D%/session.bats \
	%D%/set.bats \
	%D%/shim.bats \
	%D%/shim-session.bats \
	%D%/ssh.bats \
	%D%/start-command.bats \
	%D%/start.bats \
	%D%/start-session.bats \
	%D%/try.bats \
	%D%/try-session.bats \
	%D%/unsendable.bats \
	%D%/vdsm.bats \
	%D%/wait.bats \
	%D%/wait-session.bats \
	%D%/wiring.bats \
	$(NULL)
EXTRA_DIST += $(libvirt_tests) \
	%D%/common.bash \
	%D%/domains.bash \
	%D%/events.tsv \
	%D%/hosts.bash \
	%D%/images.py \
	%D%/lab-namespace.bash \
	%D%/lab.bash \
	%D%/leak.S \
	%D%/reader.S \
	%D%/report.bash \
	%D%/session.bash \
	%D%/update.bash \
	$(NULL)
MOSTLYCLEANFILES += check-libvirt.log $(libvirt_tests:.bats=.log) $(libvirt_tests:.bats=.trs)

check-libvirt: all
	VIRT_SEED_BUILDDIR='$(abs_builddir)' $(MAKE) check-TESTS $(call ring,$(libvirt_tests)) \
		AM_TESTS_ENVIRONMENT=
.PHONY: check-libvirt
