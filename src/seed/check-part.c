/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "domain/guest-value.h"
#include "seed/network-config.h"
#include "seed/seed.h"
#include "seed/ssh-host-keys.h"
#include "seed/user-data.h"
#include "seed/yaml.h"

/* --- lines ------------------------------------------------------------------------ */

/* The text is UTF-8, without NUL. */
static int
check_text(const struct buffer *data, struct failure **failure)
{
    if (data->size == 0 ||
        (utf8_is_valid(data->data, data->size) && !memchr(data->data, '\0', data->size)))
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "is not text in UTF-8\nsave it as UTF-8, without NUL");
}

static int
check_ssh_keys(const struct buffer *data, struct failure **failure)
{
    cleanup_free char *text = xstrndup(data->size > 0 ? data->data : "", data->size);
    char *rest = text;
    int number = 0;

    if (check_text(data, failure) < 0)
        return -1;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        number++;
        line[strcspn(line, "\r")] = '\0';
        line += strspn(line, " \t");
        if (*line && *line != '#' && ssh_key_check(line, failure) < 0)
            return failure_prefix(failure, "line %d", number);
    }
    return 0;
}

/* One line of UTF-8 without control characters. */
static bool
is_password(const struct part *part, const char *word)
{
    cleanup_free char *printable = xstrdup(word);

    utf8_repair(printable);
    utf8_replace_controls(printable);
    return strcmp(printable, word) == 0 && strlen(word) <= LIMIT_PASSWORD &&
           !memchr(part->data.data, '\0', part->data.size);
}

/* Where the document's readers end a line, the rest of the password would be lost. */
static int
check_password(const struct part *part, struct failure **failure)
{
    cleanup_free char *word = part_word(part);

    if (*word && is_password(part, word))
        return 0;
    return failure_set(failure, FAILURE_REQUEST,
                       "%s\n"
                       "put the password alone there, in UTF-8, without tabs and other "
                       "control characters",
                       *word ? "the password is not one line of at most 512 bytes of text"
                             : "the password is empty");
}

/* --- entries of a secret ------------------------------------------------------------ */

static int
check_meta_data_value(const struct buffer *data, struct failure **failure)
{
    if (data->size <= LIMIT_ENTRY_VALUE)
        return 0;
    return failure_set(failure, FAILURE_LIMIT,
                       "has a value of more than 64 KiB\n"
                       "put large values into user-data");
}

static int
check_entry(const struct part *part, const struct part_entry *entry,
            struct failure **failure)
{
    if (part->kind == PART_SSH_KEYS)
        return check_ssh_keys(&entry->data, failure);
    if (part->kind == PART_SSH_HOST_KEYS)
        return ssh_host_key_check(part, entry, failure);
    return part->kind == PART_META_DATA ? check_meta_data_value(&entry->data, failure)
                                        : 0;
}

static int
check_entries(const struct part *part, struct failure **failure)
{
    for (size_t i = 0; i < part->entry_count; i++) {
        if (check_entry(part, &part->entries[i], failure) < 0)
            return failure_prefix(failure, "key '%s'", part->entries[i].key);
    }
    return 0;
}

/* --- by kind ------------------------------------------------------------------------ */

static int
check_network(const struct request *request, const struct part *part,
              struct failure **failure)
{
    if (request->datasource == DATASOURCE_CONFIGDRIVE)
        return network_data_check(part->data.data, part->data.size, request->domain,
                                  failure);
    return network_config_check(part->data.data, part->data.size, failure);
}

/* oVirt's custom script: the rest of a cloud-config, or a whole one. */
static int
check_custom_script(const struct part *part, struct failure **failure)
{
    const char *kind = user_data_kind(part->data.data, part->data.size);

    if (strcmp(kind, "unknown") == 0)
        return yaml_check(part->data.data, part->data.size, YAML_ONE_MAPPING, failure);
    return user_data_check(part->data.data, part->data.size, failure);
}

static int
check_value(const struct part *part, struct failure **failure)
{
    if (part_is_password(part))
        return check_password(part, failure);
    return strcmp(part->element, "custom_script") == 0
               ? check_custom_script(part, failure)
               : 0;
}

static int
check_data(const struct request *request, const struct part *part,
           struct failure **failure)
{
    switch (part->kind) {
    case PART_USER_DATA:
    case PART_VENDOR_DATA:
        return user_data_check(part->data.data, part->data.size, failure);
    case PART_NETWORK_CONFIG:
        return check_network(request, part, failure);
    case PART_META_DATA:
        if (part->origin == PART_SECRET)
            return check_meta_data_value(&part->data, failure);
        return yaml_check(part->data.data, part->data.size, YAML_ONE_MAPPING, failure);
    case PART_SSH_KEYS:
        return check_ssh_keys(&part->data, failure);
    case PART_ADMIN_PASSWORD:
    case PART_VALUE:
        return check_value(part, failure);
    case PART_SSH_HOST_KEYS:
        break;
    }
    return 0;
}

static bool
may_be_empty(const struct part *part)
{
    return part->kind != PART_ADMIN_PASSWORD && part->kind != PART_VALUE;
}

int
check_part(const struct request *request, const struct part *part,
           struct failure **failure)
{
    int result;

    if (part->masked)
        return 0;
    result = check_entries(part, failure);
    if (result == 0 && !part_is_whole_secret(part) &&
        (part->data.size > 0 || !may_be_empty(part)))
        result = check_data(request, part, failure);
    return result == 0 ? 0 : part_fail(part, failure);
}
