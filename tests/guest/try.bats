#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# try.bats: virt-seed try with real guests: a seed that is good, one whose command fails, and one whose
# network the guest cannot have. They boot side by side before the first test.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

good_uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
failing_uuid=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
locked_uuid=c2a1f0de-9a76-4d0b-9c6b-0c7b2bd3ce11

# It fails unless the guest sees the domain's own UUID, and its disk as it was left.
good="<ci:user-data>#cloud-config
runcmd:
- set -e
- test \"\$(cat /sys/class/dmi/id/product_uuid)\" = $good_uuid
- test ! -e /root/rehearsed
- touch /root/rehearsed
</ci:user-data>"
failing='<ci:user-data>#cloud-config
runcmd: [[sh, -c, "echo the command has failed; exit 3"]]
</ci:user-data>'
# The domain has no such interface.
locked='<ci:network-config>
version: 1
config:
- {type: physical, name: lan0, mac_address: "52:54:00:00:00:99", subnets: [{type: dhcp}]}
</ci:network-config>'

define() {
    local name=$1 uuid=$2

    guest_overlay "$images" "$name"
    guest_xml "$images" "$name" "$uuid" "$(console "$name")" >"$images/$name.xml" <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">$3</ci:cloud-init>
END
    lab_virsh define "$images/$name.xml"
}

begin_trying() {
    local status=0

    virt_seed try --timeout "$boot_seconds" "$1" >"$images/$1.out" 2>"$images/$1.err" || status=$?
    echo "$status" >"$images/$1.status"
}

setup_file() {
    local name pids=()

    common_start_lab
    define good $good_uuid "$good"
    define failing $failing_uuid "$failing"
    define locked $locked_uuid "$locked"
    sha256sum "$images"/*.qcow2 >"$images/digests"
    # Nothing that stays may have the descriptors for which bats waits.
    for name in good failing locked; do
        begin_trying "$name" 3>&- 4>&- &
        pids+=("$!")
    done
    wait "${pids[@]}"
    head -n 99 "$images"/*.status "$images"/*.out "$images"/*.err
}

@test "a good seed is told" {
    [[ $(<"$images/good.status") = 0 ]]
    [[ $(<"$images/good.out") = *'good-try: done'* ]]
}

@test "a command that fails is told, with what the guest printed" {
    [[ $(<"$images/failing.status") = 1 ]]
    [[ $(<"$images/failing.err") = *"'failing-try': cloud-init has finished with "*error* ]]
    [[ $(<"$images/failing.err") = *'the command has failed'* ]]
}

@test "a network that the guest cannot have is told" {
    [[ $(<"$images/locked.status") = 1 ]]
    [[ $(<"$images/locked.err") = *"init-local: "*52:54:00:00:00:99* ]]
}

@test "the domains' disks are as they were, and nothing is left" {
    sha256sum --quiet --check "$images/digests"
    [[ $(lab_virsh list --all --name | sort | xargs) = 'failing good locked' ]]
    [[ -z $(find "$LAB_DIR/root/var/lib/libvirt/virt-seed" -mindepth 1) ]]
}
