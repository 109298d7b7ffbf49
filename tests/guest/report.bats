#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# report.bats: guests report, and what `virt-seed wait` and `virt-seed pending` say about them is true.
#
# The guests boot side by side: one that succeeds, and is rebooted and started again by the tests;
# one whose user-data fails; one that finds no package; one that hangs; one in which somebody changes
# what cloud-init has read; one that ignores vendor-data; two whose user-data cloud-init does not use;
# one that reboots by itself; one that is reverted to a snapshot.

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
runcmd: ["true", [sh, -c, "echo said by a command; exit 3"]]'
# There is no archive to ask, so this fails at once.
packageless='#cloud-config
bootcmd: [[sh, -c, "rm -rf /etc/apt/sources.list*"]]
packages: [virt-seed-no-such-package]'
hanging='#cloud-config
runcmd: [[sleep, "3600"]]'
# Root in the guest does, before the reporter looks.
tampered='#cloud-boothook
#!/bin/sh
echo tampered >>/var/lib/cloud/instance/user-data.txt'
silent='#cloud-config
vendor_data: {enabled: false}'

# The key has a hyphen, which jinja takes for a subtraction.
template='## template: jinja
#cloud-config
timezone: Asia/Tokyo
runcmd: [[echo, "{{ v1.no.body }} hunter2"]]'
# A part of a type that cloud-init has no handler for.
unhandled='Content-Type: multipart/mixed; boundary="==BOUNDARY=="
MIME-Version: 1.0

--==BOUNDARY==
Content-Type: text/x-of-my-own

timezone: Asia/Tokyo
--==BOUNDARY==--'
rebooting='#cloud-config
power_state: {mode: reboot, timeout: 60}'

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
    for name in ready failing packageless hanging tampered silent template unhandled rebooting reverted; do
        guest_overlay "$images" "$name"
    done
    define ready "$ready"
    define failing "$failing"
    define packageless "$packageless"
    define hanging "$hanging"
    define tampered "$tampered"
    define silent "$silent"
    define template "$template"
    define unhandled "$unhandled"
    define rebooting "$rebooting"
    define reverted "$ready"
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
    run -1 virt_seed logs ready
}

# says NAME: what the guest says of its seed.
says() {
    virt_seed status --json "$1" |
        jq -r '.[0]."guest-says" | .seed + (.reason // "" | if . == "" then . else ": " + . end)'
}

@test "status knows that the guest has applied its seed, and by which cloud-init" {
    local version

    version=$(sed -n 's/^package=cloud-init //p' "$guest/manifest")
    run -0 virt_seed status --json ready
    jq -e --arg version "$version" --arg uuid "$(uuid_of ready)" '.[0] | (."guest-says" |
        .seed == "applied" and .reason == null and ."instance-id" == $uuid and
        (.["cloud-init"] as $said | $version | startswith($said)) and ."failed-module" == null)' <<<"$output"
    run -0 virt_seed status ready
    [[ $output == *'guest says   applied'* ]]
}

@test "wait exits 1 and names the module if a command in user-data fails" {
    run -1 virt_seed wait --timeout "$boot_seconds" failing
    echo "$output"
    [[ $output == *scripts*user*runcmd* ]]
    [[ $output == *'the last module that failed is scripts'?'user: RuntimeError: '* ]]
    run -0 virt_seed logs failing
    echo "$output"
    [[ $output == *'said by a command'*'Running module scripts'?'user'*RuntimeError* ]]
}

@test "wait exits 1 and names the module if a package cannot be installed" {
    run -1 virt_seed wait --timeout "$boot_seconds" packageless
    echo "$output"
    [[ $output == *package* ]]
    lab_virsh destroy packageless
    lab_virsh destroy failing
    for name in hanging tampered silent; do
        lab_virsh start "$name"
    done
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
    [[ $(says ready) = 'older seed applied: needs a new instance' ]]
    run -0 virt_seed pending ready
    echo "$output"
    [[ $output == *'the guest says: older seed applied: needs a new instance'* ]]
}

@test "status knows that the guest has read something else, and what" {
    run -0 virt_seed wait --timeout "$boot_seconds" tampered
    [[ $(says tampered) = 'not applied: other user-data' ]]
    lab_virsh destroy tampered
    # And remembers it.
    [[ $(says tampered) = 'not applied: other user-data' ]]
}

@test "a guest that ignores vendor-data has taken its seed, and says nothing" {
    wait_for_report silent
    last_report silent | grep -qx 'hostname=silent'
    run -0 virt_seed status silent
    echo "$output"
    [[ $output == *'guest says   nothing'* ]]
    lab_virsh destroy silent
}

@test "user-data that cloud-init does not use is a failure, also for status when the guest is off" {
    lab_virsh start template
    lab_virsh start unhandled
    run -1 virt_seed wait --timeout "$boot_seconds" template
    echo "$output"
    [[ $output == *"cloud-init has not applied the seed as a whole: user-data: Ignoring jinja template for part-001"* ]]
    [[ $(says template) = 'not applied: user-data: Ignoring jinja template for part-001'* ]]
    run -1 virt_seed wait --timeout "$boot_seconds" unhandled
    echo "$output"
    [[ $output == *'user-data: Unhandled unknown content-type (text/x-of-my-own) userdata'* ]]
    # What messages quote of a document stays in the guest.
    run -1 grep hunter2 "$LAB_DIR/root/var/log/libvirt/virt-seed/$(uuid_of template).report"
    lab_virsh destroy template
    lab_virsh destroy unhandled
    run -0 virt_seed status unhandled
    echo "$output"
    [[ $output == *' failed, '*'not applied (user-data: Unhandled unknown content-type (text/x-of-my-own) userdata'* ]]
    run -0 virt_seed status template
    [[ $output == *'not applied (user-data: Ignoring jinja template for part-001'* ]]
    run -0 virt_seed logs template
    [[ $output == *'Ignoring jinja template for part-001'* ]]
}

@test "wait says that the guest reboots by itself, and wait --next waits for that boot" {
    lab_virsh start rebooting
    run -0 virt_seed wait --timeout "$boot_seconds" rebooting
    echo "$output"
    [[ ${lines[-1]} = 'rebooting: done, the guest reboots' ]]
    run -0 virt_seed wait --next --timeout "$boot_seconds" rebooting
    echo "$output"
    [[ ${lines[-1]} = 'rebooting: done' ]]
    lab_virsh destroy rebooting
}

@test "a guest that is reverted to a snapshot of it done is done, if that is recorded" {
    local record

    record=$LAB_DIR/root/var/lib/virt-seed/$(uuid_of reverted).json
    lab_virsh start reverted
    run -0 virt_seed wait --timeout "$boot_seconds" reverted
    # Times of the same second have no order.
    sleep 1.1
    lab_virsh snapshot-create-as reverted finished
    sleep 1.1
    # In the same QEMU.
    lab_virsh qemu-monitor-command reverted --hmp loadvm finished
    run -0 virt_seed wait --timeout 0 reverted
    # With a new one, twice.
    for _ in 1 2; do
        lab_virsh snapshot-revert reverted finished
        run -0 virt_seed wait --timeout 20 reverted
        echo "$output"
        [[ ${lines[-1]} = 'reverted: done' ]]
        [[ $(says reverted) = applied ]]
        run -0 virt_seed status reverted
        [[ $output == *' done, since '* ]]
    done
    rm "$record"
    run -124 virt_seed wait --timeout 2 reverted
    echo "$output"
    [[ $output == *'it was reverted to a snapshot, and no result is recorded'* ]]
    run -0 virt_seed status reverted
    echo "$output"
    [[ $output == *"warning: domain 'reverted' was reverted to a snapshot"* ]]
    lab_virsh destroy reverted
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
    [[ $(says ready) = applied ]]
}

@test "after an update, status knows that the guest still has the older seed" {
    define ready "$ready" 'policy="content"'
    virt_seed update ready
    [[ $(says ready) = 'older seed applied: needs a reboot' ]]
    define ready "$changed" 'policy="content"'
    virt_seed update ready
    [[ $(says ready) = applied ]]
}

@test "without a change, the next boot is not a first boot" {
    run -0 virt_seed pending ready
    echo "$output"
    [[ $output != *'first boot'* ]]
}
