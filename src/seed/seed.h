/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seed: a volume label and the documents that cloud-init reads, in a fixed order.
 * It is a function of the domain and its request alone: the same request gives the same
 * seed, on any host and at any time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/failure.h"
#include "domain/documents.h"
#include "domain/request.h"

/*
 * Makes the seed of a request, whose parts must have been read; their content is
 * moved into the seed (seed_check_part() comes before).
 */
int seed_make(struct seed *seed, struct request *request, struct failure **failure);

/* Replaces an instance-id that depends on secrets, if they are masked (part_mask()). */
#define INSTANCE_ID_MASK "<depends on secrets>"

/* Return: the instance-id in a seed of NoCloud, owned by the caller (free). */
char *nocloud_instance_id(const struct seed *seed);

/*
 * Adds NoCloud's documents a second time, in the layout of OpenStack's metadata service,
 * which is that of a ConfigDrive, for readers that do not know NoCloud's, such as
 * cloudbase-init's HttpService. `seed` was made from a request for NoCloud without a disk.
 * Omits a network that this layout cannot express, and vendor-data that is not text.
 * Return: 0, or -1 if the user's own metadata has a key with another meaning there; then
 * nothing is added.
 */
int openstack_add(struct seed *seed, const struct request *request,
                  struct failure **failure);

/* --- what the guest would reject -------------------------------------------------- */
/* No message contains any of the content. */

/* Checks a part's content, which must have been read, as the guest would read it. */
int seed_check_part(const struct request *request, const struct part *part,
                    struct failure **failure);

/*
 * Checks that cloud-init would recognize user-data or vendor-data ("User-data formats" in
 * its documentation; cloudinit/handlers/__init__.py, INCLUSION_TYPES_MAP), and could read
 * a cloud-config as YAML. Looks into gzip. Empty data is fine, and so are cloudbase-init's
 * scripts if the guest may be Windows.
 */
int user_data_check(const char *data, size_t size, bool windows,
                    struct failure **failure);

/* Return: what cloud-init takes the data for, in a word or two: "cloud-config", "script";
 * "nothing" if the data is empty, "unknown" if cloud-init would ignore it. */
const char *user_data_kind(const char *data, size_t size);

/* Return: whether a network-config has only white space and comments. A seed has no
 * document for it, and the guest has its own default. */
bool network_config_is_none(const char *data, size_t size);

/* Return: whether the data are white space, or a cloud-config of comments alone, of which
 * cloud-init would warn. */
bool user_data_is_empty(const char *data, size_t size);

/* Return: the MIME type of such data, "text/plain" if cloud-init would ignore them. */
const char *user_data_type(const char *data, size_t size);

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

/*
 * Checks ConfigDrive's network_data.json: it must be strict JSON with its lists, with at
 * most LIMIT_NICS links, and each object must have the keys that cloud-init requires.
 * As for the guest (cloud-init's convert_net_json), a link with an address that none of
 * the domain's interfaces has, or with neither address nor name, is an error.
 */
int network_data_check(const char *data, size_t size, const struct domain *domain,
                       struct failure **failure);

/* Return: whether each name server and search domain belongs to a nic with an address. On
 * a ConfigDrive, cloud-init's renderer for netplan ignores those of other nics. */
bool network_carries_dns(const struct network *network);
