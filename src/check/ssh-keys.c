/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Public keys that sshd in the guest would ignore. That is a warning and not an error: a
 * guest with another key starts, and is reached, as before.
 */
#include "config.h"

#include "check/check.h"
#include "domain/guest-value.h"
#include "domain/ssh-key.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"

/* `place` continues the part's description, or says without a part where the key is; `line`
 * is as in check_warn_of(). */
static void
check_key(const struct check *check, const char *key, const struct part *part, int line,
          const char *place)
{
    cleanup_failure struct failure *failure = NULL;

    /* Any other line is an error already. */
    if (ssh_key_check(key, &failure) < 0)
        return;
    if (ssh_key_decode(key, &failure) == 0)
        return;
    check_warn_of(check, WARNING_BROKEN_SSH_KEY, part, line, failure->hint,
                  "%s: %s; sshd in the guest will ignore it", place, failure->message);
}

/* If `place` is "", the text is that of the part. */
static void
check_lines(const struct check *check, const char *text, const struct part *part,
            int line, const char *place)
{
    cleanup_free char *copy = xstrdup(text);
    char *rest = copy;
    int number = 0;

    for (char *key; (key = ssh_key_next(&rest, &number));) {
        cleanup_free char *at =
            *place ? xasprintf("%s: line %d", place, number) : xstrdup("");

        check_key(check, key, part, *place ? line : number, at);
    }
}

static void
check_element(const struct check *check, const xmlNode *node)
{
    cleanup_free char *text = NULL;

    if (vocabulary_is(node, "key") && !part_is_reference(node)) {
        text = vocabulary_word(node);
        check_key(check, text, NULL, xml_line(node), "<key>");
    } else if (vocabulary_is(node, "authorized_ssh_keys")) {
        text = xml_text(node);
        check_lines(check, text, NULL, xml_line(node), "<authorized_ssh_keys>");
    }
}

void
check_ssh_keys(const struct check *check)
{
    const xmlNode *element = request_find(check->domain);

    for (const xmlNode *node = element; node; node = xml_next_below(node, element))
        check_element(check, node);
    parts_foreach(part, &check->request->parts, PART_SSH_KEYS) {
        if (part->masked)
            continue;
        check_lines(check, buffer_text(&part->data), part, 0, "");
        for (size_t i = 0; i < part->entry_count; i++) {
            const struct part_entry *entry = &part->entries[i];
            cleanup_free char *place = xasprintf(": key '%s'", entry->key);

            check_lines(check, buffer_text(&entry->data), part, 0, place);
        }
    }
}
