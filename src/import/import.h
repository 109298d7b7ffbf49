/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts another system's document to our <cloud-init> element. A document is imported
 * whole or not at all: a field that the element cannot express is an error that names it.
 */
#pragma once

#include "domain/domain.h"
#include "domain/element.h"
#include "host/documents.h"
#include "host/secret.h"
#include "store/secret-write.h"

/* A secret of the host that the element refers to. */
struct import_secret {
    char *name;
    struct secret_key *keys; /* from the document; owned */
    size_t key_count;        /* 0 if the document lacks the secret */
};

struct import {
    int root;    /* the host's "/", for the seed of a domain; borrowed */
    xmlDoc *doc; /* its root is the element */
    xmlNode *element;
    char **notes; /* for the user: what differs here */
    size_t note_count;
    struct import_secret *secrets;
    size_t secret_count;
};

/* Reads KubeVirt's manifests, YAML or JSON. `name` chooses the virtual machine; NULL means
 * the only one. */
int import_kubevirt(struct import *import, const char *data, size_t size,
                    const char *name, struct failure **failure);

/* Reads oVirt's <vm> with <initialization>, or a domain's XML of its engine. */
int import_ovirt(struct import *import, const char *data, size_t size, const char *name,
                 struct failure **failure);

/* Reads a seed: the image itself, or the XML of a domain that has another tool's seed as a
 * disk, as the first domain that virt-install --cloud-init --print-xml prints. */
int import_seed_file(struct import *import, const char *data, size_t size,
                     const char *name, struct failure **failure);
/* Return: whether the data looks like that. */
bool import_is_seed(const char *data, size_t size);
/* Reads the seed in an image file that a domain names. One of virt-seed's own is refused:
 * everybody may read the element. */
int import_image(struct import *import, const char *path, struct failure **failure);
/* Translates the documents of a seed, `name` in messages; the hint may be missing. */
int import_seed(struct import *import, const struct seed *seed, const char *name,
                struct failure **failure);

/* Return: the path of another tool's seed among the domain's disks, whose labels are read,
 * owned by the caller (free), or NULL. */
char *import_find_seed(struct domain *domain);

/* Checks that the element is a valid request, as far as that is possible without a
 * domain. */
int import_check(const struct import *import, struct failure **failure);

/* Adds a document: <user-data> as "raw", with a note, if cloud-init would ignore it. */
void import_add_data(struct import *import, const char *element, const char *data,
                     size_t size);
/* Adds the <vendor-data> of a seed, but for what virt-seed adds to each. The data end with a
 * NUL that does not count. */
int import_vendor_data(struct import *import, const char *data, size_t size,
                       struct failure **failure);
/* Adds a network in the form of interfaces(5) to <initialization>, as oVirt's elements. What
 * they cannot express is an error that names the line. */
int import_interfaces(xmlNode *initialization, const struct buffer *data,
                      struct failure **failure);
/* Marks the <user-data> with such content. */
void import_mark_raw(struct import *import, xmlNode *node, const char *data, size_t size);

void import_note(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return: the secret of that name, added if it was not there. */
struct import_secret *import_add_secret(struct import *import, const char *name);

void import_clear(struct import *import);

#define cleanup_import __attribute__((cleanup(import_clear)))
