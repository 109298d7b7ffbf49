#!/usr/bin/env bats
# remote.bats: commands on a domain of another host, by a real sshd, which here is on the loopback
# shellcheck disable=SC2016  # what must not be run, in quotes
# address of the lab.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

setup() {
    local sshd

    cd "$BATS_TEST_TMPDIR" || return
    sshd=$(type -P sshd || type -P /usr/sbin/sshd) || skip 'sshd is not installed'
    ssh-keygen -q -t ed25519 -N '' -f host-key
    ssh-keygen -q -t ed25519 -N '' -f key
    cat >sshd_config <<END
Port 2222
ListenAddress 127.0.0.1
HostKey $PWD/host-key
AuthorizedKeysFile $PWD/key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PidFile $PWD/sshd.pid
SetEnv PATH=${builddir:?}:$PATH
END
    echo "[127.0.0.1]:2222 $(<host-key.pub)" >known-hosts
    printf '#!/bin/sh\nexec ssh -F /dev/null -o UserKnownHostsFile=%s "$@"\n' "$PWD/known-hosts" >our-ssh
    chmod +x our-ssh
    lab_run install -d -m 0755 /run/sshd
    lab_run "$sshd" -f "$PWD/sshd_config" -E "$PWD/sshd.log"
    uri="qemu+ssh://root@127.0.0.1:2222/system?keyfile=$PWD/key&command=$PWD/our-ssh&no_tty=1"
    domain_define web1 $web1
    virt_seed set web1 --hostname=web1.example.org
}

teardown() {
    lab_reset
    if [[ -e sshd.pid ]]; then
        # shellcheck disable=SC2016  # the lab's shell reads it: the process id is the lab's
        lab_run sh -c 'kill "$(cat sshd.pid)"'
    fi
}

@test "a domain of another host is checked, printed, waited for and updated there" {
    run virt_seed -c "$uri" check --no-schema web1
    cat sshd.log
    echo "$output"
    [[ $status -eq 0 && $output = *'on 127.0.0.1: virt-seed --connect=qemu:///system check'* ]]
    [[ $output = *"domain 'web1': no problems found"* || $output = *warning* ]]
    run -0 virt_seed -q -c "$uri" dump web1 meta-data
    [[ $(jq -r '."local-hostname"' <<<"$output") = web1.example.org ]]
    run -0 virt_seed -q -c "$uri" status --json
    [[ $(jq -r '.[].domain' <<<"$output") = web1 ]]
    run -3 virt_seed -q -c "$uri" wait --timeout=0 web1
    lab_virsh start web1
    run -0 virt_seed -q -c "$uri" update web1
    run -124 virt_seed -q -c "$uri" wait --timeout=0 web1
}

@test "the name of a domain is not run as a command" {
    run virt_seed -q -c "$uri" check '$(touch injected)' "web1; touch injected"
    [[ $status -ne 0 && ! -e injected ]]
    run -1 virt_seed -q -c "$uri" check "web1; touch $PWD/injected"
    [[ $output = *"web1; touch"* && ! -e injected ]]
}
