# SPDX-License-Identifier: GPL-2.0-or-later
# The tests behind `make check`: no root, no network, no libvirtd.

# --- unit tests: one program for each source file of src/ that has rules of its own ---------

if HAVE_CMOCKA

check_LIBRARIES = libunit.a
libunit_a_SOURCES = \
	%D%/unit/unit.c \
	%D%/unit/unit.h \
	$(NULL)
libunit_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%/unit
libunit_a_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(LIBXML2_CFLAGS)

unit_tests = \
	%D%/unit/test-buffer \
	$(NULL)
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)

UNIT_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%/unit
UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(LIBXML2_CFLAGS)
UNIT_LDADD = libunit.a $(SEED_ARCHIVES) $(SEED_LIBS) $(CMOCKA_LIBS)

%C%_unit_test_buffer_CPPFLAGS = $(UNIT_CPPFLAGS)
%C%_unit_test_buffer_CFLAGS = $(UNIT_CFLAGS)
%C%_unit_test_buffer_LDADD = $(UNIT_LDADD)

endif HAVE_CMOCKA
