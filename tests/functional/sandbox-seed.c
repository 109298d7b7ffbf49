/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does in the sandbox what a maker does: makes the seed of the domain whose XML is on
 * standard input, and its image in descriptor 5. What the host has is read before: the
 * files and secrets in the directory ETC. Prints one line, "seed", "refused: REASON" or
 * "skipped: REASON", and succeeds in each case.
 *
 * Usage: sandbox-seed [ETC]
 *        sandbox-seed --report: reads a guest's report instead, and prints "report"
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "image/image.h"
#include "maker/sandbox.h"
#include "seed/seed.h"
#include "seed/ssh-host-keys.h"
#include "store/guest-report.h"
#include "store/record.h"
#include "wire/wire.h"

#define IMAGE 5

/* Descriptor 1 may be anything; standard output is never asked what it is. */
static void __attribute__((noreturn)) end(const char *word, const char *reason)
{
    cleanup_free char *line = NULL;

    line = reason ? xasprintf("%s: %s\n", word, reason) : xasprintf("%s\n", word);
    if (fs_write_all(STDOUT_FILENO, line, strlen(line)) < 0)
        _exit(97);
    _exit(EXIT_SUCCESS);
}

/* --- the host, before -------------------------------------------------------------- */

struct file {
    char *path; /* "secrets/web1/userdata" */
    struct buffer content;
};

static struct file *files;
static size_t file_count;
static int directory;
static size_t directory_length;

/* As the keeper does, follows links that stay below ETC, and skips what it cannot read;
 * "..data" is not a key. */
static int
load_file(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    const char *name = path + directory_length + 1;
    cleanup_buffer struct buffer content = {0};
    cleanup_close int fd = -1;
    struct file *file;

    (void)status;
    (void)walk;
    if ((type != FTW_F && type != FTW_SL) || strstr(path, "/."))
        return 0;
    fd = fs_open_regular_beneath(directory, name, NULL);
    if (fd < 0 || fs_read_all(fd, LIMIT_SEED, &content) < 0)
        return 0;
    file = array_add(files, file_count);
    file->path = xstrdup(name);
    file->content = steal_buffer(&content);
    return 0;
}

static void
load_host(const char *path)
{
    directory = fs_open_root(path);
    directory_length = strlen(path);
    if (directory < 0 || nftw(path, load_file, 8, FTW_PHYS) < 0) {
        perror(path);
        exit(96);
    }
}

static const struct file *
find_file(const char *path)
{
    for (size_t i = 0; i < file_count; i++) {
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    }
    return NULL;
}

/* In whichever directory that the host's configuration names. */
static const struct file *
find_file_of_part(const char *name)
{
    for (size_t i = 0; i < file_count; i++) {
        const char *slash = strchr(files[i].path, '/');

        if (slash && strcmp(slash + 1, name) == 0)
            return &files[i];
    }
    return NULL;
}

/* --- the parts that it gives -------------------------------------------------------- */

static const struct file *
find_key(const struct part *part)
{
    const char *const keys[] = {part->key,     part->element, "userdata",
                                "userData",    "vendordata",  "vendorData",
                                "networkdata", "networkData"};

    for (size_t i = 0; i < (part->key ? 1 : ARRAY_SIZE(keys)); i++) {
        cleanup_free char *path = NULL;
        const struct file *file;

        if (!keys[i])
            continue;
        path = xasprintf("secrets/%s/%s", part->name, keys[i]);
        file = find_file(path);
        if (file)
            return file;
    }
    return NULL;
}

static void
give_whole_secret(struct part *part)
{
    cleanup_free char *prefix = xasprintf("secrets/%s/", part->name);

    for (size_t i = 0; i < file_count; i++) {
        const struct file *file = &files[i];
        const char *key = file->path + strlen(prefix);

        if (strncmp(file->path, prefix, strlen(prefix)) != 0 || strcmp(key, "allow") == 0)
            continue;
        buffer_append(part_add_entry(part, key), file->content.data, file->content.size);
    }
}

static void
give_generated_key(struct part *part)
{
    struct {
        uint8_t secret[OPENSSH_SECRET_SIZE];
        uint32_t check;
    } random;
    struct buffer *key = part_add_entry(part, HOST_KEY_NAME);
    cleanup_free char *public = NULL;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        end("failed", "no random bytes");
    openssh_key_append(key, random.secret, random.check);
    public = openssh_key_public(key->data);
    buffer_printf(part_add_entry(part, HOST_KEY_PUBLIC_NAME), "%s virt-seed\n", public);
}

static void
give(struct part *part)
{
    const struct file *file = NULL;

    switch (part->origin) {
    case PART_INLINE:
        return;
    case PART_GENERATED:
        give_generated_key(part);
        return;
    case PART_STORED:
        buffer_append_string(&part->data, "$6$salt$hash");
        return;
    case PART_SECRET:
        if (part_is_whole_secret(part)) {
            give_whole_secret(part);
            return;
        }
        file = find_key(part);
        if (file && !part->key)
            part->key = xstrdup(strrchr(file->path, '/') + 1);
        break;
    case PART_FILE:
        file = find_file_of_part(part->name);
        break;
    }
    if (!file)
        end("refused", "a file or secret is missing");
    buffer_append(&part->data, file->content.data, file->content.size);
}

/* --- in the sandbox ----------------------------------------------------------------- */

/* Whether libxml2 would have to ask iconv(3), which could not open what it needs. The
 * keeper lets only documents through that begin with <domain. */
static bool
has_other_encoding(const struct buffer *text)
{
    static const unsigned char odd[][4] = {{0, 0, 0, '<'},
                                           {'<', 0, 0, 0},
                                           {0, 0, '<', 0},
                                           {0, '<', 0, 0},
                                           {0x4c, 0x6f, 0xa7, 0x94}};
    static const char *const own[] = {"utf-8",  "utf8",     "us-ascii", "ascii",
                                      "utf-16", "utf-16le", "utf-16be", "iso-8859-1"};
    const char *begin = text->size > 0 ? text->data : "";
    const char *encoding;

    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        if (text->size >= 4 && memcmp(begin, odd[i], 4) == 0)
            return true;
    }
    if (strncmp(begin, "<?xml", 5) != 0)
        return false;
    encoding = strstr(begin, "encoding");
    if (!encoding || encoding > begin + strcspn(begin, ">"))
        return false;
    encoding += strlen("encoding");
    encoding += strspn(encoding, " \t\r\n=\"'");
    for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
        if (strncasecmp(encoding, own[i], strlen(own[i])) == 0 &&
            strchr("\"'", encoding[strlen(own[i])]))
            return false;
    }
    return true;
}

static int
make(const struct buffer *text, struct failure **failure)
{
    /* Not freed: the process ends. */
    static struct domain domain;
    static struct request request;
    static struct seed seed;
    static struct wire_facts facts;
    static struct wiring wiring;
    static struct record_boot boot;
    const struct wire_options options = {.facts = &facts};
    xmlDoc *doc = xml_parse(text->data, text->size, "standard input", failure);
    xmlNode *node;

    if (!doc || domain_read(&domain, doc, failure) < 0 ||
        domain_require_uuid(&domain, failure) < 0)
        return -1;
    wire_facts_read(&facts, &domain);
    if (wire_report_check(&domain, failure) < 0 ||
        request_read(&request, &domain, failure) < 0)
        return -1;
    for (size_t i = 0; i < request.parts.count; i++) {
        give(request.parts.list[i]);
        if (parts_check_size(&request.parts, failure) < 0 ||
            seed_check_part(&request, request.parts.list[i], failure) < 0)
            return part_fail(request.parts.list[i], failure);
    }
    if (wire_domain(&domain, &request, &options, &wiring, failure) < 0)
        return -1;
    free(xml_format(doc));
    node = request_find(&domain);
    if (node)
        xml_remove(node);
    if (seed_make(&seed, &request, failure) < 0 || iso_write(IMAGE, &seed, failure) < 0 ||
        iso_verify(IMAGE, &seed, failure) < 0)
        return -1;
    record_boot_add_seed(&boot, &storage_image, &seed);
    return 0;
}

static void
read_report(void)
{
    static struct guest_report report = {.stage = GUEST_STAGE_NONE};
    cleanup_buffer struct buffer text = {0};
    size_t done = 0;
    bool news;

    if (fs_read_all(STDIN_FILENO, LIMIT_REPORT_FILE, &text) < 0)
        end("refused", "the report is too large");
    while (done < text.size)
        done += guest_report_feed(&report, text.data + done, text.size - done, &news);
    end("report", guest_state_word(report.state));
}

int
main(int argc, char **argv)
{
    const bool is_report = argc == 2 && strcmp(argv[1], "--report") == 0;
    struct failure *failure = NULL;
    struct buffer text = {0};
    int error;

    if (fcntl(IMAGE, F_GETFD) < 0 && dup2(memfd_create("image", 0), IMAGE) < 0)
        return 95;
    if (argc == 2 && !is_report)
        load_host(argv[1]);
    error = sandbox_enter();
    if (error < 0) {
        fprintf(stderr, "sandbox_enter: %s\n", strerror(-error));
        return 98;
    }
    if (is_report)
        read_report();
    error = fs_read_all(STDIN_FILENO, LIMIT_DOMAIN_XML, &text);
    if (error == -EFBIG)
        end("refused", "it may have at most 16 MiB");
    if (error < 0)
        end("failed", strerror(-error));
    if (has_other_encoding(&text))
        end("skipped", "its encoding");
    if (make(&text, &failure) < 0)
        end("refused", failure->message);
    end("seed", NULL);
}
