/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: all parts of the message are text/plain, so cloud-init examines each as if
 * it were the whole document (user_data.py, find_ctype). Only gzip has its own type, and
 * a user's MIME message becomes a part unchanged, with its own parts.
 */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

#include "base/limits.h"
#include "base/memory.h"
#include "seed/seed.h"
#include "seed/writers.h"

/* The user's, the custom script, the generated one; the domain's own vendor-data, the
 * host's, its default user, how to cache, the new machine-id, the reporter. */
#define PIECES_MAX (LIMIT_USER_DATA + 5)

/* A line of base64 (RFC 2045, section 6.8), in bytes before encoding. */
#define BASE64_LINE 57

/* Adds missing keys and appends to lists, but replaces nothing. There is no "str()",
 * because cloud-init's merger of strings would replace a string with a value of another
 * type (users: "a,b" with a list). */
#define APPEND "dict(recurse_list)+list(append)"
#define PREPEND "dict(recurse_list)+list(prepend)"

/*
 * The reporter: a script that runs in the guest next to cloud-init and writes lines of
 * JSON to the virtio port of the domain's report channel (wire/wire.h):
 *
 *   {"virt-seed":1,"boot":"BOOT-ID","status":STATUS}
 *       whenever a stage starts or ends
 *   {"virt-seed":1,"boot":"BOOT-ID","status":STATUS,"result":RESULT}
 *       once, at the end
 *
 * An empty line comes first. STATUS and RESULT are cloud-init's own status.json and
 * result.json (cmd/main.py, status_wrapper); BOOT-ID is the kernel's random/boot_id. It
 * is a boothook, which cloud-init runs at every boot.
 */
static const char reporter_script[] = "#cloud-boothook\n"
#include "seed/reporter-script.h"
    ;

/* Another boothook, which acts at the first boot of an instance. */
static const char machine_id_script[] = "#cloud-boothook\n"
#include "seed/machine-id-script.h"
    ;

struct piece {
    struct buffer data;
    const char *merge_type; /* NULL: cloud-init's default */
};

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

/* Omits empty pieces. */
static void
add_piece(struct pieces *pieces, struct buffer *data, const char *merge_type)
{
    if (data->size == 0)
        return;
    assert(pieces->count < PIECES_MAX);
    pieces->list[pieces->count++] =
        (struct piece){.data = steal_buffer(data), .merge_type = merge_type};
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

static void
append_piece(struct buffer *buffer, const struct piece *piece)
{
    const struct buffer *data = &piece->data;
    const char *kind = user_data_kind(data->data, data->size);
    bool plain = true;

    if (strcmp(kind, "MIME") == 0) {
        buffer_append(buffer, data->data, data->size);
        buffer_append_string(buffer, "\n");
        return;
    }
    /* Python's email module takes text that is not ASCII for Latin-1 here, and a carriage
     * return could get lost. */
    for (size_t i = 0; i < data->size && plain; i++) {
        unsigned char c = (unsigned char)data->data[i];

        plain = c < 0x7f && (c >= ' ' || c == '\n' || c == '\t');
    }
    buffer_append_string(buffer, strcmp(kind, "gzip") == 0
                                     ? "Content-Type: application/gzip\n"
                                     : "Content-Type: text/plain; charset=\"utf-8\"\n");
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
    for (size_t at = 0; at < data->size; at += BASE64_LINE) {
        size_t size = data->size - at < BASE64_LINE ? data->size - at : BASE64_LINE;
        char line[BASE64_ENCODE_RAW_LENGTH(BASE64_LINE)];

        base64_encode_raw(line, size, (const uint8_t *)data->data + at);
        buffer_append(buffer, line, BASE64_ENCODE_RAW_LENGTH(size));
        buffer_append_string(buffer, "\n");
    }
}

/* A single piece is the document itself; several become a message. */
static void
combine(struct buffer *buffer, struct pieces *pieces)
{
    cleanup_free char *boundary = NULL;

    if (pieces->count == 1)
        *buffer = steal_buffer(&pieces->list[0].data);
    if (pieces->count <= 1)
        return;
    boundary = choose_boundary(pieces);
    buffer_printf(buffer,
                  "Content-Type: multipart/mixed; boundary=\"%s\"\n"
                  "MIME-Version: 1.0\n"
                  "\n",
                  boundary);
    for (size_t i = 0; i < pieces->count; i++) {
        buffer_printf(buffer, "--%s\n", boundary);
        append_piece(buffer, &pieces->list[i]);
    }
    buffer_printf(buffer, "--%s--\n", boundary);
}

/* --- the documents ---------------------------------------------------------------- */

int
combine_user_data(struct buffer *buffer, struct request *request, struct instance_id *id,
                  struct failure **failure)
{
    cleanup_pieces struct pieces pieces = {0};
    cleanup_buffer struct buffer generated = {0};
    cleanup_buffer struct buffer script = {0};

    if (cloud_config_write(&generated, request, id, failure) < 0)
        return -1;
    if (request->initialization && request->initialization->custom_script) {
        const struct part *custom = request->initialization->custom_script;
        const struct buffer *data = &custom->data;

        /* It may be a cloud-config without the header, which oVirt's engine adds. */
        if (data->size > 0 && !custom->masked &&
            strcmp(user_data_kind(data->data, data->size), "unknown") == 0)
            buffer_append_string(&script, "#cloud-config\n");
        buffer_append(&script, data->data, data->size);
        add_piece(&pieces, &script, NULL);
    }
    for (struct part *part = parts_find(&request->parts, PART_USER_DATA); part;
         part = parts_next(&request->parts, part))
        add_piece(&pieces, &part->data, NULL);
    cover_pieces(id, COVER_USER_DATA, "user-data", &pieces);
    add_piece(&pieces, &generated, APPEND);
    combine(buffer, &pieces);
    return 0;
}

void
combine_vendor_data(struct buffer *buffer, struct request *request,
                    struct instance_id *id)
{
    cleanup_pieces struct pieces pieces = {0};
    cleanup_buffer struct buffer cache = {0};
    cleanup_buffer struct buffer machine_id = {0};
    cleanup_buffer struct buffer reporter = {0};

    for (struct part *part = parts_find(&request->parts, PART_VENDOR_DATA); part;
         part = parts_next(&request->parts, part)) {
        if (!part->of_host)
            add_piece(&pieces, &part->data, NULL);
    }
    /* Changes to the host's vendor-data or to the reporter must not set up all guests
     * again. */
    cover_pieces(id, COVER_VENDOR_DATA, "vendor-data", &pieces);
    for (struct part *part = parts_find(&request->parts, PART_VENDOR_DATA); part;
         part = parts_next(&request->parts, part)) {
        if (part->of_host)
            add_piece(&pieces, &part->data, PREPEND);
    }
    /* cloud-init also reads the setting from the instance's stored vendor-data
     * (helpers.py, ConfigMerger). In user-data, its own schema would reject it. */
    if (request->cache)
        buffer_append_string(&cache, "#cloud-config\nmanual_cache_clean: true\n");
    add_piece(&pieces, &cache, APPEND);
    if (request->new_machine_id)
        buffer_append(&machine_id, machine_id_script, sizeof(machine_id_script) - 1);
    add_piece(&pieces, &machine_id, NULL);
    if (request_wants_report(request))
        buffer_append(&reporter, reporter_script, sizeof(reporter_script) - 1);
    add_piece(&pieces, &reporter, NULL);
    combine(buffer, &pieces);
}
