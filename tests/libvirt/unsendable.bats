#!/usr/bin/env bats
# unsendable.bats: a domain whose XML libvirt cannot send does not hide the others.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

big=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
request="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    metadata=$request domain_define web1
    # libvirt writes each of these as four characters, and sends at most 4 MiB.
    # shellcheck disable=SC2016  # python's
    metadata=$request domain_xml web2 $big |
        python3 -c 'import sys; print(sys.stdin.read().replace("<metadata>", "<description>" + ">" * 2000000 + "</description><metadata>"))' \
            >web2.xml
    lab_virsh define web2.xml
    run ! lab_virsh dumpxml web2
}

teardown() {
    lab_reset
}

@test "status shows a domain that libvirt cannot send, with the reason" {
    run -0 --separate-stderr virt_seed status -o domain,state,wired,seed
    [[ ${#lines[@]} -eq 3 ]]
    [[ ${lines[1]} = 'web1 '*' off '* && ${lines[2]} = 'web2 '*' off '*' ? '* ]]
    # shellcheck disable=SC2154  # run sets it
    [[ $stderr = *"warning: "*"could not read domain 'web2': "* ]]
    run -0 --separate-stderr virt_seed status --json
    [[ $(jq -r '.[] | .domain, .wired, .message' <<<"$output") = $'web1\nfalse\nnull\nweb2\nnull\ncould not read domain \'web2\': '* ]]
    run -0 virt_seed status web2
}

@test "check --all and start name a domain that libvirt cannot send, and fail after the others" {
    run -1 virt_seed check --all --no-schema
    [[ $output = *'web1: error: '*'[unwired]'* && $output = *"error: could not read domain 'web2': "* ]]
    run -1 virt_seed start --no-wait --all
    [[ $output = *'web1: started'* && $output = *"error: could not read domain 'web2': "* ]]
}

@test "doctor says which domain libvirt cannot send" {
    run virt_seed doctor
    [[ $output = *"could not read domain 'web2': "* ]]
}
