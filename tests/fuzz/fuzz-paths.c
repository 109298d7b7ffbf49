/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are the path of a channel in a domain's XML. A path that the
 * kernel can open, or whose directory it can, is forbidden if and only if that is in one
 * of our directories.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "base/names.h"
#include "domain/xml.h"
#include "fuzz.h"
#include "store/forbidden-paths.h"

#define UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"

static const char domain_text[] =
    "<domain type='kvm'><name>web1</name><uuid>" UUID "</uuid><devices>"
    "<channel type='file'><source/></channel></devices></domain>";

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *path = xstrndup((const char *)data, size);
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *doc =
        xml_parse(domain_text, strlen(domain_text), "standard input", &failure);
    cleanup_domain struct domain domain = {0};
    bool allowed;
    int inside;

    make_host();
    fuzz_require(doc && domain_read(&domain, doc, &failure) == 0);
    xml_set_attribute(
        xml_child(xml_child(xml_child(domain.root, "devices"), "channel"), "source"),
        "path", path);
    allowed =
        fuzz_succeeded(forbidden_paths_check(fuzz_root(), &domain, &failure), &failure);
    /* A few are judged by their spelling, or are lists. */
    if (!strchr(path, '/') || strlen(path) >= PATH_MAX || strpbrk(path, ",:= ") ||
        strncmp(path, "file:", 5) == 0 || strncmp(path, "json:", 5) == 0 ||
        strcmp(path, VIRT_SEED_REPORTDIR "/" UUID REPORT_SUFFIX) == 0)
        return 0;
    inside = leads_inside(path);
    fuzz_require(inside < 0 || allowed == !inside);
    return 0;
}
