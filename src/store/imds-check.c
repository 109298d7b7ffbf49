/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/inet.h"
#include "base/scope.h"
#include "host/imds-tree.h"
#include "host/own-directory.h"
#include "store/imds-check.h"

#define ASKS "asks for datasource=\"nocloud-net\", but there is no metadata server: "
#define MAKE "systemd-tmpfiles --create virt-seed-imds.conf"

/* --- the server ------------------------------------------------------------------------- */

static const char *const silences[] = {
    [IMDS_DEAF] = "it does not accept the connection",
    [IMDS_SILENT] = "it accepts the connection but sends nothing",
    [IMDS_CLOSING] = "it closes the connection",
    [IMDS_FAILING] = "it cannot read the seeds; its log says why",
};

bool
imds_health_is_silent(enum imds_health health)
{
    return health < ARRAY_SIZE(silences) && silences[health];
}

bool
imds_health_is_foreign(enum imds_health health)
{
    return health == IMDS_OTHER || health == IMDS_FOREIGN;
}

/* --- its tree --------------------------------------------------------------------------- */

/* Return: 0 if it is not the tree that is wrong. */
static int
check_tree(const struct imds_finding *finding, struct failure **failure)
{
    const uid_t owner = scope()->owner;

    if (finding->health == IMDS_TREE_MISSING)
        return failure_set(
            failure, FAILURE_IMDS,
            ASKS "%s does not exist\n"
                 "create it and start the server: systemd-sysusers && " MAKE " && "
                 "systemctl enable --now virt-seed-imds.socket "
                 "virt-seed-imds.service; or use datasource=\"nocloud\", which is a disk",
            IMDS_TREE);
    if (finding->health == IMDS_TREE_NO_DIRECTORY)
        return failure_set(failure, FAILURE_IMDS,
                           ASKS "%s is not a directory\n"
                                "replace it with a directory: " MAKE,
                           IMDS_TREE);
    if (finding->health == IMDS_TREE_CLOSED)
        return failure_set(failure, FAILURE_IMDS,
                           ASKS
                           "%s has mode %04o, expected 0750 with the server's group\n"
                           "fix it: " MAKE,
                           IMDS_TREE, finding->number);
    if (finding->health == IMDS_TREE_OPEN)
        return own_directory_check(owner, finding->number, owner, IMDS_TREE, failure);
    if (finding->health == IMDS_TREE_OWNER)
        return own_directory_check(finding->number, 0, owner, IMDS_TREE, failure);
    return 0;
}

int
imds_tree_check(int rundir, struct failure **failure)
{
    const struct imds_finding finding = imds_tree_find(rundir);

    return check_tree(&finding, failure);
}

/* --- both ------------------------------------------------------------------------------- */

/* Sets the failure of a server that is not healthy. Return: -1. */
static int
fail(const char *url_address, const struct imds_finding *finding,
     struct failure **failure)
{
    const enum imds_health health = finding->health;
    cleanup_free char *where = xstrdup(url_address);
    union inet_address address;
    int port;

    inet_address_read(&address, url_address, &port);
    if (port < 0) {
        port = HTTP_PORT;
        free(where);
        where = xasprintf("%s, port %d", url_address, port);
    }
    if (imds_health_is_silent(health))
        return failure_set(
            failure, FAILURE_IMDS,
            "the metadata server at %s does not answer: %s\n"
            "find out why: systemctl status virt-seed-imds.service; journalctl -u "
            "virt-seed-imds.service",
            where, silences[health]);
    if (health == IMDS_ABSENT)
        return failure_set(
            failure, FAILURE_IMDS,
            "nothing is listening at %s\n"
            "start the metadata server: systemctl enable --now virt-seed-imds.socket "
            "virt-seed-imds.service; see virt-seed-imds(8) for the address it should "
            "listen on",
            where);
    if (health == IMDS_OTHER)
        return failure_set(
            failure, FAILURE_IMDS,
            "another server is listening at %s, where guests look for the metadata "
            "server\n"
            "find out which one it is, and stop it: ss -ltnp 'sport = :%d'",
            where, port);
    if (health == IMDS_FOREIGN)
        return failure_set(
            failure, FAILURE_IMDS_USER,
            "a program of user %u is listening at %s, where guests look for the "
            "metadata server\n"
            "find out which one it is, and stop it: ss -ltnpe 'sport = :%d'",
            finding->number, where, port);
    return failure_set_errno(failure, FAILURE_IMDS, (int)finding->number,
                             "could not query the metadata server at %s\n"
                             "if no interface has the address: systemctl restart "
                             "virt-seed-imds-address.service",
                             where);
}

enum imds_health
imds_health_ask(const char *url_address, struct failure **failure)
{
    const struct imds_finding finding = imds_health_find(url_address);

    if (finding.health != IMDS_HEALTHY)
        fail(url_address, &finding, failure);
    return finding.health;
}

int
imds_check(const char *url_address, const struct imds_finding *finding,
           struct failure **failure)
{
    cleanup_failure struct failure *reason = NULL;
    const char *consequence = "come up as a new machine";

    if (finding->health == IMDS_HEALTHY || finding->health == IMDS_UNKNOWN)
        return 0;
    if (check_tree(finding, failure) < 0)
        return -1;
    fail(url_address, finding, &reason);
    if (reason->code == FAILURE_IMDS_USER)
        consequence = "take its seed from it";
    return failure_set(failure, reason->code,
                       "asks for datasource=\"nocloud-net\", but %s: the guest would %s\n"
                       "%s",
                       reason->message, consequence, reason->hint);
}

int
imds_health_check(const char *url_address, struct failure **failure)
{
    const struct imds_finding finding = imds_health_find(url_address);

    return imds_check(url_address, &finding, failure);
}
