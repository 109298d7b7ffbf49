#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# report.bats: guests report, and what `virt-seed wait` and `virt-seed pending` say about them is true.
#
# The guests boot side by side: one that succeeds, and is rebooted and started again by the tests;
# one whose user-data fails; one that finds no package; one that hangs.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

# request USER-DATA [ATTRIBUTES OF THE INSTANCE-ID]: what a domain asks for.
request() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
  <ci:instance-id ${2-}/>
  <ci:user-data>$1</ci:user-data>
</ci:cloud-init>
END
}

ready='#cloud-config
timezone: Asia/Tokyo
bootcmd: [[sh, -c, "date +%s >>/var/log/boots"]]'
changed=${ready/Tokyo/Seoul}
# cloud-init makes one script of the commands, and looks at how the last one ends.
failing='#cloud-config
runcmd: ["true", [sh, -c, "exit 3"]]'
# There is no archive to ask, so this fails at once.
packageless='#cloud-config
bootcmd: [[sh, -c, "rm -rf /etc/apt/sources.list*"]]
packages: [virt-seed-no-such-package]'
hanging='#cloud-config
runcmd: [[sleep, "3600"]]'

# define NAME USER-DATA [ATTRIBUTES]
define() {
    request "$2" "${3-}" | append=virt_seed_probe=stay guest_xml "$images" "$1" "$(uuid_of "$1")" \
        "$(console "$1")" | virt_seed --quiet wire - >"$images/$1.xml"
    lab_virsh define --validate "$images/$1.xml"
}

# The same for each name, so that a domain that is defined again is the same one.
uuid_of() {
    local digest

    digest=$(md5sum <<<"$1")
    echo "${digest:0:8}-${digest:8:4}-4${digest:13:3}-8${digest:17:3}-${digest:20:12}"
}

setup_file() {
    common_start_lab
    for name in ready failing packageless hanging; do
        guest_overlay "$images" "$name"
    done
    define ready "$ready"
    define failing "$failing"
    define packageless "$packageless"
    define hanging "$hanging"
    for name in ready failing packageless; do
        lab_virsh start "$name"
    done
}

# When its last stage ended according to the guest, in seconds since 1970.
end_of_boot() {
    tail -n 1 "$LAB_DIR/root/var/log/libvirt/virt-seed/$(uuid_of "$1").report" |
        jq '.status.v1."modules-final".finished'
}

# zone NAME: prints the time zone that the probe has seen in the last boot.
zone() {
    wait_for_report "$1"
    last_report "$1" | sed -n 's/^timezone=//p'
}

@test "wait exits 0 shortly after a successful guest is done" {
    local end

    run -0 virt_seed wait --timeout "$boot_seconds" ready
    end=$EPOCHREALTIME
    echo "$output"
    echo "# from the guest's end of its last stage to the exit of wait, seconds:" \
        "$(jq -n "$end - $(end_of_boot ready)")" >&3
    [[ $output == *modules-final* ]]
    [[ $(zone ready) = Asia/Tokyo ]]
}

@test "status knows the result" {
    run -0 virt_seed status --json ready
    echo "$output"
    jq -e '.[0] | .result == "done" and .datasource == "nocloud"' <<<"$output"
}

@test "wait exits 1 and names the module if a command in user-data fails" {
    run -1 virt_seed wait --timeout "$boot_seconds" failing
    echo "$output"
    [[ $output == *scripts*user*runcmd* ]]
}

@test "wait exits 1 and names the module if a package cannot be installed" {
    run -1 virt_seed wait --timeout "$boot_seconds" packageless
    echo "$output"
    [[ $output == *package* ]]
    lab_virsh destroy packageless
    lab_virsh destroy failing
    lab_virsh start hanging
}

@test "a guest that is rebooted reports again" {
    guest_reset ready
    run -0 virt_seed wait --next --timeout "$boot_seconds" ready
    echo "$output"
    [[ $(jq -r .boot "$LAB_DIR/root/var/log/libvirt/virt-seed/$(uuid_of ready).report" |
        sort -u | wc -l) -eq 2 ]]
}

@test "policy=\"domain\": pending says that the change will be ignored, and it is" {
    define ready "$changed"
    run -0 virt_seed pending ready
    echo "$output"
    [[ $output == *ignored* ]]
    lab_virsh destroy ready
    lab_virsh start ready
    run -0 virt_seed wait --timeout "$boot_seconds" ready
    [[ $(zone ready) = Asia/Tokyo ]]
}

is_in_its_last_stage() {
    virt_seed status --json "$1" | jq -e '.[0].stage == "modules-final"'
}

@test "wait exits 124 and names the stage if the guest hangs" {
    wait_until "$boot_seconds" is_in_its_last_stage hanging
    run -124 virt_seed wait --timeout 2 hanging
    echo "$output"
    [[ $output == *modules-final* ]]
    lab_virsh destroy hanging
    run -3 virt_seed wait --timeout 2 hanging
}

@test "policy=\"content\": pending says that the next boot is a first boot, and it is" {
    define ready "$changed" 'policy="content"'
    run -0 virt_seed pending ready
    echo "$output"
    [[ $output == *'first boot'* ]]
    lab_virsh destroy ready
    lab_virsh start ready
    run -0 virt_seed wait --timeout "$boot_seconds" ready
    [[ $(zone ready) = Asia/Seoul ]]
}

@test "without a change, the next boot is not a first boot" {
    run -0 virt_seed pending ready
    echo "$output"
    [[ $output != *'first boot'* ]]
}
