#!/usr/bin/env bats
# disk.bats: domains with their seed on a disk, on a whole host: from a refused start to the upgrade of
# virt-seed's packages. The domain "web1" runs through most of the file.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"
load ../libvirt/report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso
report=/var/log/libvirt/virt-seed/$web1.report

# assert_runs_on PROCESS: web1 still is this process, and still has its seed.
assert_runs_on() {
    [[ $(on_host cat /run/libvirt/qemu/web1.pid) = "$1" ]]
    on_host kill -0 "$1"
    [[ $(on_host stat -c '%U %a' "$seed") = 'libvirt-qemu 400' ]]
}

@test "refuses an unwired domain and wires it shortly afterwards" {
    metadata="<ci:cloud-init xmlns:ci='$namespace'><ci:hostname>web1.example.org</ci:hostname>
        </ci:cloud-init>" tiny_xml web1 $web1 | on_host virsh define /dev/stdin
    run on_host virsh start web1
    [[ $status -ne 0 && $output = *"asks for cloud-init but is not wired for it yet"* ]]
    wait_until 300 is_wired
}

is_wired() {
    grep -q 'ds=nocloud;dsmode=net' <(on_host virsh dumpxml --inactive web1)
}

@test "then it starts with its seed, and its guest is confined" {
    local process

    on_host virsh start web1
    run -0 on_host virt-seed inspect "$seed"
    [[ $output = *'local-hostname web1.example.org'* ]]
    process=$(on_host cat /run/libvirt/qemu/web1.pid)
    assert_runs_on "$process"
    assert_confined "$process" $web1
    assert_no_denials
}

@test "it keeps running while libvirtd is restarted" {
    local process

    process=$(on_host cat /run/libvirt/qemu/web1.pid)
    on_host systemctl restart libvirtd.service
    [[ $(on_host virsh domstate web1) = running* ]]
    assert_runs_on "$process"
    assert_no_denials
}

# as USER COMMAND…: runs it as the user, with the environment of a login.
as() {
    on_host runuser -u "$1" -- env LIBVIRT_DEFAULT_URI=qemu:///system "${@:2}"
}

# shellcheck disable=SC2154  # boot1 is report.bash's
say_of_guest() {
    report_line "$boot1" "$@" | on_host tee -a "$report" >/dev/null
}

@test "root and members of the group libvirt see the guest's progress" {
    local user

    say_of_guest "$(report_runs)"
    for user in root bob; do
        run -0 as "$user" virt-seed status --json web1
        jq -e '.[0] | .state == "running" and .wired and .seed and .result == "running"' <<<"$output"
        run -124 as "$user" virt-seed wait --timeout=0 web1
    done
    say_of_guest "$(report_ended)" "$(report_result)"
    for user in root bob; do
        run -0 as "$user" virt-seed wait --timeout=10 web1
    done
}

@test "root and members of the group libvirt see what the next start changes" {
    local user

    for user in root bob; do
        run -0 as "$user" virt-seed pending --json web1
        jq -e '.boot == "same-instance" and .denied == null' <<<"$output"
    done
}

@test "an ordinary user sees that the domain exists, and what only others may know" {
    run as alice virt-seed status --json web1
    jq -e '.[0] | .state == "running" and .result == "unknown"' <<<"$(grep -v '^virt-seed:' <<<"$output")"
    run as alice virt-seed wait --timeout=10 web1
    [[ $status -eq 1 && $output = *'virt-seed: error: '* ]]
    run as alice virt-seed pending web1
    [[ $status -eq 1 && $output = *'virt-seed: error: '* ]]
    run ! as alice cat "$report"
    run ! as alice cat "$seed"
}

@test "it keeps running during an upgrade of the packages, and ends normally afterwards" {
    local process

    process=$(on_host cat /run/libvirt/qemu/web1.pid)
    host_upgrade
    assert_runs_on "$process"
    [[ $(on_host virsh domstate web1) = running* ]]
    on_host virsh destroy web1
    run ! on_host test -e "$seed"
    on_host virsh start web1
    on_host test -e "$seed"
    assert_no_denials
}

@test "without wiring and request it starts like a domain that never had them" {
    on_host virsh destroy web1
    on_host virt-seed unset web1
    on_host virsh start web1
    run -0 on_host virsh dumpxml web1
    [[ $output != *virt-seed* && $output != *ds=nocloud* ]]
    run -0 on_host find /run/libvirt/virt-seed -type f
    [[ $output = '' ]]
    on_host virsh destroy web1
    on_host virsh undefine web1
    assert_no_denials
}
