/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <fnmatch.h>

#include "domain/guest-value.h"
#include "domain/ssh-key.h"

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Return: whether the text has 1 to `limit` characters, all of them from the set. */
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

    /* Samba's machine accounts end with a dollar sign. */
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
    if (!consists_of(text, LETTERS DIGITS "+-_/", LIMIT_GUEST_NAME))
        return false;
    return *text != '/' && text[strlen(text) - 1] != '/' && !strstr(text, "//");
}

bool
guest_value_is_locale(const char *text)
{
    return consists_of(text, LETTERS DIGITS "_.@-", LIMIT_GUEST_NAME) &&
           strchr(LETTERS, *text);
}

bool
guest_value_is_path(const char *text)
{
    if (*text != '/' || strlen(text) > LIMIT_PATH)
        return false;
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return false;
        if (at[0] == '\xc2' && (unsigned char)at[1] < 0xa0)
            return false;
    }
    while (*text == '/') {
        size_t length = strcspn(++text, "/");

        if (length == 0 || strncmp(text, ".", length) == 0)
            return false;
        if (length == 2 && strncmp(text, "..", length) == 0)
            return false;
        text += length;
    }
    return true;
}

bool
guest_value_is_url(const char *text)
{
    static const char pattern[] = "http?(s)://[!/?#:@]*";

    return consists_of(text, LETTERS DIGITS "-._~:/?#[]@!$&'()*+,;=%", LIMIT_URL) &&
           fnmatch(pattern, text, FNM_EXTMATCH | FNM_CASEFOLD) == 0;
}

static bool
is_hostname(const char *text)
{
    struct in_addr address;

    if (strlen(text) > LIMIT_HOSTNAME || inet_pton(AF_INET, text, &address) == 1)
        return false;
    for (;; text++) {
        size_t length = strcspn(text, ".");

        if (length == 0 || length > LIMIT_HOSTNAME_LABEL)
            return false;
        if (text[0] == '-' || text[length - 1] == '-')
            return false;
        if (strspn(text, LETTERS DIGITS "-") < length)
            return false;
        text += length;
        if (!*text)
            return true;
    }
}

int
hostname_check(const char *hostname, struct failure **failure)
{
    if (is_hostname(hostname))
        return 0;
    return failure_set(
        failure, FAILURE_HOSTNAME,
        "'%.300s' is not a valid host name\n"
        "use labels of at most %d letters, digits and dashes, joined by dots",
        hostname, LIMIT_HOSTNAME_LABEL);
}

char *
hostname_from_domain(const char *name, const char *uuid, bool by_byte)
{
    char *hostname = xcalloc(1, LIMIT_HOSTNAME_LABEL + 1);
    size_t begin, end = 0;

    for (; *name && end < LIMIT_HOSTNAME_LABEL; name++) {
        const bool continues = (*name & 0xc0) == 0x80; /* a character of UTF-8 */

        if (isascii(*name) && isalnum((unsigned char)*name))
            hostname[end++] = (char)tolower((unsigned char)*name);
        else if (by_byte || !continues)
            hostname[end++] = '-';
    }
    begin = strspn(hostname, "-");
    while (end > begin && hostname[end - 1] == '-')
        end--;
    if (begin == end) {
        free(hostname);
        return xasprintf("vm-%.8s", uuid);
    }
    hostname[end] = '\0';
    memmove(hostname, hostname + begin, end - begin + 1);
    return hostname;
}

/* The prefixes of public key types; sshd(8). The key itself begins with the length of its
 * type, which is below 2^16, so in base64 every key begins with the same letters. */
static const char *const type_prefixes[] = {"ssh-", "ecdsa-sha2-", "sk-ssh-",
                                            "sk-ecdsa-sha2-"};
#define BLOB_PREFIX "AAAA"

static bool
is_key(const char *text)
{
    /* Options may come first. */
    for (int words = 0; words < 2; words++) {
        const char *word = text;

        text = ssh_key_skip_options(text);
        text += strspn(text, " \t");
        for (size_t i = 0; i < ARRAY_SIZE(type_prefixes); i++) {
            if (strncmp(word, type_prefixes[i], strlen(type_prefixes[i])) == 0)
                return strncmp(text, BLOB_PREFIX, strlen(BLOB_PREFIX)) == 0;
        }
    }
    return false;
}

int
ssh_key_check(const char *text, struct failure **failure)
{
    const char *hint = "use the content of a .pub file: 'ssh-ed25519 AAAA… comment'";

    if (strstr(text, "PRIVATE KEY"))
        return failure_set(failure, FAILURE_SSH_KEY,
                           "this is a private key, expected a public key\n"
                           "%s; treat the private key as compromised",
                           hint);
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' && *at != '\t')
            return failure_set(failure, FAILURE_SSH_KEY,
                               "this has more than one line\n"
                               "write each key as a line, or <key>, of its own");
    }
    if (is_key(text) && strlen(text) <= LIMIT_SSH_KEY)
        return 0;
    return failure_set(failure, FAILURE_SSH_KEY, "this is not an ssh public key\n%s",
                       hint);
}

char *
ssh_key_next(char **rest, int *number)
{
    for (char *line = strsep(rest, "\n"); line; line = strsep(rest, "\n")) {
        size_t length;

        ++*number;
        line += strspn(line, " \t");
        length = strlen(line);
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        if (*line && *line != '#')
            return line;
    }
    return NULL;
}
