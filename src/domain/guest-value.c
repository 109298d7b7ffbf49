/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "domain/guest-value.h"

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Return: whether the text has 1 to `limit` characters, and those of the set alone. */
static bool
consists_of(const char *text, const char *set, size_t limit)
{
    size_t length = strlen(text);

    return length > 0 && length <= limit && strspn(text, set) == length;
}

bool
guest_value_is_user_name(const char *text)
{
    size_t length = strlen(text);

    /* Samba's accounts of machines end with a dollar. */
    if (length > LIMIT_USER_NAME || *text == '-' || *text == '$')
        return false;
    if (strspn(text, LETTERS DIGITS "_.-") + (length > 0 && text[length - 1] == '$') !=
        length)
        return false;
    return strspn(text, DIGITS) != length && strspn(text, ".") != length &&
           strcmp(text, "default") != 0;
}

bool
guest_value_is_timezone(const char *text)
{
    return consists_of(text, LETTERS DIGITS "+-_/", LIMIT_GUEST_NAME) && *text != '/' &&
           text[strlen(text) - 1] != '/' && !strstr(text, "//");
}

bool
guest_value_is_locale(const char *text)
{
    return consists_of(text, LETTERS DIGITS "_.@-", LIMIT_GUEST_NAME) &&
           strchr(LETTERS, *text);
}

static bool
is_path_part(const char *part, size_t length)
{
    return length > 0 && strncmp(part, ".", length) != 0 &&
           !(length == 2 && strncmp(part, "..", length) == 0);
}

bool
guest_value_is_path(const char *text)
{
    if (*text != '/' || strlen(text) > LIMIT_PATH)
        return false;
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f ||
            (at[0] == '\xc2' && (unsigned char)at[1] < 0xa0))
            return false;
    }
    while (*text == '/') {
        size_t length = strcspn(++text, "/");

        if (!is_path_part(text, length))
            return false;
        text += length;
    }
    return true;
}

bool
guest_value_is_url(const char *text)
{
    static const char *const schemes[] = {"http://", "https://"};
    const char *host = NULL;

    if (!consists_of(text, LETTERS DIGITS "-._~:/?#[]@!$&'()*+,;=%", LIMIT_URL))
        return false;
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (strncasecmp(text, schemes[i], strlen(schemes[i])) == 0)
            host = text + strlen(schemes[i]);
    }
    return host && !strchr("/?#:@", *host);
}
