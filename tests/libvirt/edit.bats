#!/usr/bin/env bats
# edit.bats: 'virt-seed edit' on libvirt's domains, also while somebody else changes them.
# shellcheck disable=SC2016  # the editors are scripts in quotes

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    domain_define web1 $web1
    export EDITOR=$PWD/editor
}

teardown() {
    lab_reset
}

# edit SCRIPT [ARGUMENT...]: edits web1 with that shell script, whose $1 is the file, as the editor.
edit() {
    printf '#!/bin/sh -e\n%s\n' "$1" >editor
    chmod +x editor
    shift
    virt_seed edit web1 "$@" </dev/null
}

@test "a document is edited, and the domain starts with it" {
    run -0 edit 'echo "locale: C.UTF-8" >>"$1"'
    [[ $output = *'user-data edited'* ]]
    lab_virsh start web1
    [[ $(virt_seed dump web1 user-data) = $'#cloud-config\nlocale: C.UTF-8' ]]
    run -0 edit 'sed -i s/C.UTF-8/POSIX/ "$1"'
    [[ $output = *'is running; the change takes effect at its next start'* ]]
    [[ $(virt_seed dump web1 user-data) = $'#cloud-config\nlocale: POSIX' ]]
}

@test "what somebody else changes meanwhile is not lost" {
    local file status=0

    virt_seed set web1 --hostname=one
    mkfifo begun go
    edit 'echo >begun; read line <go; echo "locale: C.UTF-8" >>"$1"' >log 2>&1 &
    read -r _ <begun
    lab_virsh desc web1 --config 'changed by somebody else' >/dev/null
    echo >go
    wait $!
    run -0 lab_virsh dumpxml --inactive web1
    [[ $output = *'changed by somebody else'* && $output = *C.UTF-8* ]]

    edit 'echo >begun; read line <go; echo "timezone: UTC" >>"$1"' >log 2>&1 &
    read -r _ <begun
    echo '#!/bin/sh' >user-data
    virt_seed set web1 --user-data=user-data
    echo >go
    wait $! || status=$?
    cat log
    [[ $status -eq 1 ]]
    grep -q "error: somebody else changed the user-data of 'web1' meanwhile" log
    file=$(sed -n 's/^virt-seed: the text that you edited is in //p' log)
    grep -q '^timezone: UTC' "$file"
    rm "$file"
    [[ $(virt_seed dump web1 user-data) = '#!/bin/sh' ]]
}
