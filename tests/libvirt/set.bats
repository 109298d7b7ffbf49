#!/usr/bin/env bats
# set.bats: 'virt-seed set' on libvirt's domains, also while somebody else changes them.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    printf '#cloud-config\nlocale: C.UTF-8\n' >user-data
    domain_define web1 $web1
}

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /etc/virt-seed/*'
}

definition() {
    lab_virsh dumpxml --inactive web1
}

@test "after one command, the domain starts with what was set" {
    virt_seed set web1 --hostname=web1.example.org --user-data=user-data
    lab_virsh start web1
    [[ $(virt_seed inspect --json "$seed" | jq -r .label) = cidata ]]
    [[ $(virt_seed dump web1 user-data) = "$(<user-data)" ]]
}

@test "writes only the element if the domain is already wired" {
    local before

    virt_seed set web1 --hostname=one
    # What libvirt would drop or change if it formatted the definition again.
    before=$(definition | sed '/<metadata>/,/<\/metadata>/d')
    run -0 virt_seed set web1 --hostname=two --meta-data=a='<b> & c'
    [[ $output = *'--hostname written'* && $output != *cdrom* ]]
    [[ $(definition | sed '/<metadata>/,/<\/metadata>/d') = "$before" ]]
    run -0 virt_seed dump web1 meta-data
    [[ $(jq -r '."local-hostname", .a' <<<"$output") = $'two\n<b> & c' ]]
    run -0 virt_seed set web1 --hostname=two --meta-data=a='<b> & c'
    [[ $output = *'asks for that already'* ]]
}

@test "a running domain continues and gets the change at its next start" {
    virt_seed set web1 --hostname=one
    lab_virsh start web1
    run -0 virt_seed set web1 --hostname=two
    [[ $output = *'takes effect at its next start'* ]]
    run -0 lab_virsh dumpxml web1
    [[ $output = *'>one<'* && $output != *'>two<'* ]]
    run -0 definition
    [[ $output = *'>two<'* ]]
}

@test "root's password is a secret in the domain's seed" {
    echo 'correct horse' >password
    virt_seed set web1 --root-password-file=password
    lab_virsh start web1
    [[ $(definition) != *horse* ]]
    [[ $(lab_run stat -c %a /etc/virt-seed/secrets/web1/root-password) = 600 ]]
    run -0 virt_seed dump --show-secrets web1 user-data
    [[ $output = *'correct horse'* ]]
}

@test "keeps a change that somebody else makes at the same time" {
    local first waiting status

    mkfifo fifo
    for first in unwired wired; do
        virt_seed set web1 --user-data=fifo >log 2>&1 &
        waiting=$!
        # This waits until 'set' opens the file, and by then it has read the definition.
        exec 9>fifo
        lab_virsh desc web1 --config "changed while $first" >/dev/null
        cat user-data >&9
        exec 9>&-
        status=0
        wait "$waiting" || status=$?
        cat log
        [[ $status -eq 1 ]]
        grep -q "error: somebody else changed the definition of 'web1' while this command was running" log
        grep -q '^virt-seed: hint: ' log
        run -0 definition
        [[ $output = *"changed while $first"* && $output != *C.UTF-8* ]]
        virt_seed set web1 --hostname=one
    done
}

@test "unset removes all of it" {
    virt_seed set web1 --hostname=one
    virt_seed unset web1
    [[ $(definition) != *virt-seed* && $(definition) != *"<smbios"* ]]
}

@test "--print leaves the domain unchanged" {
    local before

    before=$(definition)
    run -0 virt_seed set web1 --print --hostname=one
    [[ $output = *'>one<'*ua-virt-seed* ]]
    [[ $(definition) = "$before" ]]
}
