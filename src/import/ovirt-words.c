/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stddef.h>

#include "import/ovirt-words.h"

static const struct ovirt_word ip[] = {{"address", NULL, 0, NULL},
                                       {"netmask", NULL, 0, NULL},
                                       {"gateway", NULL, 0, NULL},
                                       {"version", NULL, OVIRT_LOWER, NULL},
                                       {0}};
static const struct ovirt_word nic_configuration[] = {
    {"name", NULL, 0, NULL},
    {"on_boot", NULL, OVIRT_LOWER, NULL},
    {"boot_protocol", NULL, OVIRT_LOWER, NULL},
    {"ip", ip, 0, NULL},
    {"ipv6_boot_protocol", NULL, OVIRT_LOWER, NULL},
    {"ipv6", ip, 0, NULL},
    {0}};
static const struct ovirt_word nic_configurations[] = {
    {"nic_configuration", nic_configuration, OVIRT_REPEATED, NULL}, {0}};
static const struct ovirt_word user[] = {
    {"user_name", NULL, 0, NULL},
    {"password", NULL, OVIRT_VERBATIM | OVIRT_SECRET, NULL},
    {0}};
static const struct ovirt_word users[] = {{"user", user, OVIRT_REPEATED, NULL}, {0}};
static const struct ovirt_word key_user[] = {{"user_name", NULL, 0, NULL}, {0}};
static const struct ovirt_word authorized_key[] = {
    {"user", key_user, 0, NULL}, {"key", NULL, 0, NULL}, {0}};
static const struct ovirt_word authorized_keys[] = {
    {"authorized_key", authorized_key, OVIRT_REPEATED, NULL}, {0}};
static const struct ovirt_word file[] = {{"name", NULL, 0, NULL},
                                         {"content", NULL, OVIRT_VERBATIM, NULL},
                                         {"type", NULL, 0, NULL},
                                         {0}};
static const struct ovirt_word files[] = {{"file", file, OVIRT_REPEATED, NULL}, {0}};
static const struct ovirt_word host[] = {{"address", NULL, 0, "host_name"}, {0}};

/* The deprecated type CloudInit. */
const struct ovirt_word ovirt_hosts[] = {{"host", NULL, OVIRT_REPEATED, NULL}, {0}};
static const struct ovirt_word dns[] = {
    {"servers", ovirt_hosts, OVIRT_WORDS, "dns_servers"},
    {"search_domains", ovirt_hosts, OVIRT_WORDS, "dns_search"},
    {0}};
static const struct ovirt_word network[] = {{"ip", ip, 0, NULL}, {0}};
static const struct ovirt_word nic[] = {{"name", NULL, 0, NULL},
                                        {"on_boot", NULL, OVIRT_LOWER, NULL},
                                        {"boot_protocol", NULL, OVIRT_LOWER, NULL},
                                        {"network", network, OVIRT_INLINE, NULL},
                                        {0}};
static const struct ovirt_word nics[] = {
    {"nic", nic, OVIRT_REPEATED, "nic_configuration"}, {0}};
static const struct ovirt_word network_configuration[] = {
    {"dns", dns, OVIRT_INLINE, NULL}, {"nics", nics, 0, "nic_configurations"}, {0}};
static const struct ovirt_word cloud_init[] = {
    {"host", host, OVIRT_INLINE, NULL},
    {"authorized_keys", authorized_keys, 0, NULL},
    {"network_configuration", network_configuration, OVIRT_INLINE, NULL},
    {"regenerate_ssh_keys", NULL, OVIRT_LOWER, NULL},
    {"timezone", NULL, 0, NULL},
    {"users", users, 0, NULL},
    {"files", files, OVIRT_SCRIPT, NULL},
    {0}};

const struct ovirt_word ovirt_initialization[] = {
    {"host_name", NULL, 0, NULL},
    {"timezone", NULL, 0, NULL},
    {"root_password", NULL, OVIRT_VERBATIM | OVIRT_SECRET, NULL},
    {"user_name", NULL, 0, NULL},
    {"authorized_ssh_keys", NULL, OVIRT_VERBATIM, NULL},
    {"regenerate_ssh_keys", NULL, OVIRT_LOWER, NULL},
    {"dns_servers", NULL, 0, NULL},
    {"dns_search", NULL, 0, NULL},
    {"nic_configurations", nic_configurations, 0, NULL},
    {"custom_script", NULL, OVIRT_VERBATIM, NULL},
    {"cloud_init_network_protocol", NULL, OVIRT_LOWER, NULL},
    {"host", host, OVIRT_INLINE, NULL},
    {"authorized_keys", authorized_keys, 0, NULL},
    {"users", users, 0, NULL},
    {"files", files, 0, NULL},
    {"locale", NULL, 0, NULL},
    {"phone_home", NULL, 0, NULL},
    {"cloud_init", cloud_init, OVIRT_INLINE, NULL},
    {"active_directory_ou", NULL, OVIRT_SYSPREP, NULL},
    {"domain", NULL, OVIRT_SYSPREP, NULL},
    {"input_locale", NULL, OVIRT_SYSPREP, NULL},
    {"org_name", NULL, OVIRT_SYSPREP, NULL},
    {"system_locale", NULL, OVIRT_SYSPREP, NULL},
    {"ui_language", NULL, OVIRT_SYSPREP, NULL},
    {"user_locale", NULL, OVIRT_SYSPREP, NULL},
    {"windows_license_key", NULL, OVIRT_SYSPREP | OVIRT_SECRET, NULL},
    {"configuration", NULL, OVIRT_DROPPED, NULL},
    {"regenerate_ids", NULL, OVIRT_DROPPED, NULL},
    {0}};
