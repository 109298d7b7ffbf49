/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <arpa/inet.h>

#include "base/inet.h"
#include "domain/guest-value.h"
#include "host/datasource.h"
#include "store/configuration.h"

static void
clear_default(struct host_default *host_default)
{
    free(host_default->value);
    free(host_default->file);
    *host_default = (struct host_default){0};
}

static bool
is_datasource(const char *value)
{
    return datasource_find(value);
}

/* --- the metadata server's address ------------------------------------------------------ */

/* Return: whether another machine can reach it: not unspecified, loopback, link-local with a
 * scope, multicast, broadcast or IPv4-mapped. */
static bool
is_reachable(const union inet_address *address)
{
    const struct in6_addr *ipv6 = &address->ipv6.sin6_addr;
    const unsigned int first = ntohl(address->ipv4.sin_addr.s_addr) >> 24;

    if (address->any.sa_family == AF_INET)
        return first != 0 && first != IN_LOOPBACKNET && first < 224;
    return !IN6_IS_ADDR_UNSPECIFIED(ipv6) && !IN6_IS_ADDR_LOOPBACK(ipv6) &&
           !IN6_IS_ADDR_LINKLOCAL(ipv6) && !IN6_IS_ADDR_MULTICAST(ipv6) &&
           !IN6_IS_ADDR_V4MAPPED(ipv6);
}

/* Return: its usual form, without port 80, owned by the caller (free); NULL if it is not such an
 * address. */
static char *
read_server_address(const char *text)
{
    char host[INET6_ADDRSTRLEN] = "";
    union inet_address address;
    const void *bytes = &address.ipv4.sin_addr;
    cleanup_free char *usual = NULL;
    int port;

    if (inet_address_read(&address, text, &port) == 0 || port == 0)
        return NULL;
    if (!is_reachable(&address))
        return NULL;
    if (address.any.sa_family == AF_INET6)
        bytes = &address.ipv6.sin6_addr;
    inet_ntop(address.any.sa_family, bytes, host, sizeof(host));
    usual = xasprintf(address.any.sa_family == AF_INET6 ? "[%s]" : "%s", host);
    if (port < 0 || port == HTTP_PORT)
        return steal(usual);
    return xasprintf("%s:%d", usual, port);
}

static int
take_imds_address(struct config *config, const char *value)
{
    free(config->imds_address);
    config->imds_address = read_server_address(value);
    return config->imds_address ? 0 : -EINVAL;
}

/* --- the settings ------------------------------------------------------------------------ */

/* Read already (host/config-files.h). */
static int
ignore(struct config *config, const char *value)
{
    return 0;
}

struct setting {
    const char *key;
    const char *expected;
    size_t member; /* where it is in struct config */
    /* The words for a bool; without them and take(), it is a host_default. */
    const char *if_true, *if_false;
    bool (*is_valid)(const char *value); /* NULL: any text is */
    int (*take)(struct config *config, const char *value);
};

static const struct setting settings[] = {
    {"autowire", "yes or no", .member = offsetof(struct config, autowire),
     .if_true = "yes", .if_false = "no"},
    {"unwired", "refuse or warn", .member = offsetof(struct config, warn_unwired),
     .if_true = "warn", .if_false = "refuse"},
    {CONFIG_FILE_DIRECTORY, "", .take = ignore},
    {"vendor-data", "a file", .member = offsetof(struct config, vendor_data)},
    {"default-user", USER_NAME_RULE, .member = offsetof(struct config, default_user),
     .is_valid = guest_value_is_user_name},
    {"default-datasource", "a datasource of virt-seed-xml(5)",
     .member = offsetof(struct config, default_datasource), .is_valid = is_datasource},
    {"default-ssh-keys", "a file", .member = offsetof(struct config, default_keys)},
    {"imds-address",
     "ADDRESS or ADDRESS:PORT that guests can reach, with [ADDRESS] for IPv6; not a "
     "host name",
     .take = take_imds_address},
};

/* A mistake also takes back what an earlier line says: false, or no value, is safer. */
static int
take_value(struct config *config, const struct setting *setting, const char *file,
           const char *value)
{
    void *member = (char *)config + setting->member;
    struct host_default *host_default = member;
    bool *choice = member;
    bool well;

    if (setting->take)
        return setting->take(config, value);
    if (setting->if_true) {
        *choice = strcmp(value, setting->if_true) == 0;
        return *choice || strcmp(value, setting->if_false) == 0 ? 0 : -EINVAL;
    }
    clear_default(host_default);
    well = !*value || !setting->is_valid || setting->is_valid(value);
    if (well && *value) {
        host_default->value = xstrdup(value);
        host_default->file = xstrdup(file);
    }
    return well ? 0 : -EINVAL;
}

static void
read_line(struct config *config, const char *file, int number, char *line,
          struct failure **failure)
{
    char *key, *value;
    const int found = config_split_line(line, &key, &value);

    if (found < 0 && !*failure)
        failure_set(failure, FAILURE_CONFIG,
                    "%s: line %d: expected 'key = value'\nsee virt-seed.conf(5)", file,
                    number);
    if (found <= 0)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        if (strcmp(settings[i].key, key) != 0)
            continue;
        if (take_value(config, &settings[i], file, value) < 0 && !*failure)
            config_fail_value(file, number, key, value, settings[i].expected, failure);
        return;
    }
    if (!*failure)
        failure_set(failure, FAILURE_CONFIG,
                    "%s: line %d: unknown setting '%.128s'\n"
                    "see virt-seed.conf(5) for its name",
                    file, number, key);
}

int
config_parse(struct config *config, struct failure **failure)
{
    const struct config_files *files = &config->files;

    config->autowire = true;
    for (size_t i = 0; i < files->count; i++) {
        cleanup_free char *text = xstrdup(buffer_text(&files->list[i].text));
        char *rest = text;
        int number = 0;

        for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
            read_line(config, files->list[i].path, ++number, line, failure);
    }
    if (*failure || !files->is_complete)
        config->autowire = false;
    else if (!config->imds_address)
        config->imds_address = xstrdup(VIRT_SEED_IMDS_ADDRESS);
    return *failure ? -1 : 0;
}

int
config_read(struct config *config, int root, struct failure **failure)
{
    *config = (struct config){0};
    config_files_read(&config->files, root, failure);
    return config_parse(config, failure);
}

void
config_clear(struct config *config)
{
    config_files_clear(&config->files);
    clear_default(&config->vendor_data);
    clear_default(&config->default_keys);
    clear_default(&config->default_user);
    clear_default(&config->default_datasource);
    free(config->imds_address);
    *config = (struct config){0};
}
