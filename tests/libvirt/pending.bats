#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# pending.bats: what 'virt-seed pending' says of libvirt's domains, running, saved and off.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    domain_define web1 $web1
}

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /etc/virt-seed/* /var/lib/virt-seed/*'
}

@test "shows a change while the domain runs and after it has ended" {
    printf '#cloud-config\nlocale: C.UTF-8\n' >user-data
    virt_seed set web1 --user-data=user-data
    lab_virsh start web1
    run -0 virt_seed pending web1
    [[ $output = *'user-data: unchanged'*'changes nothing'* ]]

    printf '#cloud-config\nlocale: en_US.UTF-8\n' >user-data
    virt_seed set web1 --user-data=user-data
    run -0 virt_seed pending web1
    [[ $output = *$'\n-locale: C.UTF-8\n+locale: en_US.UTF-8\n'* ]]
    [[ $output = *'the same instance'*'virt-seed set web1 --instance-id=NEW'* ]]
    [[ $output = *'it is running'*'virt-seed update web1'* ]]

    virt_seed set web1 --instance-id=second
    lab_virsh destroy web1
    run -0 virt_seed pending web1
    [[ $output = *'user-data: changed'*"instance-id: second, at the last boot $web1"* ]]
    [[ $output != *'it is running'* ]]
    lab_virsh start web1
    run -0 virt_seed pending web1
    [[ $output = *'changes nothing'* ]]
}

@test "does not show a former secret after the request stops naming it" {
    lab_make_secret web1 userdata $'#cloud-config\nfinal_message: hunter2'
    virt_seed set web1 --secret=user-data=web1 --meta-data=role=old
    lab_virsh start web1
    printf '#cloud-config\nlocale: C.UTF-8\n' >user-data
    virt_seed set web1 --secret=user-data= --user-data=user-data --meta-data=role=new
    run -0 virt_seed pending web1
    [[ $output = *'user-data: changed'*'contains secrets, or may; not shown'* ]]
    [[ $output != *hunter2* ]]
    # The other documents do not contain it.
    [[ $output = *'+  "role": "new"'* ]]
    run -0 virt_seed pending --show-secrets web1
    [[ $output = *'-final_message: hunter2'* ]]

    # Not after an update, either: the running domain asks for what is in its drive.
    virt_seed update web1
    lab_make_secret web1 userdata $'#cloud-config\nfinal_message: hunter3'
    virt_seed set web1 --user-data= --secret=user-data=web1
    virt_seed update web1
    virt_seed set web1 --secret=user-data= --user-data=user-data
    run -0 virt_seed pending web1
    [[ $output != *hunter* ]]
}

@test "compares with the boot's documents, not with those from update" {
    virt_seed set web1 --meta-data=role=old
    lab_virsh start web1
    virt_seed set web1 --meta-data=role=new
    virt_seed update web1
    run -0 virt_seed pending web1
    [[ $output = *'meta-data: changed'*'the previous version was not kept'*'has been replaced'* ]]
    [[ $output = *'by that of the next start: if the guest has been rebooted since, nothing changes'* ]]
    [[ $output = *'it is running: a reboot within the guest reads what is in its drive' ]]

    virt_seed set web1 --meta-data=role=old
    run -0 virt_seed pending web1
    [[ $output = *'meta-data: unchanged'*'if the guest has been rebooted since, it has read that one'* ]]
}

@test "a new instance from update may be the guest's until the next start" {
    virt_seed set web1 --hostname=one
    lab_virsh start web1
    virt_seed set web1 --instance-id=second
    virt_seed update web1
    run -0 virt_seed pending web1
    [[ $output = *'whether the next start is a first boot for cloud-init is not known'* ]]
    [[ $output = *'the seed in its drive has been replaced since it was started, by that of the next'* ]]
    # Also when nothing of it is left.
    lab_virsh destroy web1
    run -0 virt_seed pending web1
    [[ $output = *'is not known'* && $(virt_seed pending --json web1 | jq -r .boot) = unknown ]]
    [[ $output = *'its seed was replaced after it was started, by that of the next start'* ]]

    virt_seed set web1 --instance-id=$web1
    run -0 virt_seed pending web1
    [[ $output = *'whether the next start is a first boot for cloud-init is not known'* ]]
    virt_seed set web1 --instance-id=third
    run -0 virt_seed pending web1
    [[ $output = *'a first boot for cloud-init: '*"--instance-id=$web1"* ]]

    virt_seed set web1 --instance-id=second
    lab_virsh start web1
    run -0 virt_seed pending web1
    [[ $output = *'changes nothing for cloud-init' && $output != *replaced* ]]
}

# took BOOT INSTANCE-ID
took() {
    report_line "$1" null '' "$(report_taken "$2")"
}

@test "which of two instances the guest is, it may say itself" {
    virt_seed set web1 --hostname=one
    lab_virsh start web1
    virt_seed set web1 --instance-id=second
    virt_seed update web1
    report_say $web1 "$(took "$boot1" $web1)"
    run -0 virt_seed pending web1
    [[ $output = *'is a first boot for cloud-init:'*'the guest says: older seed applied: needs a reboot'* ]]
    # A claim of the update's own second is of the seed before it.
    sleep 1.1
    report_say $web1 "$(took "$boot2" second)"
    run -0 virt_seed pending web1
    [[ $output = *'is the same instance, and changes nothing for cloud-init'* ]]
    [[ $output != *'the guest says'* && $output != *'rebooted'* ]]
    report_say $web1 "$(took "$boot2" another)"
    [[ $(virt_seed pending --json web1 | jq -r '.boot, ."last-instance-id", ."guest-says".reason') = \
        $'new-instance\nanother\nanother instance-id' ]]
}

# guest_says: what status knows of the guest's seed.
guest_says() {
    virt_seed status --json web1 | jq -r '.[0]."guest-says".seed'
}

@test "what the guest said before an update is about the seed before it" {
    virt_seed set web1 --hostname=one
    lab_virsh start web1
    report_say $web1 "$(took "$boot1" $web1)"
    [[ $(guest_says) = applied ]]
    # The times are those of seconds.
    sleep 1.1
    virt_seed set web1 --hostname=two
    virt_seed update web1
    [[ $(guest_says) = 'older seed applied' ]]
    virt_seed set web1 --hostname=one
    virt_seed update web1
    [[ $(guest_says) = applied ]]
}

@test "says that a saved domain resumes, whatever has changed" {
    virt_seed set web1 --hostname=one
    lab_virsh start web1
    lab_virsh managedsave web1
    virt_seed set web1 --hostname=two
    run -0 virt_seed pending web1
    [[ $output = *'meta-data: changed'*'it was saved'* ]]
    [[ $(virt_seed pending --json web1 | jq '.saved, .running') = $'true\nfalse' ]]
}
