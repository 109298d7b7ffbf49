/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are virt-seed.conf, and a secret's list of domains; the first
 * line is the name of a secret and the second that of a key, as somebody's XML has them.
 */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "fuzz.h"
#include "host/secret.h"
#include "store/configuration.h"

#define UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"
#define CONTENT "what the secret holds"
#define OUTSIDE "what nobody may see"

static char name[] = "web1";
static const struct secret_user domain = {.name = name, .uuid = UUID};

static void
prepare(void)
{
    static bool prepared;

    if (prepared)
        return;
    prepared = true;
    fuzz_write_file(VIRT_SEED_CONFDIR "/secrets/listed/key", CONTENT, strlen(CONTENT));
    fuzz_write_file(VIRT_SEED_CONFDIR "/secrets/open/key", CONTENT, strlen(CONTENT));
    fuzz_write_file(VIRT_SEED_CONFDIR "/secrets/outside", OUTSIDE, strlen(OUTSIDE));
    fuzz_write_file(VIRT_SEED_CONFDIR "/outside", OUTSIDE, strlen(OUTSIDE));
}

static void
read_config(void)
{
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *failure = NULL;

    fuzz_succeeded(config_read(&config, fuzz_root(), &failure), &failure);
    fuzz_require(config.files.directory_count > 0);
    for (size_t i = 0; i < config.files.directory_count; i++)
        fuzz_require(config.files.directories[i][0] == '/');
}

/* Return: whether the secret was read; what is read is never anything else. */
static bool
read_secret(const char *secret, const char *key)
{
    const char *const keys[] = {key, NULL};
    const char *found;
    cleanup_buffer struct buffer content = {0};
    cleanup_failure struct failure *failure = NULL;
    int result =
        secret_read(fuzz_root(), &domain, secret, keys, &content, &found, &failure);

    if (!fuzz_succeeded(result, &failure))
        return false;
    fuzz_require(strcmp(content.data, CONTENT) == 0);
    return true;
}

/* Return: whether the list could mean the domain at all. */
static bool
could_allow(const char *list)
{
    return strpbrk(list, "*?[\\") || strstr(list, name) || strcasestr(list, UUID);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_free char *text = xstrndup((const char *)data, size);
    char *rest = text;
    const char *secret, *key;

    prepare();
    fuzz_write_file(VIRT_SEED_CONFDIR "/virt-seed.conf", data, size);
    read_config();
    fuzz_write_file(VIRT_SEED_CONFDIR "/secrets/listed/allow", data, size);
    if (read_secret("listed", "key"))
        fuzz_require(could_allow(text));
    secret = strsep(&rest, "\n");
    key = rest ? strsep(&rest, "\n") : "key";
    read_secret(secret, key);
    return 0;
}
