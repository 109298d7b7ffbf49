/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fuzz.h. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/xml.h"
#include "fuzz.h"
#include "seed/seed.h"
#include "store/configuration.h"
#include "store/pipeline.h"

void
fuzz_broken(const char *file, int line, const char *rule)
{
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, rule);
    abort();
}

static bool
is_readable(const char *text)
{
    return *text && strlen(text) <= LIMIT_MESSAGE && xmlCheckUTF8((const xmlChar *)text);
}

bool
fuzz_succeeded(int result, struct failure **failure)
{
    fuzz_require((result < 0) == (*failure != NULL));
    if (*failure) {
        fuzz_require(is_readable((*failure)->message));
        fuzz_require(!(*failure)->hint || is_readable((*failure)->hint));
    }
    failure_free(steal(*failure));
    return result >= 0;
}

/* --- the host ---------------------------------------------------------------------- */

static char *root_path;

static void
remove_root(void)
{
    fs_remove_tree(AT_FDCWD, root_path);
    free(root_path);
}

int
fuzz_root(void)
{
    static int root = -1;
    const char *base = getenv("TMPDIR");

    if (root >= 0)
        return root;
    root_path = xasprintf("%s/virt-seed-fuzz.XXXXXX", base ? base : "/tmp");
    fuzz_require(mkdtemp(root_path));
    atexit(remove_root);
    root = fs_open_root(root_path);
    fuzz_require(root >= 0);
    return root;
}

void
fuzz_write_file(const char *path, const void *content, size_t size)
{
    const char *name = strrchr(path, '/') + 1;
    cleanup_free char *parent = xstrndup(path, (size_t)(name - 1 - path));
    cleanup_close int dir = fs_make_directories(fuzz_root(), parent, 0700);
    cleanup_close int fd = -1;

    fuzz_require(dir >= 0);
    fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_require(fd >= 0 && fs_write_all(fd, content, size) == 0);
}

/* --- seeds ------------------------------------------------------------------------- */

static xmlParserInput *
load_nothing(const char *url, const char *id, xmlParserCtxt *parser)
{
    (void)url;
    (void)id;
    (void)parser;
    fuzz_broken(__FILE__, __LINE__, "nothing is fetched from anywhere");
}

static void
prepare(void)
{
    static const char user_data[] = "#cloud-config\n";
    static bool prepared;

    if (prepared)
        return;
    prepared = true;
    xmlSetExternalEntityLoader(load_nothing);
    fuzz_write_file(VIRT_SEED_CONFDIR "/secrets/web1/userdata", user_data,
                    strlen(user_data));
    fuzz_write_file(VIRT_SEED_CONFDIR "/files/base.yaml", user_data, strlen(user_data));
}

static bool
make_from_domain(const struct domain *domain, struct request *request, struct seed *seed)
{
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *failure = NULL;
    int result = config_read(&config, fuzz_root(), &failure);

    fuzz_require(fuzz_succeeded(result, &failure));
    result =
        pipeline_read(&(struct pipeline){.policy = PIPELINE_RESUME, .config = &config},
                      fuzz_root(), domain, request, &failure);
    if (!fuzz_succeeded(result, &failure))
        return false;
    /* What `check` says of it; a resumed guest gets its seed all the same. */
    for (size_t i = 0; i < request->parts.count && result == 0; i++)
        result = seed_check_part(request, request->parts.list[i], &failure);
    fuzz_succeeded(result, &failure);
    result = seed_make(seed, request, &failure);
    return fuzz_succeeded(result, &failure);
}

bool
fuzz_make_seed(const struct buffer *text, struct seed *seed)
{
    cleanup_domain struct domain domain = {0};
    cleanup_request struct request request = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_xml xmlDoc *doc = NULL;
    int result;

    prepare();
    doc = xml_parse(text->data, text->size, "standard input", &failure);
    if (!fuzz_succeeded(doc ? 0 : -1, &failure))
        return false;
    result = domain_read(&domain, doc, &failure);
    if (!fuzz_succeeded(result, &failure))
        return false;
    return make_from_domain(&domain, &request, seed);
}
