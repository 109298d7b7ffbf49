/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/memory.h"
#include "host/rundir.h"
#include "imds-host.h"
#include "seed/seed.h"
#include "unit.h"

struct imds_host
imds_host_open(void **state)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_close int rundir = rundir_open(unit_directory(state), &failure);
    struct imds_host host = {.reading = IMDS_TREE_NONE};

    assert_no_failure(failure);
    host.tree = imds_tree_open(rundir, &failure);
    assert_no_failure(failure);
    assert_int_equal(imds_tree_read(&host.reading, unit_directory(state)), 0);
    return host;
}

void
imds_host_close(struct imds_host *host)
{
    imds_tree_close(&host->reading);
    close(host->tree);
}

int
imds_host_publish(const struct imds_host *host, const char *uuid, const char *token,
                  const struct imds_mac *macs, size_t mac_count, const char *path,
                  const char *content)
{
    cleanup_failure struct failure *failure = NULL;
    struct document document = {.path = xstrdup(path)};
    const struct seed seed = {.documents = &document, .document_count = 1};
    const struct imds_domain domain = {.token = (char *)token,
                                       .macs = (struct imds_mac *)macs,
                                       .mac_count = mac_count,
                                       .seed = &seed};
    int result;

    buffer_append_string(&document.data, content);
    result = imds_tree_publish(host->tree, uuid, &domain, &failure);
    assert_int_equal(result, failure ? -1 : 0);
    buffer_clear(&document.data);
    free(document.path);
    return result;
}

void
imds_host_write_access(const struct imds_host *host, const char *uuid,
                       const struct buffer *text)
{
    cleanup_free char *path = xasprintf("%s/" IMDS_ACCESS, uuid);
    cleanup_close int fd = openat(host->tree, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, text->data, text->size), 0);
}
