/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are a request to the metadata server, as libmicrohttpd hands it
 * on. The first line is who asks: "qemu", a MAC, or anything else; the second is the
 * method, the third the path; each further one a header, "NAME: VALUE". Three domains are
 * published.
 */
#include "config.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/memory.h"
#include "fuzz.h"
#include "host/imds-tree.h"
#include "host/rundir.h"
#include "imds/access.h"
#include "store/imds-read.h"

#define OURS "what only the one guest may read"
#define THEIRS "what only the other guest may read"
#define NOBODYS "what nobody may read"

/* The second has user networking; the third has no interface, so that its token opens it to nobody. */
static const struct {
    const char *uuid, *token, *content;
    struct imds_mac macs[2];
    size_t mac_count;
} guests[] = {
    {.uuid = "4dea22b3-1d52-d8f3-2516-782e98ab3fa0",
     .token = "0123456789abcdef0123456789abcdef",
     .content = OURS,
     .macs = {{"52:54:00:00:00:01", IMDS_LINK_NEIGHBOUR},
              {"52:54:00:00:00:02", IMDS_LINK_NEIGHBOUR}},
     .mac_count = 2},
    {.uuid = "0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11",
     .token = "fedcba9876543210fedcba9876543210",
     .content = THEIRS,
     .macs = {{"52:54:00:00:00:03", IMDS_LINK_NEIGHBOUR},
              {"52:54:00:00:00:04", IMDS_LINK_USER}},
     .mac_count = 2},
    {.uuid = "7c1e9a52-3b0d-4f64-9a8e-51d2c3b4a596",
     .token = "00112233445566778899aabbccddeeff",
     .content = NOBODYS},
};
#define GUESTS ARRAY_SIZE(guests)

static void
publish(int tree, size_t which)
{
    static char meta_data[] = IMDS_META_DATA, user_data[] = IMDS_USER_DATA;
    struct document documents[] = {{.path = meta_data}, {.path = user_data}};
    const struct seed seed = {.documents = documents, .document_count = 2};
    const struct imds_domain domain = {.token = (char *)guests[which].token,
                                       .macs = (struct imds_mac *)guests[which].macs,
                                       .mac_count = guests[which].mac_count,
                                       .seed = &seed};
    cleanup_failure struct failure *failure = NULL;

    for (size_t i = 0; i < 2; i++)
        buffer_append_string(&documents[i].data, guests[which].content);
    fuzz_require(fuzz_succeeded(
        imds_tree_publish(tree, guests[which].uuid, &domain, &failure), &failure));
    for (size_t i = 0; i < 2; i++)
        buffer_clear(&documents[i].data);
}

static void
prepare(void)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_close int rundir = -1, tree = -1;
    static bool prepared;

    if (prepared)
        return;
    prepared = true;
    rundir = rundir_open(fuzz_root(), &failure);
    fuzz_require(rundir >= 0);
    tree = imds_tree_open(rundir, &failure);
    fuzz_require(tree >= 0);
    for (size_t i = 0; i < GUESTS; i++)
        publish(tree, i);
}

static struct peer
read_peer(const char *word)
{
    struct peer peer = {.kind = PEER_OTHER, .reason = "somebody"};

    if (strcmp(word, "qemu") == 0) {
        peer.kind = PEER_QEMU;
    } else if (imds_is_mac(word)) {
        peer.kind = PEER_NEIGHBOUR;
        memcpy(peer.mac, word, sizeof(peer.mac));
    }
    return peer;
}

static void
read_headers(struct http_request *request, char *rest)
{
    char *line;

    while ((line = strsep(&rest, "\n"))) {
        const char *name = strsep(&line, ":");

        if (line && *line == ' ')
            line++;
        http_request_add_header(request, name, line);
    }
}

/* Return: whose the answer's file is. */
static size_t
owner_of(const struct answer *answer)
{
    cleanup_buffer struct buffer content = {0};

    fuzz_require(fs_read_all(answer->fd, 4096, &content) == 0);
    fuzz_require(content.size == (size_t)answer->size);
    for (size_t i = 0; i < GUESTS; i++) {
        if (strcmp(content.data, guests[i].content) == 0)
            return i;
    }
    fuzz_require(!"it is a guest's");
    return 0;
}

static bool
has_mac(size_t which, const struct peer *peer, enum imds_link link)
{
    for (size_t i = 0; i < guests[which].mac_count; i++) {
        const struct imds_mac *mac = &guests[which].macs[i];

        if (mac->link == link && strcmp(mac->mac, peer->mac) == 0)
            return true;
    }
    return false;
}

static bool
may_use_token(size_t which, const struct peer *peer)
{
    if (peer->kind == PEER_QEMU)
        return which == 1;
    return has_mac(which, peer, IMDS_LINK_NEIGHBOUR);
}

static size_t
find_guest(const char *uuid)
{
    for (size_t i = 0; i < GUESTS; i++) {
        if (strcmp(uuid, guests[i].uuid) == 0)
            return i;
    }
    fuzz_require(!"it is a guest's UUID");
    return 0;
}

/* Whoever gets content has shown the domain's token, and has one of its MACs or is the
 * QEMU of one with user networking. */
static void
check_granted(const struct answer *answer, const char *path, const struct peer *peer)
{
    size_t which = find_guest(answer->uuid);
    cleanup_free char *base =
        xasprintf("/%s/%s/", guests[which].uuid, guests[which].token);

    fuzz_require(strncmp(path, base, strlen(base)) == 0 && may_use_token(which, peer));
    if (answer->fd >= 0)
        fuzz_require(owner_of(answer) == which);
}

static void
check_answer(const struct answer *answer, const char *path,
             const struct http_request *request, const struct peer *peer)
{
    bool reads =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;

    fuzz_require(answer->fd >= 0 || answer->text);
    fuzz_require(answer->fd < 0 || (answer->granted && answer->status == 200));
    fuzz_require(answer->status != 500);
    fuzz_require(reads != (answer->status == 405));
    if (answer->status == 200 && !answer->granted)
        fuzz_require(strcmp(path, "/healthz") == 0);
    if (request->body || request->malformed || !reads)
        fuzz_require(answer->status >= 400);
    if (answer->granted)
        check_granted(answer, path, peer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = xstrndup((const char *)data, size);
    char *rest = text;
    const char *who = strsep(&rest, "\n");
    const char *method = rest ? strsep(&rest, "\n") : "GET";
    const char *name = rest ? strsep(&rest, "\n") : "/";
    const struct peer peer = read_peer(who);
    struct http_request request = {.method = method, .path = path_read(name)};
    cleanup_answer struct answer answer = ANSWER_NONE;
    cleanup_imds_tree struct imds_tree tree = IMDS_TREE_NONE;

    prepare();
    read_headers(&request, rest);
    fuzz_require(imds_tree_read(&tree, fuzz_root()) == 0);
    answer_make(&answer, &request, &peer, &tree, 0);
    check_answer(&answer, name, &request, &peer);
    answer_refuse_rate(&answer);
    fuzz_require(answer.fd < 0 && answer.status == 429);
    return 0;
}
