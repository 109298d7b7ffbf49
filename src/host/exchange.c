/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/names.h"
#include "host/exchange.h"
#include "host/imds-tree.h"

/* Of ISO 9660. */
#define IMAGE_BLOCK 2048

/* --- hello ---------------------------------------------------------------------------- */

static void
config_put(const struct config_files *config, struct buffer *message)
{
    message_put_number(message, config->is_complete);
    message_put_number(message, (uint32_t)config->count);
    for (size_t i = 0; i < config->count; i++) {
        const struct config_file *file = &config->list[i];

        message_put_text(message, file->path);
        message_put_bytes(message, file->text.data, file->text.size);
    }
}

void
hello_put(const struct hello *hello, struct buffer *message)
{
    message_put_text(message, scope()->home);
    message_put_text(message, scope()->runtime);
    message_put_number(message, hello->role);
    message_put_bytes(message, hello->record.data, hello->record.size);
    switch (hello->role) {
    case MAKER_PREPARE:
        message_put_text(message, hello->uuid);
        message_put_number(message, hello->resumes);
        message_put_failure(message, hello->record_failure);
        config_put(&hello->config, message);
        break;
    case MAKER_REPORT:
        message_put_bytes(message, hello->report.data, hello->report.size);
        message_put_bytes(message, &hello->written, sizeof(hello->written));
        message_put_text(message, hello->end);
        break;
    case MAKER_MERGE:
        message_put_bytes(message, hello->next.data, hello->next.size);
        break;
    case MAKER_WIRE:
        config_put(&hello->config, message);
        break;
    }
}

void
hello_clear(struct hello *hello)
{
    free(hello->uuid);
    free(hello->end);
    failure_free(hello->record_failure);
    buffer_clear(&hello->record);
    buffer_clear(&hello->report);
    buffer_clear(&hello->next);
    config_files_clear(&hello->config);
}

/* --- needs ---------------------------------------------------------------------------- */

/* Bytes of a need's name: of a file, a disk's path and so on. */
static const size_t name_limits[] = {
    [NEED_FILE] = LIMIT_PATH,
    [NEED_SECRET] = LIMIT_PATH,
    [NEED_WHOLE_SECRET] = LIMIT_PATH,
    [NEED_HOST_KEY] = 0,
    [NEED_PASSWORD] = LIMIT_SECRET_NAME,
    [NEED_LABEL] = PATH_MAX,
    [NEED_SERVER] = LIMIT_SERVER,
    [NEED_DEFINITION] = 0,
};

/* The host's own answers check the rest of a name. */
static bool
is_need(const struct need *need)
{
    const bool has_name = name_limits[need->kind] > 0;

    if (has_name != (need->name != NULL) ||
        (need->kind == NEED_SECRET) != (need->keys[0] != NULL))
        return false;
    for (size_t i = 1; i < NEED_KEYS; i++) {
        if (need->keys[i] && !need->keys[i - 1])
            return false;
    }
    if (need->kind == NEED_PASSWORD)
        return strcmp(need->name, PASSWORD_NAME) == 0 ||
               strcmp(need->name, ROOT_PASSWORD_NAME) == 0;
    return need->kind != NEED_LABEL || *need->name == '/';
}

bool
needs_get(struct needs *needs, enum maker_role role, const struct buffer *content)
{
    struct message message = message_begin(content);
    const uint32_t count = message_get_number(&message, LIMIT_PARTS + LIMIT_DEVICES);

    for (uint32_t i = 0; i < count && !message.is_bad; i++) {
        const enum need_kind kind =
            (enum need_kind)message_get_number(&message, NEED_KIND_LAST);
        struct need *need = needs_add(needs, kind, NULL);

        need->name = message_get_text(&message, name_limits[kind], true);
        for (size_t key = 0; key < NEED_KEYS; key++)
            need->keys[key] = message_get_text(&message, LIMIT_PATH, true);
        if (!is_need(need) || (role == MAKER_WIRE && kind != NEED_LABEL))
            return false;
        /* The last need: a look at one address, and not at all ports of this host. */
        if (kind == NEED_SERVER && i + 1 != count)
            return false;
    }
    return message_is_over(&message);
}

/* --- answers -------------------------------------------------------------------------- */

void
answers_put(const struct needs *needs, struct buffer *message)
{
    for (size_t i = 0; i < needs->count; i++) {
        const struct need *need = &needs->list[i];

        message_put_failure(message, need->failure);
        message_put_number(message, (uint32_t)-need->error);
        message_put_text(message, need->place);
        message_put_number(message, need->word);
        message_put_number(message, need->server.health);
        message_put_number(message, need->server.number);
        message_put_number(message, need->failure ? 0 : (uint32_t)need->entry_count);
        for (size_t entry = 0; !need->failure && entry < need->entry_count; entry++) {
            message_put_text(message, need->entries[entry].key);
            message_put_bytes(message, need->entries[entry].content.data,
                              need->entries[entry].content.size);
        }
    }
}

/* --- the verdict: reading --------------------------------------------------------------- */

static bool
is_document(const char *path)
{
    static const char *const paths[] = {IMDS_META_DATA, IMDS_USER_DATA, IMDS_VENDOR_DATA,
                                        IMDS_NETWORK_CONFIG};

    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        if (strcmp(paths[i], path) == 0)
            return true;
    }
    return false;
}

static bool
documents_get(struct seed *seed, struct message *message)
{
    const uint32_t count = message_get_number(message, LIMIT_SERVED_DOCUMENTS);

    for (uint32_t i = 0; i < count && !message->is_bad; i++) {
        cleanup_free char *path = message_get_text(message, LIMIT_PATH, false);

        if (!path || !is_document(path) || seed_find_document(seed, path))
            return false;
        message_get_bytes(message, LIMIT_SEED, &seed_add_document(seed, path)->data);
    }
    return !message->is_bad;
}

static bool
served_get(struct verdict *verdict, struct message *message)
{
    struct imds_domain *served = &verdict->publication.served;
    const uint32_t count = message_get_number(message, LIMIT_NICS);

    for (uint32_t i = 0; i < count && !message->is_bad; i++) {
        cleanup_free char *mac = message_get_text(message, IMDS_MAC_LENGTH, false);
        struct imds_mac *own = array_add(served->macs, served->mac_count);

        if (!mac || !imds_is_mac(mac))
            return false;
        snprintf(own->mac, sizeof(own->mac), "%s", mac);
        own->link = (enum imds_link)message_get_number(message, IMDS_LINK_USER);
    }
    served->seed = &verdict->seed;
    return documents_get(&verdict->seed, message);
}

/* Return: whether the file may be an image. */
static bool
is_image(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_size > 0 &&
           (unsigned long)status.st_size <= LIMIT_IMAGE &&
           status.st_size % IMAGE_BLOCK == 0;
}

static bool
publication_get(struct verdict *verdict, struct message *message)
{
    struct publication *publication = &verdict->publication;

    publication->report = (enum report_writer)message_get_number(message, REPORT_BY_SHIM);
    publication->has_image = message_get_number(message, 1);
    publication->shim = (enum shim_order)message_get_number(message, SHIM_ORDER_NOCLOUD);
    publication->served.token = message_get_text(message, IMDS_TOKEN_LENGTH, true);
    if (message->is_bad || (publication->has_image && publication->served.token))
        return false;
    if (publication->has_image && !is_image(publication->output))
        return false;
    if (publication->shim != SHIM_ORDER_NONE && !publication->has_image)
        return false;
    if (publication->report == REPORT_BY_SHIM && publication->shim == SHIM_ORDER_NONE)
        return false;
    if (!publication->served.token)
        return true;
    return imds_is_token(publication->served.token) && served_get(verdict, message);
}

/* Return: whether it is one line of printable characters. */
static bool
is_line(const char *text)
{
    const size_t length = strlen(text);

    for (size_t i = 0; i + 1 < length; i++) {
        if (!isascii(text[i]) || !isprint((unsigned char)text[i]))
            return false;
    }
    return length > 1 && text[length - 1] == '\n';
}

static bool
key_get(struct host_key *key, enum key_right right, struct message *message)
{
    message_get_bytes(message, LIMIT_SSH_KEY, &key->private);
    key->public = message_get_text(message, LIMIT_SSH_KEY, true);
    if (key->public && right == KEY_NONE)
        return false;
    if (key->private.size > 0 && (right != KEY_TO_MAKE || !key->public))
        return false;
    return !key->public || is_line(key->public);
}

static bool
seed_get(struct verdict *verdict, enum key_right right, struct message *message)
{
    if (!publication_get(verdict, message) || !key_get(&verdict->key, right, message))
        return false;
    verdict->digest = message_get_text(message, DIGEST_LENGTH, true);
    message_get_bytes(message, LIMIT_RECORD, &verdict->next_record);
    if (message->is_bad)
        return false;
    if (!verdict->digest)
        return true;
    return verdict->publication.has_image && text_is_hex(verdict->digest, DIGEST_LENGTH);
}

/* Reads a list of at most `limit` texts that are shown. */
static void
texts_get(char ***texts, size_t *count, uint32_t limit, struct message *message)
{
    const uint32_t announced = message_get_number(message, limit);

    for (uint32_t i = 0; i < announced && !message->is_bad; i++) {
        char *text = message_get_text(message, LIMIT_MAKER_TEXT, false);

        if (text)
            texts_add(texts, count, failure_tidy(text));
    }
}

bool
verdict_get(struct verdict *verdict, enum key_right right, const struct buffer *content)
{
    struct message message = message_begin(content);

    verdict->kind = (enum verdict_kind)message_get_number(&message, VERDICT_SEED);
    texts_get(&verdict->notes, &verdict->note_count, LIMIT_NOTES, &message);
    verdict->refusal = message_get_failure(&message);
    verdict->hint_if_wired = message_get_text(&message, LIMIT_MAKER_TEXT, true);
    if (verdict->hint_if_wired)
        failure_tidy(verdict->hint_if_wired);
    if (message.is_bad || (verdict->kind == VERDICT_REFUSE) != (verdict->refusal != NULL))
        return false;
    if (verdict->hint_if_wired && verdict->kind != VERDICT_REFUSE)
        return false;
    if (verdict->kind == VERDICT_SEED && !seed_get(verdict, right, &message))
        return false;
    return message_is_over(&message);
}

void
verdict_clear(struct verdict *verdict)
{
    texts_free(verdict->notes, verdict->note_count);
    failure_free(verdict->refusal);
    free(verdict->hint_if_wired);
    publication_clear(&verdict->publication);
    seed_clear(&verdict->seed);
    host_key_clear(&verdict->key);
    free(verdict->digest);
    buffer_clear(&verdict->next_record);
    *verdict = VERDICT_NONE;
}

/* --- results ---------------------------------------------------------------------------- */

bool
result_get(struct maker_result *result, enum maker_role role, struct failure **failure,
           const struct buffer *content)
{
    const bool is_wired = role == MAKER_WIRE;
    const size_t limit = is_wired ? LIMIT_DOMAIN_XML : LIMIT_RECORD;
    const enum maker_event last = is_wired ? MAKER_EVENT_NONE : MAKER_EVENT_FAILED;
    struct message message = message_begin(content);

    *failure = message_get_failure(&message);
    if (!*failure) {
        message_get_bytes(&message, limit, &result->text);
        result->event = (enum maker_event)message_get_number(&message, last);
        texts_get(&result->changes, &result->change_count,
                  is_wired ? LIMIT_WIRING_CHANGES : 0, &message);
    }
    if (message_is_over(&message) &&
        strlen(buffer_text(&result->text)) == result->text.size)
        return true;
    failure_free(steal(*failure));
    return false;
}

void
maker_result_clear(struct maker_result *result)
{
    buffer_clear(&result->text);
    texts_free(result->changes, result->change_count);
    *result = (struct maker_result){0};
}
