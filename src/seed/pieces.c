/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes a document apart as cloud-init does (user_data.py): gzip, MIME as Python's email
 * package reads it, and the items of an archive.
 */
#include "config.h"

#include "domain/part.h"
#include "seed/content.h"
#include "seed/yaml.h"

struct walk {
    user_data_visit *visit;
    void *context;
    int count;
    size_t unpacked; /* bytes of all gzip so far */
};

/* A part of a message, and what its headers say. */
struct entity {
    const char *body;
    size_t size;
    char *type;     /* without parameters, in lower case */
    char *boundary; /* NULL if there is none */
    char *encoding; /* of the body, in lower case; NULL if there is none */
};

static void
entity_clear(struct entity *entity)
{
    free(entity->type);
    free(entity->boundary);
    free(entity->encoding);
}

static int
visit(struct walk *walk, enum user_data_kind kind, const char *data, size_t size,
      struct failure **failure)
{
    const struct user_data_piece piece = {
        .data = data, .size = size, .kind = kind, .number = ++walk->count};

    if (walk->count > LIMIT_PIECES)
        return failure_set(failure, FAILURE_LIMIT,
                           "has more than %d parts\nlet the guest fetch some of them",
                           LIMIT_PIECES);
    if (walk->visit(walk->context, &piece, failure) == 0)
        return 0;
    /* Which line of the whole document it is, is not known. */
    (*failure)->part_line = 0;
    return failure_prefix(failure, "part %d", walk->count);
}

/* --- headers ------------------------------------------------------------------------ */

/* Return: where the next line begins: after LF, CR or both. */
static const char *
next_line(const char *at, const char *end)
{
    while (at < end && *at != '\n' && *at != '\r')
        at++;
    if (end - at >= 2 && memcmp(at, "\r\n", 2) == 0)
        return at + 2;
    return at < end ? at + 1 : end;
}

/* Return: the text in lower case without white space around it, owned by the caller. */
static char *
tidy(const char *text, size_t length)
{
    char *word;

    while (length > 0 && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    word = xstrndup(text, length);
    for (char *c = word; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return word;
}

/* Return: the parameter of the header's value, owned by the caller, or NULL. */
static char *
find_boundary(const char *value)
{
    static const char name[] = "boundary";
    const char *at = value;

    while (*(at += strcspn(at, ";"))) {
        at++;
        at += strspn(at, " \t\r\n");
        if (strncasecmp(at, name, strlen(name)) != 0)
            continue;
        at += strlen(name);
        at += strspn(at, " \t\r\n");
        if (*at != '=')
            continue;
        at++;
        at += strspn(at, " \t\r\n");
        if (*at == '"')
            return xstrndup(at + 1, strcspn(at + 1, "\""));
        return xstrndup(at, strcspn(at, "; \t\r\n"));
    }
    return NULL;
}

static void
take_header(struct entity *entity, const char *line, size_t length)
{
    static const char type[] = "content-type:", encoding[] = "content-transfer-encoding:";
    cleanup_free char *text = xstrndup(line, length);

    if (!entity->type && strncasecmp(text, type, strlen(type)) == 0) {
        const char *value = text + strlen(type);

        entity->type = tidy(value, strcspn(value, ";"));
        entity->boundary = find_boundary(value);
    } else if (!entity->encoding && strncasecmp(text, encoding, strlen(encoding)) == 0) {
        entity->encoding = tidy(text + strlen(encoding), strlen(text + strlen(encoding)));
    }
}

/* The body begins after an empty line, or with the first that is no header. */
static void
read_headers(struct entity *entity, const char *data, size_t size)
{
    const char *end = data + size;

    while (data < end && *data != '\n' && *data != '\r') {
        const char *next = next_line(data, end);
        const char *name = data;

        while (name < end && isgraph((unsigned char)*name) && *name != ':')
            name++;
        if (name == end || *name != ':')
            break;
        while (next < end && (*next == ' ' || *next == '\t'))
            next = next_line(next, end);
        take_header(entity, data, (size_t)(next - data));
        data = next;
    }
    if (data < end && (*data == '\n' || *data == '\r'))
        data = next_line(data, end);
    entity->body = data;
    entity->size = (size_t)(end - data);
    if (!entity->type || !strchr(entity->type, '/')) {
        free(entity->type);
        entity->type = xstrdup("text/plain");
    }
}

/* --- bodies ------------------------------------------------------------------------- */

static void
decode_quoted_printable(struct buffer *buffer, const char *at, const char *end)
{
    while (at < end) {
        if (*at == '=' && end - at >= 3 && isxdigit((unsigned char)at[1]) &&
            isxdigit((unsigned char)at[2])) {
            const char digits[] = {at[1], at[2], '\0'};
            const char byte = (char)strtoul(digits, NULL, 16);

            buffer_append(buffer, &byte, 1);
            at += 3;
        } else if (*at == '=' && next_line(at, end) - at <= 3) {
            at = next_line(at, end);
        } else {
            buffer_append(buffer, at++, 1);
        }
    }
}

/* Return: whether the buffer has the body as it was before encoding. */
static bool
decode(struct buffer *buffer, const struct entity *entity)
{
    cleanup_free char *text = NULL;

    if (!entity->encoding || strcmp(entity->encoding, "7bit") == 0 ||
        strcmp(entity->encoding, "8bit") == 0 ||
        strcmp(entity->encoding, "binary") == 0) {
        buffer_append(buffer, entity->body, entity->size);
        return true;
    }
    if (strcmp(entity->encoding, "quoted-printable") == 0) {
        decode_quoted_printable(buffer, entity->body, entity->body + entity->size);
        return true;
    }
    if (strcmp(entity->encoding, "base64") != 0)
        return false;
    text = xstrndup(entity->body, entity->size);
    return base64_decode(buffer, text) == 0;
}

static bool
is_gzip_type(const char *type)
{
    return strncmp(type, "application/", strlen("application/")) == 0 &&
           (strstr(type, "gzip") || strstr(type, "compress") || strstr(type, "gunzip"));
}

static int read_archive(struct walk *walk, const char *data, size_t size,
                        struct failure **failure);

/* cloud-init goes by the content only if the type says nothing. */
static int
read_leaf(struct walk *walk, const struct entity *entity, struct failure **failure)
{
    cleanup_buffer struct buffer decoded = {0};
    cleanup_buffer struct buffer unpacked = {0};
    cleanup_failure struct failure *ignored = NULL;
    const bool known = decode(&decoded, entity);
    const char *type = entity->type;
    struct buffer *content = &decoded;
    enum user_data_kind kind;

    if (!known || strncmp(type, "message/", strlen("message/")) == 0)
        return visit(walk, USER_DATA_MIME, entity->body, entity->size, failure);
    if (is_gzip_type(type)) {
        if (walk->unpacked <= LIMIT_SEED)
            user_data_unpack(&unpacked, buffer_text(&decoded), decoded.size, &ignored);
        walk->unpacked += unpacked.size;
        if (walk->unpacked > LIMIT_SEED || ignored)
            return visit(walk, USER_DATA_GZIP, entity->body, entity->size, failure);
        content = &unpacked;
        type = "text/plain";
    }
    if (content->size == 0)
        return 0;
    if (strcmp(type, "text/plain") == 0)
        type = user_data_type(content->data, content->size);
    kind = user_data_kind_of_type(type);
    if (kind == USER_DATA_ARCHIVE)
        return read_archive(walk, content->data, content->size, failure);
    return visit(walk, kind, content->data, content->size, failure);
}

/* Return: the end of the boundary's line if it is one, else NULL. `is_last`: it ends the
 * message. */
static const char *
boundary_end(const char *line, const char *end, const char *boundary, bool *is_last)
{
    const size_t length = strlen(boundary);

    if ((size_t)(end - line) < length + 2 || memcmp(line, "--", 2) != 0 ||
        memcmp(line + 2, boundary, length) != 0)
        return NULL;
    line += 2 + length;
    *is_last = end - line >= 2 && memcmp(line, "--", 2) == 0;
    if (*is_last)
        line += 2;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    if (line < end && *line != '\n' && *line != '\r')
        return NULL;
    return next_line(line, end);
}

static int read_message(struct walk *walk, const char *data, size_t size, int depth,
                        struct failure **failure);

/* A last boundary before the first is none. */
static int
read_multipart(struct walk *walk, const struct entity *entity, int depth,
               struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    const char *end = entity->body + entity->size;
    const char *part = NULL;
    bool is_last = false;

    for (const char *line = entity->body; line < end && !is_last;) {
        const char *after = boundary_end(line, end, entity->boundary, &is_last);
        const char *last = line;

        if (!after) {
            line = next_line(line, end);
            continue;
        }
        if (!part && is_last)
            break;
        /* The line's end before it belongs to the boundary. */
        if (part && last > part && last[-1] == '\n')
            last--;
        if (part && last > part && last[-1] == '\r')
            last--;
        if (part && read_message(walk, part, (size_t)(last - part), depth, failure) < 0)
            return -1;
        part = after;
        line = after;
    }
    if (!part)
        return failure_set(
            failure, FAILURE_USER_DATA,
            "is MIME, and the boundary that its Content-Type names begins "
            "no part, so cloud-init would find none\n"
            "begin each part with a line of '--' and the boundary, and end "
            "the last with '--', the boundary and '--'");
    if (is_last)
        return 0;
    return read_message(walk, part, (size_t)(end - part), depth, failure);
}

static int
read_message(struct walk *walk, const char *data, size_t size, int depth,
             struct failure **failure) /* NOLINT(misc-no-recursion) */
{
    __attribute__((cleanup(entity_clear))) struct entity entity = {0};

    read_headers(&entity, data, size);
    if (strncmp(entity.type, "multipart/", strlen("multipart/")) != 0)
        return read_leaf(walk, &entity, failure);
    if (!entity.boundary)
        return failure_set(failure, FAILURE_USER_DATA,
                           "is MIME of several parts without a boundary, so cloud-init "
                           "would find none\n"
                           "name it: 'Content-Type: multipart/mixed; boundary=\"X\"'");
    if (depth == LIMIT_MIME_DEPTH)
        return visit(walk, USER_DATA_MIME, data, size, failure);
    return read_multipart(walk, &entity, depth + 1, failure);
}

/* --- archives ----------------------------------------------------------------------- */

/* Text without a header is a cloud-config there. cloud-init takes no item apart. */
static int
read_item(struct walk *walk, const struct yaml_node *item, struct failure **failure)
{
    const struct yaml_node *content = item, *type = NULL;
    enum user_data_kind kind = USER_DATA_UNKNOWN;

    if (item->kind == YAML_MAPPING) {
        content = yaml_get(item, "content");
        type = yaml_get(item, "type");
    }
    if (!content || content->kind != YAML_SCALAR || content->type != YAML_TEXT)
        return 0;
    if (type && type->type == YAML_TEXT && *type->text) {
        kind = user_data_kind_of_type(type->text);
    } else {
        kind = user_data_kind_of_type(user_data_type(content->text, content->length));
        if (kind == USER_DATA_UNKNOWN)
            kind = USER_DATA_CLOUD_CONFIG;
    }
    if (kind == USER_DATA_ARCHIVE || kind == USER_DATA_INCLUDE ||
        kind == USER_DATA_INCLUDE_ONCE)
        kind = USER_DATA_UNKNOWN;
    return visit(walk, kind, content->text, content->length, failure);
}

static int
read_archive(struct walk *walk, const char *data, size_t size, struct failure **failure)
{
    cleanup_yaml struct yaml yaml = {0};

    if (yaml_read(&yaml, data, size, YAML_ONE_SEQUENCE, failure) < 0)
        return -1;
    yaml_foreach(item, yaml.root) {
        if (read_item(walk, item->value, failure) < 0)
            return -1;
    }
    return 0;
}

/* --- the document ------------------------------------------------------------------- */

int
user_data_walk(const char *data, size_t size, user_data_visit *visitor, void *context,
               struct failure **failure)
{
    struct walk walk = {.visit = visitor, .context = context};
    struct user_data_piece whole = {.data = data, .size = size};
    cleanup_buffer struct buffer unpacked = {0};

    whole.kind = user_data_kind(data, size);
    if (whole.kind == USER_DATA_GZIP) {
        if (user_data_unpack(&unpacked, data, size, failure) < 0)
            return -1;
        whole.data = buffer_text(&unpacked);
        whole.size = unpacked.size;
        whole.kind = user_data_kind(whole.data, whole.size);
    }
    if (whole.kind == USER_DATA_MIME)
        return read_message(&walk, whole.data, whole.size, 0, failure);
    if (whole.kind == USER_DATA_ARCHIVE)
        return read_archive(&walk, whole.data, whole.size, failure);
    return visitor(context, &whole, failure);
}
