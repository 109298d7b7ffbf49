/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "domain/ssh-key.h"

/* What the types of public keys begin with; sshd(8). The blob repeats the type, so that
 * in base64 every one begins with the same letters: a length below 2^16. */
static const char *const type_prefixes[] = {"ssh-", "ecdsa-sha2-", "sk-ssh-",
                                            "sk-ecdsa-sha2-"};
#define BLOB_PREFIX "AAAA"

static bool
is_type(const char *word)
{
    for (size_t i = 0; i < sizeof(type_prefixes) / sizeof(type_prefixes[0]); i++) {
        if (strncmp(word, type_prefixes[i], strlen(type_prefixes[i])) == 0)
            return true;
    }
    return false;
}

/* Return: the next word; blanks between double quotes belong to it, as options have
 * them. */
static const char *
skip_word(const char *text)
{
    bool quoted = false;

    for (; *text && (quoted || (*text != ' ' && *text != '\t')); text++) {
        if (*text == '"')
            quoted = !quoted;
    }
    return text + strspn(text, " \t");
}

static bool
is_key(const char *text)
{
    if (!is_type(text))
        text = skip_word(text);
    return is_type(text) &&
           strncmp(skip_word(text), BLOB_PREFIX, strlen(BLOB_PREFIX)) == 0;
}

int
ssh_key_check(const char *text, struct failure **failure)
{
    const char *hint = "give what a .pub file holds: 'ssh-ed25519 AAAA… comment'";

    if (strstr(text, "PRIVATE KEY")) {
        failure_set(failure, FAILURE_SSH_KEY,
                    "a <key> is a private one, expected a public one");
        return failure_hint(failure, "%s; consider the private key known to others",
                            hint);
    }
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' && *at != '\t') {
            failure_set(failure, FAILURE_SSH_KEY, "a <key> has more than one line");
            return failure_hint(failure, "write one <key> for each");
        }
    }
    if (is_key(text) && strlen(text) <= LIMIT_SSH_KEY)
        return 0;
    failure_set(failure, FAILURE_SSH_KEY, "a <key> is no ssh public key");
    return failure_hint(failure, "%s", hint);
}
