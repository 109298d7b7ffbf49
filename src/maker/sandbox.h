/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maker's confinement. Before it reads a byte that somebody else wrote, the maker
 * gives up what it will not need: a bug in it, or in a library that parses for it, must
 * not reach more than what the keeper gave it.
 */
#pragma once

#include "base/base.h"

/*
 * Confines the process for good, with every thread that it starts later. It is called by a
 * process with one thread, before it reads anything, and after what sets up the process
 * itself (base/process.h). Descriptors 0 to 5 stay as they are, open or not; all others are
 * closed. From then on the process
 *
 *   - gets no privileges by starting a program, and is traced by nobody;
 *   - has LIMIT_MAKER_MEMORY bytes of memory, LIMIT_MAKER_SECONDS of processor time, writes
 *     no file larger than LIMIT_IMAGE, and leaves no core file;
 *   - can read, write, seek and close its descriptors, allocate memory, start threads, and
 *     ask for the time and for random bytes. Any other system call kills it with SIGSYS,
 *     except that calls for which libc has a substitute fail with ENOSYS.
 *
 * So nothing can be opened later: no file, time zone, library or character set. The
 * libraries have opened what they need to make a seed, but these kill the process:
 *
 *   - an XML document in an encoding that libxml2 leaves to iconv(3): any but UTF-8, UTF-16,
 *     ISO-8859-1 and US-ASCII;
 *   - syslog(3), and poll(2), send(2) and recv(2): sockets are for read(2) and write(2);
 *   - printf(3) if standard output is a device, as /dev/null is, since stdio asks whether
 *     it is a terminal. Standard error has no buffer, so stdio does not ask.
 *
 * fstat(2) may fail with ENOSYS, since libc may ask by a call that takes a path.
 *
 * A build without the sandbox (configure --disable-sandbox, or for sanitizers, fuzzers or
 * coverage, which need all of this) only closes descriptors and prepares the libraries.
 *
 * Return: 0 or -errno; then the process must end without reading anything.
 */
int sandbox_enter(void);
