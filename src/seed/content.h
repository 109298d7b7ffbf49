/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Documents as the guest would read them: what cloud-init takes user-data for, and what it
 * would reject. No message contains any of the content.
 */
#pragma once

#include "domain/domain.h"
#include "seed/yaml.h"

struct request;

/* The keys of the guest's metadata, with which it renders jinja's templates. */
struct template_keys {
    const struct request *request;
    json_t *keys; /* read when one is asked for; owned by the caller (json_decref) */
};

bool template_keys_have(struct template_keys *keys, const char *key);

/*
 * Checks that cloud-init would recognize user-data or vendor-data ("User-data formats" in
 * its documentation; cloudinit/handlers/__init__.py, INCLUSION_TYPES_MAP), and could read
 * a cloud-config as YAML and a template as jinja. `keys` are for template_check(). Looks
 * into gzip, MIME and archives. Empty data is fine, and so are cloudbase-init's scripts if
 * the guest may be Windows.
 */
int user_data_check(const char *data, size_t size, bool windows,
                    struct template_keys *keys, struct failure **failure);

/* What cloud-init takes user-data or vendor-data for. */
enum user_data_kind {
    USER_DATA_NOTHING, /* only white space */
    USER_DATA_GZIP,
    USER_DATA_MIME,
    USER_DATA_CLOUD_CONFIG,
    USER_DATA_ARCHIVE,
    USER_DATA_JSONP,
    USER_DATA_BOOTHOOK,
    USER_DATA_INCLUDE,
    USER_DATA_INCLUDE_ONCE,
    USER_DATA_PART_HANDLER,
    USER_DATA_SCRIPT,
    USER_DATA_TEMPLATE,       /* of jinja's; what it expands to has its own header */
    USER_DATA_WINDOWS_SCRIPT, /* cloudbase-init's alone */
    USER_DATA_UNKNOWN,        /* cloud-init would ignore it */
};

enum user_data_kind user_data_kind(const char *data, size_t size);

/* Return: whether a custom script of oVirt's is a cloud-config without its header, which
 * oVirt's engine adds, too. */
bool user_data_lacks_header(const char *data, size_t size);

/* Return: the kind in a word or two: "cloud-config", "script". */
const char *user_data_kind_name(enum user_data_kind kind);

/* Return: whether the data are white space, or a cloud-config of comments alone, of which
 * cloud-init would warn. */
bool user_data_is_empty(const char *data, size_t size);

/* Return: the MIME type of such data, "text/plain" if cloud-init would ignore them. */
const char *user_data_type(const char *data, size_t size);

/* Return: what cloud-init takes a part of that type for; USER_DATA_UNKNOWN if it has no
 * handler for it. */
enum user_data_kind user_data_kind_of_type(const char *type);

/* A document, or a part of one that is MIME or an archive. */
struct user_data_piece {
    const char *data;
    size_t size;
    enum user_data_kind
        kind;   /* USER_DATA_MIME or USER_DATA_GZIP: cannot be taken apart */
    int number; /* from 1 on; 0 if it is the document */
};

typedef int user_data_visit(void *context, const struct user_data_piece *piece,
                            struct failure **failure);

/*
 * Calls the function for each part that is not empty, decoded, or for a document that has no
 * parts. It fails if the function does, and if there are none in MIME because of a wrong
 * boundary, or more than LIMIT_PIECES.
 */
int user_data_walk(const char *data, size_t size, user_data_visit *visitor, void *context,
                   struct failure **failure);

/*
 * Appends the content of gzip, all its members; fails if the buffer then holds more than
 * LIMIT_SEED bytes.
 */
int user_data_unpack(struct buffer *buffer, const char *data, size_t size,
                     struct failure **failure);

/* Return: whether cloud-init parses the data as MIME if they are the whole document: the
 * word "mime-version:" may be anywhere near its beginning. */
bool user_data_mentions_mime(const char *data, size_t size);

/*
 * Checks that a network-config is YAML with a version that cloud-init knows, 1 or 2, with
 * or without the wrapping `network:`; or that it turns the network off with
 * `config: disabled`.
 */
int network_config_check(const char *data, size_t size, struct failure **failure);

/* Checks the mapping with the version, without its wrapping: an error is what every renderer
 * of every cloud-init fails at. */
int network_check_structure(const struct yaml_node *root, bool is_version_1,
                            struct failure **failure);

/*
 * Removes the wrapping `network:` if it is the only key, since cloud-init before 22.2 does
 * not know it in version 2, and writes the MACs by which nics are found in lower case,
 * since cloud-init compares them so. The rest, comments too, stays as it is, except in
 * a flow mapping ("{network: …}"), which becomes JSON. What is not YAML is left alone.
 */
void network_config_normalize(struct buffer *data);

/*
 * Checks ConfigDrive's network_data.json: it must be strict JSON with its lists, with at
 * most LIMIT_NICS links, and each object must have the keys that cloud-init requires.
 * As for the guest (cloud-init's convert_net_json), a link with an address that none of
 * the domain's interfaces has, or with neither address nor name, is an error.
 */
int network_data_check(const char *data, size_t size, const struct domain *domain,
                       struct failure **failure);

/*
 * Checks that jinja could render the template: what it refuses in any guest is a failure,
 * with the line, but none of the content except a key of the metadata. With `keys`, so is
 * such a key with '-', written after a dot, where jinja takes it for a minus.
 */
int template_check(const char *text, size_t size, struct template_keys *keys,
                   struct failure **failure);
