/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: each part of the message has the type by which cloud-init and
 * cloudbase-init choose its handler. A user's MIME message becomes a part unchanged, with
 * its own parts. gzip is unpacked before: as a part, cloud-init would take its content for
 * Latin-1 and lose its headers.
 */
#include "config.h"

#include "seed/content.h"
#include "seed/writers.h"

/* Adds missing keys and appends to lists, but replaces nothing. There is no "str()",
 * because cloud-init's merger of strings would replace a string with a value of another
 * type (users: "a,b" with a list). */
#define APPEND "dict(recurse_list)+list(append)"
#define PREPEND "dict(recurse_list)+list(prepend)"

/*
 * The reporter: a script that runs in the guest next to cloud-init and writes lines of
 * JSON to the virtio port of the domain's report channel (wire/wire.h):
 *
 *   {"virt-seed":1,"boot":"BOOT-ID","taken":TAKEN,"status":STATUS,"dropped":DROPPED,
 *    "login":LOGIN}
 *       whenever a stage starts or ends
 *   the same with "result":RESULT
 *       once, at the end; with the module that failed, if one did
 *
 * An empty line comes first. STATUS and RESULT are cloud-init's own status.json and
 * result.json (cmd/main.py, status_wrapper); BOOT-ID is the kernel's random/boot_id;
 * store/guest-report.h describes TAKEN, DROPPED and LOGIN. It is a boothook, which cloud-init runs
 * at every boot.
 */
static const char reporter_script[] = "#cloud-boothook\n"
#include "seed/reporter-script.inc"
    ;

/* Another boothook, which acts at the first boot of an instance. */
static const char machine_id_script[] = "#cloud-boothook\n"
#include "seed/machine-id-script.inc"
    ;

struct piece {
    struct buffer data;
    const char *merge_type; /* NULL: cloud-init's default */
};

/* Of user-data: the user's, the custom script, the generated one. Vendor-data has at most
 * six: the domain's own, the host's, its default user, how to cache, the new machine-id,
 * the reporter. */
#define PIECES_MAX (LIMIT_USER_DATA + 2)
static_assert(PIECES_MAX >= 6, "room for vendor-data");

struct pieces {
    struct piece list[PIECES_MAX];
    size_t count;
};

static void
pieces_clear(struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        buffer_clear(&pieces->list[i].data);
}

#define cleanup_pieces __attribute__((cleanup(pieces_clear)))

/* Omits pieces without content. */
static void
add_piece(struct pieces *pieces, struct buffer *data, const char *merge_type)
{
    if (user_data_is_empty(data->data, data->size))
        return;
    assert(pieces->count < PIECES_MAX);
    pieces->list[pieces->count++] =
        (struct piece){.data = steal_buffer(data), .merge_type = merge_type};
}

static void
add_text(struct pieces *pieces, const char *text, const char *merge_type)
{
    cleanup_buffer struct buffer data = {0};

    buffer_append_string(&data, text);
    add_piece(pieces, &data, merge_type);
}

/* Adds the pieces so far to the instance-id. */
static void
cover_pieces(struct instance_id *id, enum request_cover cover, const char *name,
             const struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++)
        instance_id_add(id, cover, name, &pieces->list[i].data);
}

/* --- MIME ------------------------------------------------------------------------- */

#define BOUNDARY "==virt-seed-"

/* Return: a boundary that is not in any of the pieces, owned by the caller (free): its
 * number is higher than any that follows BOUNDARY in them. */
static char *
choose_boundary(const struct pieces *pieces)
{
    unsigned long number = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct buffer *data = &pieces->list[i].data;
        const char *at = data->data;
        const char *end = data->data + data->size;

        while ((at = memmem(at, (size_t)(end - at), BOUNDARY, strlen(BOUNDARY)))) {
            unsigned long found;

            at += strlen(BOUNDARY);
            found = strtoul(at, NULL, 10);
            if (found >= number && found < ULONG_MAX)
                number = found + 1;
        }
    }
    return xasprintf(BOUNDARY "%lu==", number);
}

/* Return: whether a message may contain the data as they are. Python's email module takes
 * text that is not ASCII for Latin-1 there, and a carriage return could get lost. */
static bool
is_plain(const struct buffer *data)
{
    for (size_t i = 0; i < data->size; i++) {
        char c = data->data[i];

        if (!isprint((unsigned char)c) && c != '\n' && c != '\t')
            return false;
    }
    return true;
}

static void
append_piece(struct buffer *buffer, const struct piece *piece, size_t number)
{
    const struct buffer *data = &piece->data;
    const bool plain = is_plain(data);
    enum user_data_kind kind = user_data_kind(data->data, data->size);

    if (kind == USER_DATA_MIME) {
        buffer_append(buffer, data->data, data->size);
        buffer_append_string(buffer, "\n");
        return;
    }
    buffer_printf(buffer, "Content-Type: %s; charset=\"utf-8\"\n",
                  user_data_type(data->data, data->size));
    /* cloudbase-init runs no script without a name. cloud-init numbers its scripts itself:
     * a name could be that of another. */
    if (kind == USER_DATA_WINDOWS_SCRIPT)
        buffer_printf(
            buffer, "Content-Disposition: attachment; filename=\"script-%zu\"\n", number);
    if (!plain)
        buffer_append_string(buffer, "Content-Transfer-Encoding: base64\n");
    if (piece->merge_type)
        buffer_printf(buffer, "Merge-Type: %s\n", piece->merge_type);
    buffer_append_string(buffer, "\n");
    if (plain) {
        buffer_append(buffer, data->data, data->size);
        buffer_append_string(buffer, "\n");
        return;
    }
    base64_encode(buffer, data->data, data->size, BASE64_MIME_LINE);
}

/* Return: whether cloud-init would take the document for a damaged message. */
static bool
is_mistaken_for_mime(const struct buffer *data)
{
    return user_data_mentions_mime(data->data, data->size) && !is_plain(data) &&
           user_data_kind(data->data, data->size) != USER_DATA_MIME;
}

/* Replaces gzip by its content, if it has none, is not alone or could be misread. */
static int
unpack(struct pieces *pieces, struct failure **failure)
{
    size_t total = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        struct buffer *data = &pieces->list[i].data;
        cleanup_buffer struct buffer content = {0};

        if (user_data_kind(data->data, data->size) != USER_DATA_GZIP)
            continue;
        if (user_data_unpack(&content, data->data, data->size, failure) < 0)
            return -1;
        total += content.size;
        if (total > LIMIT_SEED)
            return failure_set(failure, FAILURE_LIMIT,
                               "gzip holds more than %lu MiB in all when decompressed\n"
                               "let the guest fetch large files itself",
                               LIMIT_SEED / MIB);
        if (user_data_is_empty(content.data, content.size)) {
            data->size = 0;
        } else if (pieces->count > 1 || is_mistaken_for_mime(&content)) {
            buffer_clear(data);
            *data = steal_buffer(&content);
        }
    }
    return 0;
}

/* A single piece is the document itself; several become a message. */
static int
combine(struct buffer *buffer, struct pieces *pieces, const char *element,
        struct failure **failure)
{
    cleanup_free char *boundary = NULL;

    if (unpack(pieces, failure) < 0)
        return failure_prefix(failure, "%s", element);
    if (pieces->count == 0)
        return 0;
    if (pieces->count == 1 && !is_mistaken_for_mime(&pieces->list[0].data)) {
        *buffer = steal_buffer(&pieces->list[0].data);
        return 0;
    }
    boundary = choose_boundary(pieces);
    buffer_printf(buffer,
                  "Content-Type: multipart/mixed; boundary=\"%s\"\n"
                  "MIME-Version: 1.0\n"
                  "\n",
                  boundary);
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->list[i].data.size == 0)
            continue;
        buffer_printf(buffer, "--%s\n", boundary);
        append_piece(buffer, &pieces->list[i], i + 1);
    }
    buffer_printf(buffer, "--%s--\n", boundary);
    return 0;
}

/* --- the documents ---------------------------------------------------------------- */

int
combine_user_data(struct buffer *buffer, struct request *request, struct instance_id *id,
                  struct failure **failure)
{
    cleanup_pieces struct pieces pieces = {0};
    cleanup_buffer struct buffer generated = {0};
    cleanup_buffer struct buffer script = {0};
    struct part *first = parts_find(&request->parts, PART_USER_DATA);

    if (request->raw && first) {
        instance_id_add(id, COVER_USER_DATA, "user-data", &first->data);
        *buffer = steal_buffer(&first->data);
        return 0;
    }
    cloud_config_write(&generated, request, id);
    if (request->initialization && request->initialization->custom_script) {
        const struct part *custom = request->initialization->custom_script;
        const struct buffer *data = &custom->data;

        if (data->size > 0 && !custom->masked &&
            user_data_lacks_header(data->data, data->size))
            buffer_append_string(&script, "#cloud-config\n");
        buffer_append(&script, data->data, data->size);
        add_piece(&pieces, &script, NULL);
    }
    for (struct part *part = first; part; part = parts_next(&request->parts, part))
        add_piece(&pieces, &part->data, NULL);
    cover_pieces(id, COVER_USER_DATA, "user-data", &pieces);
    add_piece(&pieces, &generated, APPEND);
    return combine(buffer, &pieces, "<user-data>", failure);
}

int
combine_vendor_data(struct buffer *buffer, struct request *request,
                    struct instance_id *id, struct failure **failure)
{
    cleanup_pieces struct pieces pieces = {0};

    parts_foreach(part, &request->parts, PART_VENDOR_DATA) {
        if (!part->of_host)
            add_piece(&pieces, &part->data, NULL);
    }
    /* Changes to the host's vendor-data or to the reporter must not set up all guests
     * again. */
    cover_pieces(id, COVER_VENDOR_DATA, "vendor-data", &pieces);
    parts_foreach(part, &request->parts, PART_VENDOR_DATA) {
        if (part->of_host)
            add_piece(&pieces, &part->data, PREPEND);
    }
    /* cloud-init also reads the setting from the instance's stored vendor-data
     * (helpers.py, ConfigMerger). In user-data, its own schema would reject it. */
    if (request->cache)
        add_text(&pieces, "#cloud-config\nmanual_cache_clean: true\n", APPEND);
    if (request->new_machine_id)
        add_text(&pieces, machine_id_script, NULL);
    if (request_wants_report(request))
        add_text(&pieces, reporter_script, NULL);
    return combine(buffer, &pieces, "<vendor-data>", failure);
}
