/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/fs.h"
#include "base/names.h"
#include "host/answer.h"
#include "host/domain-secret.h"
#include "host/imds-tree.h"
#include "host/label.h"

/* --- files ------------------------------------------------------------------------ */

static int
answer_file(const struct answerer *answerer, struct need *need)
{
    const struct config_files *config = answerer->config;
    struct buffer *content = need_add_entry(need, NULL);
    size_t at = 0;
    int error = -ENOENT;

    assert(config->directory_count > 0);
    for (; error == -ENOENT && at < config->directory_count; at++) {
        cleanup_close int directory =
            fs_open_directory_in_root(answerer->root, config->directories[at]);
        cleanup_close int fd = fs_open_regular_beneath(directory, need->name, NULL);

        error = fd < 0 ? fd : fs_read_all(fd, LIMIT_PART, content);
        if (error == -ENOTDIR)
            error = -ENOENT;
    }
    if (error == -ENOENT && at > 1)
        need->place =
            xasprintf("%s and the other file directories", *config->directories);
    else
        need->place = xstrdup(config->directories[at - 1]);
    need->error = error;
    return error;
}

/* --- secrets ---------------------------------------------------------------------- */

static void
take_key(void *data, const char *key, struct buffer *content)
{
    *need_add_entry(data, key) = steal_buffer(content);
}

static int
answer_secret(const struct answerer *answerer, struct need *need)
{
    struct buffer *content = need_add_entry(need, NULL);
    const char *found;

    if (secret_read(answerer->root, &answerer->domain, need->name,
                    (const char *const *)need->keys, content, &found, &need->failure) < 0)
        return -1;
    need->entries[0].key = xstrdup(found);
    return 0;
}

/* What virt-seed keeps for the domain. */
static int
answer_kept(const struct answerer *answerer, struct need *need)
{
    const bool is_key = need->kind == NEED_HOST_KEY;
    const int missing = domain_secret_read(answerer->root, answerer->domain.uuid,
                                           is_key ? HOST_KEY_NAME : need->name,
                                           is_key ? LIMIT_SSH_KEY : LIMIT_PASSWORD,
                                           need_add_entry(need, NULL), &need->failure);

    if (missing > 0)
        need->word =
            is_key && answerer->may_make_key ? NEED_WORD_MAKE : NEED_WORD_MISSING;
    return missing < 0 ? -1 : 0;
}

/* --- the definition ----------------------------------------------------------------- */

/* Reads libvirt's own file, since libvirt cannot be asked now. */
static int
answer_definition(const struct answerer *answerer, struct need *need)
{
    const char *uuid = answerer->domain.uuid;
    cleanup_free char *name = xasprintf("%s.xml", answerer->domain.name);
    cleanup_free char *path = seed_path(uuid);
    cleanup_free char *in_url = xasprintf("/%s/", uuid);
    cleanup_buffer struct buffer text = {0};
    const int error = fs_read_below(answerer->root, scope()->definitions, name,
                                    LIMIT_DOMAIN_XML, &text);
    const bool has_seed =
        text.size > 0 && (memmem(text.data, text.size, path, strlen(path)) ||
                          memmem(text.data, text.size, in_url, strlen(in_url)));

    need->word = NEED_WORD_DEFINITION_UNWIRED;
    if (error == -ENOENT)
        need->word = NEED_WORD_DEFINITION_NONE;
    if (error == 0 && has_seed)
        need->word = NEED_WORD_DEFINITION_WIRED;
    return 0;
}

/* --- the metadata server -------------------------------------------------------------- */

static void
answer_server(const struct answerer *answerer, struct need *need)
{
    cleanup_close int rundir = fs_open_directory_in_root(answerer->root, scope()->rundir);

    need->server = imds_tree_find(rundir);
    if (need->server.health == IMDS_HEALTHY)
        need->server = imds_health_find(need->name);
}

/* --- all of them ---------------------------------------------------------------------- */

static int
answer_one(const struct answerer *answerer, struct need *need)
{
    switch (need->kind) {
    case NEED_FILE:
        return answer_file(answerer, need);
    case NEED_SECRET:
        return answer_secret(answerer, need);
    case NEED_WHOLE_SECRET:
        return secret_read_all(answerer->root, &answerer->domain, need->name, take_key,
                               need, &need->failure);
    case NEED_HOST_KEY:
    case NEED_PASSWORD:
        return answer_kept(answerer, need);
    case NEED_LABEL:
        need->word = label_find(need->name);
        return 0;
    case NEED_SERVER:
        answer_server(answerer, need);
        return 0;
    case NEED_DEFINITION:
        return answer_definition(answerer, need);
    }
    return 0;
}

static size_t
count_bytes(const struct need *need)
{
    size_t size = 0;

    for (size_t i = 0; i < need->entry_count; i++)
        size += need->entries[i].content.size;
    return size;
}

void
answerer_answer(void *data, struct needs *needs)
{
    size_t size = 0;

    for (size_t i = 0; i < needs->count; i++) {
        struct need *need = &needs->list[i];
        bool failed = false;

        /* The need before has exceeded the limit. */
        if (size > LIMIT_SEED)
            failure_set(&need->failure, FAILURE_LIMIT, "not read: the seed is too large");
        else
            failed = answer_one(data, need) < 0;
        size += count_bytes(need);
        /* What was read of it is of no use, but counts. */
        if (failed)
            need_remove_entries(need);
    }
}
