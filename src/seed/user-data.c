/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#define ZLIB_CONST
#include <zlib.h>

#include "domain/part.h"
#include "seed/content.h"
#include "seed/yaml.h"

/* --- gzip (RFC 1952), which cloud-init takes, too (util.decomp_gzip) -------------- */

/* zlib's code for "gzip alone, with its largest window". */
#define GZIP_WINDOW (MAX_WBITS + 16)
#define CHUNK (64 * KIB)

static bool
gzip_is(const char *data, size_t size)
{
    return size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

int
user_data_unpack(struct buffer *buffer, const char *data, size_t size,
                 struct failure **failure)
{
    z_stream stream = {.next_in = (const Bytef *)data, .avail_in = (uInt)size};
    int code = inflateInit2(&stream, GZIP_WINDOW);

    if (code != Z_OK)
        abort();
    while (code == Z_OK && buffer->size <= LIMIT_SEED) {
        stream.next_out = (Bytef *)buffer_reserve(buffer, CHUNK);
        stream.avail_out = CHUNK;
        code = inflate(&stream, Z_NO_FLUSH);
        /* Another member may follow, if something was appended to the file, or zeros, if
         * it was padded to whole blocks. */
        while (code == Z_STREAM_END && stream.avail_in > 0 && *stream.next_in == '\0') {
            stream.next_in++;
            stream.avail_in--;
        }
        if (code == Z_STREAM_END && stream.avail_in > 0)
            code = inflateReset(&stream);
        buffer->size += CHUNK - stream.avail_out;
        buffer->data[buffer->size] = '\0';
    }
    inflateEnd(&stream);
    if (buffer->size > LIMIT_SEED)
        return failure_set(failure, FAILURE_LIMIT,
                           "holds more than %lu MiB when decompressed\n"
                           "let the guest fetch large files itself",
                           LIMIT_SEED / MIB);
    if (code == Z_STREAM_END)
        return 0;
    return failure_set(failure, FAILURE_USER_DATA,
                       "begins as gzip and is damaged or cut off\n"
                       "compress it again, and see 'gzip --test FILE'");
}

/* --- headers ------------------------------------------------------------------------ */

/* cloud-init skips leading white space, ignores case, and takes the longest header that
 * matches. */
struct header {
    const char *text;
    enum user_data_kind kind;
    const char *type; /* of a part of MIME */
};

static const struct header headers[] = {
    {"#cloud-config-archive", USER_DATA_ARCHIVE, "text/cloud-config-archive"},
    {"#cloud-config-jsonp", USER_DATA_JSONP, "text/cloud-config-jsonp"},
    {"#cloud-config", USER_DATA_CLOUD_CONFIG, "text/cloud-config"},
    {"#cloud-boothook", USER_DATA_BOOTHOOK, "text/cloud-boothook"},
    {"#include-once", USER_DATA_INCLUDE_ONCE, "text/x-include-once-url"},
    {"#include", USER_DATA_INCLUDE, "text/x-include-url"},
    {"#part-handler", USER_DATA_PART_HANDLER, "text/part-handler"},
    {"#!", USER_DATA_SCRIPT, "text/x-shellscript"},
    {"## template: jinja", USER_DATA_TEMPLATE, "text/jinja2"},
    {"rem cmd", USER_DATA_WINDOWS_SCRIPT, "text/x-shellscript"},
    {"#ps1_sysnative", USER_DATA_WINDOWS_SCRIPT, "text/x-shellscript"},
    {"#ps1_x86", USER_DATA_WINDOWS_SCRIPT, "text/x-shellscript"},
    {"#ps1", USER_DATA_WINDOWS_SCRIPT, "text/x-shellscript"},
    {"<powershell>", USER_DATA_WINDOWS_SCRIPT, "text/x-shellscript"},
    {"<script>", USER_DATA_WINDOWS_SCRIPT, "text/x-shellscript"},
};

static bool
begins_with(const char *data, size_t size, const char *text)
{
    size_t length = strlen(text);

    return size >= length && strncasecmp(data, text, length) == 0;
}

/* How much of the data cloud-init searches for a MIME header
 * (user_data.convert_string). */
#define MIME_WINDOW 4096

bool
user_data_mentions_mime(const char *data, size_t size)
{
    static const char word[] = "mime-version";
    const size_t word_length = sizeof(word) - 1;
    const char *end = data + (size < MIME_WINDOW ? size : MIME_WINDOW);
    const char *colon = data;

    /* Colons are rarer than letters. */
    while ((colon = memchr(colon, ':', (size_t)(end - colon)))) {
        if ((size_t)(colon - data) >= word_length &&
            strncasecmp(colon - word_length, word, word_length) == 0)
            return true;
        colon++;
    }
    return false;
}

/* cloud-init parses other data, too, but then all of it is the body, and keeps its
 * kind. */
static bool
is_mime(const char *data, size_t size)
{
    size_t length = 0;

    if (!user_data_mentions_mime(data, size))
        return false;
    /* To Python's email parser (feedparser.headerRE), the body begins at the first line
     * that is not a header; a line that begins with white space continues a header. */
    while (length < size && isgraph((unsigned char)data[length]) && data[length] != ':')
        length++;
    if (*data == ' ' || *data == '\t' || begins_with(data, size, "From "))
        return true;
    return length < size && data[length] == ':';
}

bool
user_data_lacks_header(const char *data, size_t size)
{
    const enum user_data_kind kind = user_data_kind(data, size);

    /* A key at the top looks like a header of a message. */
    if (kind == USER_DATA_MIME)
        return !begins_with(data, size, "content-") &&
               !begins_with(data, size, "mime-version:");
    return kind == USER_DATA_UNKNOWN;
}

/* cloudbase-init does not ignore case, and wants a blank after a word (userdatautils.py,
 * _SCRIPTS). */
static bool
begins_with_header(const char *data, size_t size, const struct header *header)
{
    const size_t length = strlen(header->text);

    if (header->kind != USER_DATA_WINDOWS_SCRIPT)
        return begins_with(data, size, header->text);
    if (size <= length || memcmp(data, header->text, length) != 0)
        return false;
    return data[length - 1] == '>' || isspace((unsigned char)data[length]);
}

static size_t
leading_space(const char *data, size_t size)
{
    size_t length = 0;

    while (length < size && strchr(" \t\r\n\v\f", data[length]) && data[length])
        length++;
    return length;
}

/* Return: the header after white space, whose length it sets, or NULL. */
static const struct header *
find_header(const char *data, size_t size, size_t *space)
{
    *space = leading_space(data, size);
    if (*space == size)
        return NULL;
    data += *space;
    size -= *space;
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        if (begins_with_header(data, size, &headers[i]))
            return &headers[i];
    }
    return NULL;
}

enum user_data_kind
user_data_kind(const char *data, size_t size)
{
    size_t space;
    const struct header *header = find_header(data, size, &space);

    if (space == size)
        return USER_DATA_NOTHING;
    if (gzip_is(data, size))
        return USER_DATA_GZIP;
    if (is_mime(data, size))
        return USER_DATA_MIME;
    return header ? header->kind : USER_DATA_UNKNOWN;
}

const char *
user_data_kind_name(enum user_data_kind kind)
{
    static const char *const names[] = {
        [USER_DATA_NOTHING] = "nothing",
        [USER_DATA_GZIP] = "gzip",
        [USER_DATA_MIME] = "MIME",
        [USER_DATA_CLOUD_CONFIG] = "cloud-config",
        [USER_DATA_ARCHIVE] = "cloud-config-archive",
        [USER_DATA_JSONP] = "cloud-config-jsonp",
        [USER_DATA_BOOTHOOK] = "boothook",
        [USER_DATA_INCLUDE] = "include",
        [USER_DATA_INCLUDE_ONCE] = "include-once",
        [USER_DATA_PART_HANDLER] = "part-handler",
        [USER_DATA_SCRIPT] = "script",
        [USER_DATA_TEMPLATE] = "jinja template",
        [USER_DATA_WINDOWS_SCRIPT] = "Windows script",
        [USER_DATA_UNKNOWN] = "unknown",
    };

    return names[kind];
}

bool
user_data_is_empty(const char *data, size_t size)
{
    size_t space;
    const struct header *header = find_header(data, size, &space);

    if (space == size)
        return true;
    return header && header->kind == USER_DATA_CLOUD_CONFIG && yaml_is_empty(data, size);
}

const char *
user_data_type(const char *data, size_t size)
{
    size_t space;
    const struct header *header = find_header(data, size, &space);

    return header ? header->type : "text/plain";
}

enum user_data_kind
user_data_kind_of_type(const char *type)
{
    static const char per[] = "text/x-shellscript-per-";

    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        if (strcasecmp(headers[i].type, type) == 0)
            return headers[i].kind;
    }
    return strncasecmp(type, per, strlen(per)) == 0 ? USER_DATA_SCRIPT
                                                    : USER_DATA_UNKNOWN;
}

/* cloud-init accepts a template that expands to a cloud-config or a script
 * (handlers/jinja_template.py). If it begins with a tag of jinja's, only the guest can
 * tell. */
static int
check_template(const char *data, size_t size, struct template_keys *keys,
               struct failure **failure)
{
    const char *end = memchr(data, '\n', size);
    const char *line = end ? end : data + size;
    const size_t rest = size - (size_t)(line - data);
    size_t space;
    const struct header *header = find_header(line, rest, &space);
    const enum user_data_kind kind = header ? header->kind : USER_DATA_UNKNOWN;

    if (template_check(data, size, keys, failure) < 0)
        return -1;
    if (space == rest || line[space] == '{')
        return 0;
    /* Without tags, rendering changes nothing, and jinja's header is a comment in YAML. */
    if (kind == USER_DATA_CLOUD_CONFIG && !memmem(data, size, "{{", 2) &&
        !memmem(data, size, "{%", 2) && !memmem(data, size, "{#", 2))
        return yaml_check(data, size, YAML_CLOUD_CONFIG, failure);
    if (kind == USER_DATA_CLOUD_CONFIG || kind == USER_DATA_SCRIPT ||
        kind == USER_DATA_BOOTHOOK)
        return 0;
    return failure_set(failure, FAILURE_USER_DATA,
                       "is a template without a header of its own, and would be "
                       "ignored\n"
                       "put '#cloud-config' or '#!' on the second line");
}

/* A part's type says what it is, so its header may be missing. */
static int
check_piece(void *context, const struct user_data_piece *piece, struct failure **failure)
{
    if (piece->kind == USER_DATA_CLOUD_CONFIG)
        return yaml_check(piece->data, piece->size, YAML_CLOUD_CONFIG, failure);
    /* Some versions of cloud-init apply a part of type text/jinja2 without a header, too. */
    if (piece->kind != USER_DATA_TEMPLATE ||
        user_data_kind(piece->data, piece->size) != USER_DATA_TEMPLATE)
        return 0;
    return check_template(piece->data, piece->size, context, failure);
}

/* Return: whether the text is user-data in base64, which some tools want. */
static bool
is_encoded(const char *data, size_t size)
{
    cleanup_free char *text = xstrndup(data, size);
    cleanup_buffer struct buffer decoded = {0};
    size_t space;

    if (base64_decode(&decoded, text) < 0)
        return false;
    return gzip_is(decoded.data, decoded.size) ||
           find_header(decoded.data, decoded.size, &space) ||
           is_mime(decoded.data, decoded.size);
}

static int
check_plain(const char *data, size_t size, bool windows, struct template_keys *keys,
            struct failure **failure)
{
    size_t space;
    const struct header *header = find_header(data, size, &space);
    bool mime;

    if (!utf8_is_valid(data, size))
        return failure_set(failure, FAILURE_USER_DATA,
                           "is not UTF-8, which cloud-init drops\n"
                           "save it as UTF-8, or fetch binary data in the guest");
    if (space == size)
        return 0;
    mime = is_mime(data, size);
    if (mime && !header) {
        for (size_t i = 0; i < size; i++) {
            if ((unsigned char)data[i] >= 0x80)
                return failure_set(failure, FAILURE_USER_DATA,
                                   "is MIME with characters that are not ASCII, which "
                                   "cloud-init would damage\n"
                                   "encode its parts with base64");
        }
        return user_data_walk(data, size, check_piece, keys, failure);
    }
    if (mime)
        return failure_set(
            failure, FAILURE_USER_DATA,
            "has the word 'mime-version:': cloud-init takes it for MIME, and "
            "drops the line of '%s' as a header\n"
            "begin the first line with '%s', and remove ':' from it",
            header->text, header->text);
    if (!header && begins_with(data + space, size - space, BYTE_ORDER_MARK))
        return failure_set(failure, FAILURE_USER_DATA,
                           "begins with a byte order mark, which hides its header from "
                           "cloud-init\n"
                           "save it as UTF-8 without the byte order mark");
    if (!header && (begins_with(data + space, size - space, "# cloud-config") ||
                    begins_with(data + space, size - space, "# !")))
        return failure_set(failure, FAILURE_USER_DATA,
                           "begins with '# ' and a space before the header's word\n"
                           "remove the space: '#cloud-config'");
    if (!header && is_encoded(data, size))
        return failure_set(failure, FAILURE_USER_DATA,
                           "is base64, which cloud-init would ignore\n"
                           "say so, with encoding=\"base64\", or decode it");
    if (!header)
        return failure_set(
            failure, FAILURE_USER_DATA,
            "begins with no header that cloud-init knows, and would be ignored\n"
            "begin with '#cloud-config', '#!', '#include', '#cloud-boothook', or another "
            "of cloud-init's formats; another program's file goes into "
            "<user-data format=\"raw\">");
    if (header->kind == USER_DATA_CLOUD_CONFIG)
        return yaml_check(data, size, YAML_CLOUD_CONFIG, failure);
    if (header->kind == USER_DATA_ARCHIVE)
        return user_data_walk(data, size, check_piece, keys, failure);
    if (header->kind == USER_DATA_WINDOWS_SCRIPT && !windows)
        return failure_set(failure, FAILURE_USER_DATA,
                           "begins with '%s', which cloudbase-init takes on a "
                           "ConfigDrive\n"
                           "set datasource=\"configdrive\" for Windows",
                           header->text);
    if (header->kind != USER_DATA_SCRIPT && header->kind != USER_DATA_TEMPLATE &&
        header->kind != USER_DATA_WINDOWS_SCRIPT)
        return 0;
    if (space > 0)
        return failure_set(failure, FAILURE_USER_DATA,
                           "has white space before '%s'\n"
                           "let it begin in the first column of the first line",
                           header->text);
    if (header->kind == USER_DATA_TEMPLATE)
        return check_template(data, size, keys, failure);
    return 0;
}

int
user_data_check(const char *data, size_t size, bool windows, struct template_keys *keys,
                struct failure **failure)
{
    cleanup_buffer struct buffer content = {0};

    if (!gzip_is(data, size))
        return check_plain(data, size, windows, keys, failure);
    if (user_data_unpack(&content, data, size, failure) < 0)
        return -1;
    if (content.size == 0)
        return 0;
    return check_plain(content.data, content.size, windows, keys, failure);
}
