/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that the guest's own programs must understand, each on one line. */
#pragma once

#include <stdbool.h>

/* A user's name, as useradd(8) takes it; not "default", which cloud-init takes for the
 * image's own user. */
bool guest_value_is_user_name(const char *text);
#define GUEST_VALUE_USER_NAME                                                            \
    "at most 32 letters, digits and '_.-', as useradd(8) takes them, and not 'default'"

/* The name of a file below /usr/share/zoneinfo: "Asia/Jerusalem", "Etc/GMT+1", "UTC". */
bool guest_value_is_timezone(const char *text);

/* "C.UTF-8", "de_DE.UTF-8@euro"; locale(7). */
bool guest_value_is_locale(const char *text);

/* The absolute path of a file: no empty part, no "." and no "..", no control character. */
bool guest_value_is_path(const char *text);

/* http:// or https://, a host, and what may stand in an URL (RFC 3986, section 2). */
bool guest_value_is_url(const char *text);
