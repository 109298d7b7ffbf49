# SPDX-License-Identifier: GPL-2.0-or-later
# What tests/functional/hostile-*.bats need: checks that hold after any event, and `fault`, which
# makes events.

check_PROGRAMS += %D%/fault
%C%_fault_SOURCES = %D%/fault.c
%C%_fault_LDADD =

EXTRA_DIST += %D%/hostile.bash
