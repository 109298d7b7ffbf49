/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a file is base64, between two lines, of strings with their length in
 * front. The private key stands behind the public one, in a block with padding that would
 * be encrypted where there was a passphrase:
 *
 *   "openssh-key-v1" NUL, cipher, kdf, kdf's options, 1, public key,
 *   block: check, check, "ssh-ed25519", public key's bytes, secret and public bytes,
 *          comment, 1, 2, 3, … up to a multiple of 8
 */
#include "config.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/eddsa.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "domain/part.h"
#include "seed/openssh-key.h"

#define BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define END "-----END OPENSSH PRIVATE KEY-----"
#define MAGIC "openssh-key-v1" /* with its NUL */
#define ED25519 "ssh-ed25519"
#define COMMENT "virt-seed"
#define BLOCK 8
/* Of a line of base64, before encoding. */
#define LINE_BYTES 48

_Static_assert(OPENSSH_SECRET_SIZE == ED25519_KEY_SIZE, "the secret is nettle's");

/* --- writing ---------------------------------------------------------------------- */

static void
put_number(struct buffer *buffer, uint32_t number)
{
    uint32_t bytes = htobe32(number);

    buffer_append(buffer, &bytes, sizeof(bytes));
}

static void
put_string(struct buffer *buffer, const void *data, size_t size)
{
    put_number(buffer, (uint32_t)size);
    buffer_append(buffer, data, size);
}

static void
put_text(struct buffer *buffer, const char *text)
{
    put_string(buffer, text, strlen(text));
}

static void
put_buffer(struct buffer *buffer, const struct buffer *content)
{
    put_string(buffer, content->data, content->size);
}

static void
put_block(struct buffer *buffer, const uint8_t *secret, const uint8_t *public,
          uint32_t check)
{
    cleanup_buffer struct buffer block = {0};

    put_number(&block, check);
    put_number(&block, check);
    put_text(&block, ED25519);
    put_string(&block, public, ED25519_KEY_SIZE);
    put_number(&block, 2 * ED25519_KEY_SIZE);
    buffer_append(&block, secret, ED25519_KEY_SIZE);
    buffer_append(&block, public, ED25519_KEY_SIZE);
    put_text(&block, COMMENT);
    for (char padding = 1; block.size % BLOCK != 0; padding++)
        buffer_append(&block, &padding, 1);
    put_buffer(buffer, &block);
}

static void
put_lines(struct buffer *buffer, const struct buffer *data)
{
    for (size_t at = 0; at < data->size; at += LINE_BYTES) {
        size_t size = data->size - at < LINE_BYTES ? data->size - at : LINE_BYTES;
        size_t length = BASE64_ENCODE_RAW_LENGTH(size);

        base64_encode_raw(buffer_reserve(buffer, length), size,
                          (const uint8_t *)data->data + at);
        buffer->size += length;
        buffer_append_string(buffer, "\n");
    }
}

void
openssh_key_append(struct buffer *buffer, const uint8_t secret[OPENSSH_SECRET_SIZE],
                   uint32_t check)
{
    cleanup_buffer struct buffer file = {0};
    cleanup_buffer struct buffer key = {0};
    uint8_t public[ED25519_KEY_SIZE];

    ed25519_sha512_public_key(public, secret);
    put_text(&key, ED25519);
    put_string(&key, public, sizeof(public));
    buffer_append(&file, MAGIC, sizeof(MAGIC));
    put_text(&file, "none");
    put_text(&file, "none");
    put_text(&file, "");
    put_number(&file, 1);
    put_buffer(&file, &key);
    put_block(&file, secret, public, check);
    buffer_append_string(buffer, BEGIN);
    put_lines(buffer, &file);
    buffer_append_string(buffer, END "\n");
}

/* --- reading ---------------------------------------------------------------------- */

/* What is still to be read. */
struct rest {
    const char *data;
    size_t size;
};

static bool
take(struct rest *rest, struct rest *taken, size_t size)
{
    if (rest->size < size)
        return false;
    *taken = (struct rest){rest->data, size};
    rest->data += size;
    rest->size -= size;
    return true;
}

static bool
take_number(struct rest *rest, uint32_t *number)
{
    struct rest bytes;

    if (!take(rest, &bytes, sizeof(*number)))
        return false;
    memcpy(number, bytes.data, sizeof(*number));
    *number = be32toh(*number);
    return true;
}

static bool
take_string(struct rest *rest, struct rest *taken)
{
    uint32_t size;

    return take_number(rest, &size) && take(rest, taken, size);
}

/* The public key is never encrypted. */
static bool
take_public(struct rest *rest, struct rest *key)
{
    struct rest magic, cipher, kdf, options;
    uint32_t count;

    return take(rest, &magic, sizeof(MAGIC)) &&
           memcmp(magic.data, MAGIC, sizeof(MAGIC)) == 0 && take_string(rest, &cipher) &&
           take_string(rest, &kdf) && take_string(rest, &options) &&
           take_number(rest, &count) && count == 1 && take_string(rest, key);
}

static bool
is_word(const struct rest *text)
{
    for (size_t i = 0; i < text->size; i++) {
        if (text->data[i] <= ' ' || text->data[i] >= 0x7f)
            return false;
    }
    return text->size > 0;
}

static char *
format_public(const struct rest *key)
{
    size_t length = BASE64_ENCODE_RAW_LENGTH(key->size);
    struct rest rest = *key;
    struct rest algorithm;
    cleanup_free char *encoded = NULL;

    if (!take_string(&rest, &algorithm) || !is_word(&algorithm))
        return NULL;
    encoded = xcalloc(1, length + 1);
    base64_encode_raw(encoded, key->size, (const uint8_t *)key->data);
    return xasprintf("%.*s %s", (int)algorithm.size, algorithm.data, encoded);
}

char *
openssh_key_public(const char *text)
{
    cleanup_buffer struct buffer base64 = {0};
    cleanup_buffer struct buffer file = {0};
    const char *end;
    struct rest rest, key;

    if (strncmp(text, BEGIN, strlen(BEGIN)) != 0)
        return NULL;
    text += strlen(BEGIN);
    end = strstr(text, END);
    if (!end)
        return NULL;
    buffer_append(&base64, text, (size_t)(end - text));
    if (base64_append(&file, base64.data) < 0)
        return NULL;
    rest = (struct rest){file.data, file.size};
    return take_public(&rest, &key) ? format_public(&key) : NULL;
}
