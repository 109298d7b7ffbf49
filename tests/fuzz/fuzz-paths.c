/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: bytes that begin with '<' are a domain's XML, others the path of a channel
 * in it. A path that the kernel can open, or whose directory it can, is forbidden if and
 * only if that is in one of our directories. Each value that libxml2 finds in an XML is
 * found, or the XML is refused.
 */
#include "config.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../unit/domain-values.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "fuzz.h"
#include "host/domain-text.h"
#include "host/forbidden-paths.h"

#define UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"

static const char *const directories[] = {VIRT_SEED_RUNDIR, VIRT_SEED_REPORTDIR,
                                          VIRT_SEED_STATEDIR, VIRT_SEED_CONFDIR};

static void
make_host(void)
{
    static bool made;

    if (made)
        return;
    made = true;
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        cleanup_free char *file = xasprintf("%s/a/b", directories[i]);

        fuzz_write_file(file, "", 0);
    }
    fuzz_write_file("/srv/virt-seed/a", "", 0);
    fuzz_require(symlinkat(VIRT_SEED_RUNDIR, fuzz_root(), "l") == 0);
    fuzz_require(symlinkat("../l/a/b", fuzz_root(), "srv/f") == 0);
}

/* Return: 1 if what is opened is in one of our directories, 0 if not. */
static int
is_inside(int fd)
{
    cleanup_free char *link = xasprintf("/proc/self/fd/%d", fd);
    cleanup_free char *root_link = xasprintf("/proc/self/fd/%d", fuzz_root());
    char path[PATH_MAX] = "", root[PATH_MAX] = "";

    fuzz_require(readlink(link, path, sizeof(path) - 1) > 0);
    fuzz_require(readlink(root_link, root, sizeof(root) - 1) > 0);
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        cleanup_free char *own = xasprintf("%s%s", root, directories[i]);
        size_t length = strlen(own);

        if (strncmp(path, own, length) == 0 && (!path[length] || path[length] == '/'))
            return 1;
    }
    return 0;
}

/* Return: the same of a path, or -1 if neither it nor its directory can be opened. */
static int
leads_inside(const char *path)
{
    cleanup_free char *parent = xasprintf("/%s", path += strspn(path, "/"));
    cleanup_close int fd = fs_open_in_root(fuzz_root(), *path ? path : "/");
    cleanup_close int above = -1;

    if (fd >= 0)
        return is_inside(fd);
    *(strrchr(parent, '/') + 1) = '\0';
    above = fs_open_in_root(fuzz_root(), parent);
    return above >= 0 ? is_inside(above) : -1;
}

static void
test_path(const char *path)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer xml = {0};
    bool allowed;
    int inside;

    buffer_append_string(&xml, "<domain><devices><channel><source path='");
    for (const char *c = path; *c; c++) {
        if (strchr("<&'", *c))
            buffer_append_string(&xml, *c == '<'   ? "&lt;"
                                       : *c == '&' ? "&amp;"
                                                   : "&apos;");
        else
            buffer_append(&xml, c, 1);
    }
    buffer_append_string(&xml, "'/></channel></devices></domain>");
    allowed = fuzz_succeeded(forbidden_paths_check(fuzz_root(), &xml, UUID, &failure),
                             &failure);
    /* A few are judged by their spelling, or are lists. */
    if (!strchr(path, '/') || strlen(path) >= PATH_MAX || strpbrk(path, ",:= \"'") ||
        strcmp(path, VIRT_SEED_REPORTDIR "/" UUID REPORT_SUFFIX) == 0 ||
        strcmp(path, VIRT_SEED_REPORTDIR "/" UUID LOG_SUFFIX) == 0)
        return;
    inside = leads_inside(path);
    fuzz_require(inside < 0 || allowed == !inside);
}

/* libxml2 makes other white space of some. Return: the text without any. */
static char *
remove_blanks(const char *text)
{
    char *result = xstrdup(text);
    char *to = result;

    for (; *text; text++) {
        if (!isspace((unsigned char)*text))
            *to++ = *text;
    }
    *to = '\0';
    return result;
}

static void
test_document(const struct buffer *xml)
{
    cleanup_domain_values struct domain_values found = {0};
    cleanup_domain_values struct domain_values expected = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_failure struct failure *parser_failure = NULL;
    cleanup_domain_identity struct domain_identity identity = {0};
    cleanup_xml xmlDoc *doc = NULL;
    size_t next = 0;

    if (fuzz_succeeded(domain_identity_read(&identity, xml, &failure), &failure))
        fuzz_require(*identity.name && text_is_uuid(identity.uuid));
    if (!fuzz_succeeded(domain_values_read(&found, xml, &failure), &failure))
        return;
    doc = xml_parse(xml->data, xml->size, "standard input", &parser_failure);
    if (!doc)
        return;
    domain_values_walk(&expected, xmlDocGetRootElement(doc));
    for (size_t i = 0; i < expected.count; i++) {
        cleanup_free char *wanted = remove_blanks(expected.texts[i]);
        bool is_found = false;

        for (; next < found.count && !is_found; next++) {
            cleanup_free char *value = remove_blanks(found.texts[next]);

            is_found = strcmp(value, wanted) == 0;
        }
        fuzz_require(is_found);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *path = xstrndup((const char *)data, size);
    cleanup_buffer struct buffer xml = {0};

    make_host();
    if (*path != '<') {
        test_path(path);
        return 0;
    }
    buffer_append(&xml, data, size);
    test_document(&xml);
    return 0;
}
