# SPDX-License-Identifier: GPL-2.0-or-later
# What a start costs: scripts/bench measures it, `make check` holds the number of instructions.

dist_check_SCRIPTS += %D%/instructions.bats
EXTRA_DIST += \
	%D%/domain.xml \
	%D%/empty.c \
	%D%/floor.c \
	%D%/goals.bash \
	%D%/http-load.c \
	%D%/input.bash \
	%D%/limits \
	%D%/runner.c \
	$(NULL)

if HAVE_BATS
TESTS += %D%/instructions.bats
endif HAVE_BATS
