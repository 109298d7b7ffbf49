/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/form.h"

#define DIGITS "0123456789abcdef"

bool
form_is(const char *text, const char *pattern)
{
    if (strlen(text) != strlen(pattern))
        return false;
    for (; *pattern; pattern++, text++) {
        if (*pattern == 'x' ? !strchr(DIGITS, *text) : *text != *pattern)
            return false;
    }
    return true;
}

bool
form_is_uuid(const char *text)
{
    return form_is(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

bool
form_is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, DIGITS) == length;
}
