#!/usr/bin/env bats
# defaults.bats: what virt-seed.conf and conf.d give to libvirt's domains that do not say it themselves.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso
key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx'

setup() {
    lab_run mkdir -p -m 0755 /etc/virt-seed /etc/virt-seed/files /etc/virt-seed/conf.d
    configure files/keys "$key host"
}

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /etc/virt-seed/* /var/lib/virt-seed/*'
}

# configure NAME LINE...: writes the file below /etc/virt-seed.
configure() {
    printf '%s\n' "${@:2}" | lab_run tee "/etc/virt-seed/$1" >/dev/null
}

# define [CHILDREN]: web1 asks, chooses no datasource, and is not wired.
define() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>${1-}</ci:cloud-init>" \
        domain_define web1 $web1
}

# is_wired: whether the hook has wired the definition.
is_wired() {
    [[ $(lab_virsh dumpxml --inactive web1) = *"$seed"* ]]
}

# seed_text: the label of the running domain's seed, and all of its documents.
seed_text() {
    virt_seed inspect "$seed"
    lab_run rm -rf /run/extracted
    virt_seed -q inspect --extract=/run/extracted "$seed" >/dev/null
    lab_run sh -c 'find /run/extracted -type f -exec cat {} +'
}

@test "a domain that says nothing starts with the host's user, keys and datasource" {
    configure virt-seed.conf 'default-user = admin'
    configure conf.d/10-site.conf 'default-ssh-keys = keys' 'default-datasource = configdrive'
    define
    # The hook refuses the first start, and wires the definition a moment later.
    run ! lab_virsh start web1
    wait_until 60 is_wired
    run -0 lab_virsh dumpxml --inactive web1
    [[ $output = *datasource=?configdrive* ]]
    lab_virsh start web1
    run -0 seed_text
    [[ $output = *'label: config-2'* && $output = *"$key host"* && $output = *admin* ]]
    run -0 virt_seed dump web1
    [[ $output = *'from /etc/virt-seed/virt-seed.conf: default-user = admin'* ]]
    [[ $output = *'from /etc/virt-seed/conf.d/10-site.conf: default-ssh-keys = keys'* ]]
}

@test "a domain's own user and keys win, and the host's do not reach its seed" {
    configure conf.d/site.conf 'default-user = admin' 'default-ssh-keys = keys'
    define "<ci:ssh-authorized-keys><ci:key>$key mine</ci:key></ci:ssh-authorized-keys><ci:initialization><ci:user_name>own</ci:user_name></ci:initialization>"
    virt_seed wire web1
    lab_virsh start web1
    run -0 seed_text
    [[ $output = *"$key mine"* && $output = *own* ]]
    [[ $output != *"$key host"* && $output != *admin* ]]
}

@test "a changed default counts from the next start, but a wired domain keeps its datasource" {
    configure conf.d/site.conf 'default-user = adminone' 'default-datasource = configdrive'
    define
    virt_seed wire web1
    lab_virsh start web1
    configure conf.d/site.conf 'default-user = admintwo' 'default-datasource = nocloud'
    run -0 seed_text
    [[ $output = *'label: config-2'* && $output = *adminone* ]]
    lab_virsh destroy web1
    lab_virsh start web1
    run -0 seed_text
    [[ $output = *'label: config-2'* && $output = *admintwo* && $output != *adminone* ]]
}

@test "keys of a file that does not exist refuse the start with the configuration's name" {
    configure conf.d/site.conf 'default-ssh-keys = missing'
    define
    virt_seed wire web1
    run ! lab_virsh start web1
    [[ $output = *'conf.d/site.conf, default-ssh-keys = missing: no such file'* ]]
}
