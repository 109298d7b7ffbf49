/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What nearly every file needs of C's library and of base/. Each header includes it, so a file
 * names it only if it has no other header of ours, and never names what is here.
 */
#pragma once

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
