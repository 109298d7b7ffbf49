/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are what a maker says that was taken over. What the keeper takes
 * of it keeps the rules of host/exchange.h, and stays the same if it is said again.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"
#include "fuzz.h"
#include "host/datasource.h"
#include "maker/maker.h"

/* Of the image, which is the same for all verdicts. */
#define IMAGE_SIZE 2048

static int
image(void)
{
    static int fd = -1;

    if (fd >= 0)
        return fd;
    fd = memfd_create("image", MFD_CLOEXEC);
    fuzz_require(fd >= 0 && ftruncate(fd, IMAGE_SIZE) == 0);
    return fd;
}

static bool
is_harmless(const char *text)
{
    cleanup_free char *copy = xstrdup(text);

    utf8_replace_controls(copy);
    return strcmp(copy, text) == 0 && strlen(text) <= LIMIT_MESSAGE &&
           utf8_is_valid(text, strlen(text));
}

static void
check_failure(const struct failure *failure)
{
    if (!failure)
        return;
    fuzz_require(failure->code <= FAILURE_CODE_LAST && failure->line >= 0);
    fuzz_require(is_harmless(failure->message));
    fuzz_require(!failure->hint || is_harmless(failure->hint));
}

/* --- needs ------------------------------------------------------------------------------ */

static void
check_need(const struct need *need)
{
    const bool has_name = need->kind != NEED_HOST_KEY && need->kind != NEED_DEFINITION;

    fuzz_require(need->kind <= NEED_DEFINITION);
    fuzz_require(has_name == (need->name != NULL));
    fuzz_require((need->kind == NEED_SECRET) == (need->keys[0] != NULL));
    fuzz_require(need->kind != NEED_LABEL || need->name[0] == '/');
    /* The answer is the keeper's. */
    fuzz_require(!need->failure && !need->word && !need->entries && !need->entry_count);
}

/* One that wires a definition may ask for less. */
static void
try_wiring_needs(const struct buffer *content, bool is_taken)
{
    cleanup_needs struct needs needs = {0};

    if (!needs_get(&needs, MAKER_WIRE, content))
        return;
    fuzz_require(is_taken);
    for (size_t i = 0; i < needs.count; i++)
        fuzz_require(needs.list[i].kind == NEED_LABEL);
}

static void
try_needs(const struct buffer *content)
{
    cleanup_needs struct needs needs = {0};
    cleanup_buffer struct buffer again = {0};
    const bool is_taken = needs_get(&needs, MAKER_PREPARE, content);

    try_wiring_needs(content, is_taken);
    if (!is_taken)
        return;
    fuzz_require(needs.count <= LIMIT_PARTS + LIMIT_DEVICES);
    for (size_t i = 0; i < needs.count; i++)
        check_need(&needs.list[i]);
    needs_put(&needs, &again);
    fuzz_require(buffer_is_same(&again, content));
}

/* --- the verdict ------------------------------------------------------------------------ */

/* Documents must not lead out of the domain's directory. */
static bool
is_inside(const char *path)
{
    for (;;) {
        const size_t length = strcspn(path, "/");

        if (length == 0 || (length == 1 && path[0] == '.') ||
            (length == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        if (!path[length])
            return true;
        path += length + 1;
    }
}

static void
check_served(const struct publication *publication)
{
    fuzz_require(text_is_hex(publication->served.token, IMDS_TOKEN_LENGTH));
    fuzz_require(publication->served.mac_count <= LIMIT_NICS);
    for (size_t i = 0; i < publication->served.mac_count; i++) {
        fuzz_require(imds_is_mac(publication->served.macs[i].mac));
        fuzz_require(publication->served.macs[i].link <= IMDS_LINK_USER);
    }
    fuzz_require(publication->served.seed->document_count <= LIMIT_SERVED_DOCUMENTS);
    for (size_t i = 0; i < publication->served.seed->document_count; i++) {
        const struct document *document = &publication->served.seed->documents[i];

        fuzz_require(is_inside(document->path) && is_harmless(document->path));
        fuzz_require(strcmp(document->path, IMDS_ACCESS) != 0);
        fuzz_require(seed_find_document(publication->served.seed, document->path) ==
                     document);
    }
}

static void
check_publication(const struct publication *publication)
{
    fuzz_require(publication->report <= REPORT_BY_SHIM);
    fuzz_require(!publication->has_image || !publication->served.token);
    fuzz_require(!publication->shim || publication->has_image);
    fuzz_require(publication->shim <= SHIM_ORDER_NOCLOUD);
    if (publication->served.token)
        check_served(publication);
}

static void
check_verdict(const struct verdict *verdict)
{
    const char *public = verdict->key.public;

    fuzz_require(verdict->kind <= VERDICT_SEED);
    fuzz_require(verdict->note_count <= LIMIT_NOTES);
    for (size_t i = 0; i < verdict->note_count; i++)
        fuzz_require(is_harmless(verdict->notes[i]));
    fuzz_require((verdict->kind == VERDICT_REFUSE) == (verdict->refusal != NULL));
    check_failure(verdict->refusal);
    fuzz_require(!verdict->hint_if_wired || is_harmless(verdict->hint_if_wired));
    check_publication(&verdict->publication);
    fuzz_require(!public || strchr(public, '\n') == public + strlen(public) - 1);
    fuzz_require(verdict->key.private.size == 0 || public);
    fuzz_require(!verdict->digest || text_is_hex(verdict->digest, DIGEST_LENGTH));
    fuzz_require(verdict->next_record.size <= LIMIT_RECORD);
}

/* Return: whether it is taken. `again` gets what the same verdict is as a message. */
static bool
try_verdict(const struct buffer *content, enum key_right right, struct buffer *again)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;

    verdict.publication.output = image();
    if (!verdict_get(&verdict, right, content))
        return false;
    check_verdict(&verdict);
    fuzz_require(right != KEY_NONE || !verdict.key.public);
    fuzz_require(right == KEY_TO_MAKE || verdict.key.private.size == 0);
    verdict_put(&verdict, again);
    return true;
}

static void
try_verdicts(const struct buffer *content)
{
    cleanup_buffer struct buffer first = {0};
    cleanup_buffer struct buffer second = {0};
    cleanup_buffer struct buffer third = {0};
    cleanup_buffer struct buffer fourth = {0};
    const bool is_taken = try_verdict(content, KEY_TO_MAKE, &first);
    const bool is_given = try_verdict(content, KEY_GIVEN, &third);

    /* Who has less of a right may say nothing more. */
    fuzz_require(!is_given || is_taken);
    fuzz_require(!try_verdict(content, KEY_NONE, &fourth) || is_given);
    if (!is_taken)
        return;
    /* Its texts are safe to show now. */
    fuzz_require(try_verdict(&first, KEY_TO_MAKE, &second));
    fuzz_require(buffer_is_same(&first, &second));
}

/* --- results ---------------------------------------------------------------------------- */

static void
try_result(const struct buffer *content, enum maker_role role)
{
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer again = {0};

    if (!result_get(&result, role, &failure, content)) {
        fuzz_require(!failure);
        return;
    }
    check_failure(failure);
    /* The caller reads it as a text. */
    fuzz_require(strlen(buffer_text(&result.text)) == result.text.size);
    fuzz_require(result.text.size <=
                 (role == MAKER_WIRE ? LIMIT_DOMAIN_XML : LIMIT_RECORD));
    fuzz_require(role == MAKER_WIRE ? result.event == MAKER_EVENT_NONE
                                    : result.event <= MAKER_EVENT_FAILED);
    fuzz_require(result.change_count <= (role == MAKER_WIRE ? LIMIT_WIRING_CHANGES : 0));
    for (size_t i = 0; i < result.change_count; i++)
        fuzz_require(is_harmless(result.changes[i]));
    if (failure)
        return;
    result_put(&result, NULL, &again);
    fuzz_require(again.size <= content->size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Borrowed, so that a sanitizer sees its end. */
    const struct buffer content = {.data = (char *)data, .size = size};

    try_needs(&content);
    try_verdicts(&content);
    try_result(&content, MAKER_REPORT);
    try_result(&content, MAKER_WIRE);
    return 0;
}
