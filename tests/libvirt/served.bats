#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash and report.bash
# served.bats: 'virt-seed update', 'wait --scrub', 'pending' and 'gc' of domains that run with a seed
# that is served, with a real libvirtd and QEMU.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load update
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seeds=/run/libvirt/virt-seed
tree=$seeds/imds

setup_file() {
    common_start_lab
    common_make_server
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    lab_make_secret web1 userdata $'#cloud-config\npassword: hunter2'
}

teardown() {
    if [[ -n ${server-} ]]; then
        lab_run kill "$server"
    fi
    lab_reset
    lab_run sh -c 'rm -rf /etc/virt-seed/* /var/lib/virt-seed/*'
}

# start_web1 [ELEMENT…]: a domain without a disk for its seed runs.
start_web1() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'
        datasource='nocloud-net' ${attributes-}>$*</ci:cloud-init>" interface=user \
        domain_define web1 $web1
    virt_seed --quiet wire web1
    lab_virsh start web1
    definition_before=$(lab_virsh dumpxml --inactive web1)
    access_before=$(access)
}

# access: who may read it.
access() {
    lab_run cat $tree/$web1/access
}

# document NAME: what is served.
document() {
    lab_run cat "$tree/$web1/$1"
}

# running_serial: the serial in the XML as it runs.
running_serial() {
    lab_virsh dumpxml web1 | xmllint --xpath 'string(//entry[@name="serial"])' -
}

# assert_published: it is there, for the same reader at the same URL, and nothing else is left.
assert_published() {
    [[ $(access) = "$access_before" ]]
    [[ $(running_serial) = *"/$web1/$(head -n 1 <<<"$access_before")/" ]]
    [[ $(lab_run ls $tree) = "$web1" && $(lab_run ls $seeds) = imds ]]
}

# assert_scrubbed: the guest is served nothing of a secret, and the definition is what it was.
assert_scrubbed() {
    [[ $(access) = "$access_before" ]]
    [[ $(document user-data) = '' && $(lab_virsh dumpxml --inactive web1) = "$definition_before" ]]
    run ! lab_run grep -r hunter2 $tree
}

# start_server: the metadata server.
start_server() {
    lab_run ip link set lo up
    lab_run setpriv --reuid=nobody --regid=0 --clear-groups "$builddir/virt-seed-imds" \
        --listen 127.0.0.1:8080 >server.log 2>&1 3>&- &
    wait_until 60 grep -q 'listening on' server.log
    server=$(lab_run pgrep -f 'virt-seed-imds --listen')
}

# fetch NAME: what QEMU gets, on the guest's behalf.
fetch() {
    lab_run setpriv --reuid="$(lab_run stat -c %u /var/lib/libvirt/qemu)" --clear-groups \
        curl --silent --fail "http://127.0.0.1:8080/$web1/$(head -n 1 <<<"$access_before")/$1"
}

# --- update -----------------------------------------------------------------------------------

@test "update publishes the definition's seed at the URL of the running domain" {
    local definition

    start_web1 '<ci:hostname>old</ci:hostname>'
    echo '#!/bin/sh' >user-data
    virt_seed set web1 --hostname=new --user-data=user-data
    definition=$(lab_virsh dumpxml --inactive web1)
    [[ $(document meta-data) = *'"old"'* ]]

    run -0 virt_seed update web1
    [[ $output = *'has the new seed at its URL. The instance is the same'* ]]
    assert_published
    [[ $(document meta-data) = *'"new"'* && $(document user-data) = '#!/bin/sh' ]]
    [[ $(lab_virsh dumpxml --inactive web1) = "$definition" ]]

    run -0 virt_seed update web1
    [[ $output = "domain 'web1' has that seed at its URL already" ]]
}

@test "a running metadata server serves what update has published" {
    start_web1 '<ci:hostname>old</ci:hostname>'
    start_server
    [[ $(fetch meta-data) = *'"old"'* ]]
    virt_seed set web1 --hostname=new
    virt_seed update web1
    [[ $(fetch meta-data) = *'"new"'* ]]
}

@test "a guest saved after an update comes back with the new seed" {
    local digest

    start_web1 '<ci:hostname>old</ci:hostname>'
    virt_seed set web1 --hostname=new
    virt_seed update web1
    digest=$(document meta-data | sha256sum)
    # What is changed in the definition after that is for the next start.
    virt_seed set web1 --hostname=newer
    lab_virsh managedsave web1
    lab_virsh start web1
    [[ $(document meta-data | sha256sum) = "$digest" && $(access) = "$access_before" ]]
}

@test "update says that another instance-id makes the guest another instance" {
    start_web1
    virt_seed set web1 --instance-id=second
    run -0 virt_seed update web1
    [[ $output = *'has the new seed at its URL. It is another instance'* ]]
    [[ $(document meta-data) = *'"second"'* ]]
}

@test "update keeps the running domain's token, whatever is in the definition" {
    start_web1
    virt_seed --quiet unset --wiring-only web1
    virt_seed --quiet wire web1
    virt_seed set web1 --hostname=new
    [[ $(lab_virsh dumpxml --inactive web1) != *"$(head -n 1 <<<"$access_before")"* ]]
    virt_seed update web1
    assert_published
    [[ $(document meta-data) = *'"new"'* ]]
}

@test "a NIC attached to a running domain may read its seed after an update" {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' datasource='nocloud-net'/>" \
        machine=pc interface=user domain_define web1 $web1
    virt_seed --quiet wire web1
    lab_virsh start web1
    run -0 virt_seed update web1
    [[ $output = *'at its URL already' ]]
    echo "<interface type='user'><mac address='52:54:00:00:00:99'/><model type='virtio'/></interface>" \
        >nic.xml
    lab_virsh attach-device web1 nic.xml --live
    run -0 virt_seed update web1
    [[ $output = *'has the new seed at its URL. The instance is the same'* ]]
    [[ $(access) = *'52:54:00:00:00:99 user' ]]
    run -0 virt_seed update web1
    [[ $output = *'at its URL already' ]]
}

@test "update refuses another datasource, from a disk or to one" {
    start_web1
    virt_seed set web1 --datasource=configdrive
    run -1 virt_seed update web1
    [[ $output = *'runs with a seed that is served, and the new one is one on a disk'*'start it'* ]]
    assert_published
    lab_reset

    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" interface=user \
        domain_define web1 $web1
    virt_seed --quiet wire web1
    lab_virsh start web1
    virt_seed set web1 --datasource=nocloud-net
    run -1 virt_seed update web1
    [[ $output = *'runs with a seed on a disk, and the new one is one that is served'*'start it'* ]]
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
}

@test "if nothing can be published, the running domain keeps its request" {
    start_web1 '<ci:hostname>old</ci:hostname>'
    virt_seed set web1 --hostname=new
    lab_run mv $tree $tree.away
    run -1 virt_seed update web1
    lab_run mv $tree.away $tree
    [[ $output = *'there is no metadata server'* ]]
    run -0 lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --live
    [[ $output = *'>old<'* ]]
    assert_published
    virt_seed update web1
    [[ $(document meta-data) = *'"new"'* ]]
}

@test "update publishes again what was removed" {
    start_web1 '<ci:hostname>old</ci:hostname>'
    lab_run rm -r $tree/$web1
    virt_seed update web1
    assert_published
    [[ $(document meta-data) = *'"old"'* ]]
}

@test "two simultaneous updates leave one seed" {
    start_web1
    updates_at_once_leave_one assert_published
}

@test "a domain that ends during an update leaves no seed" {
    # The request stays the same, and so libvirt has nothing to refuse.
    lab_run mkdir -p /etc/virt-seed/files
    lab_run sh -c 'printf "#cloud-config\nlocale: C\n" >/etc/virt-seed/files/user-data'
    start_web1 '<ci:user-data file="user-data"/>'
    lab_run sh -c 'printf "#cloud-config\nlocale: late\n" >/etc/virt-seed/files/user-data'
    late_updates_leave_nothing lab_run find $tree -mindepth 1
}

@test "only root replaces what is served" {
    start_web1
    run -1 lab_run setpriv --reuid=65534 --clear-groups "$builddir/virt-seed" \
        -c qemu:///system update web1
    [[ $output = *'only root may write to'* ]]
}

# --- wait --scrub -----------------------------------------------------------------------------

done_line=$(report_line "$boot1" "$(report_ended)" "$(report_result)")

@test "a guest that is done is served only its identity, also after save and restore" {
    start_web1 '<ci:hostname>one.example.org</ci:hostname><ci:user-data secret="web1"/>'
    [[ $(document user-data) = *hunter2* ]]
    report_say $web1 "$done_line"
    run -0 virt_seed wait --scrub --timeout=10 web1
    [[ $output = *$'web1: scrubbed\nweb1: done' ]]
    assert_scrubbed
    [[ $(document meta-data) = *one.example.org* ]]

    lab_virsh managedsave web1
    lab_virsh start web1
    assert_scrubbed
    # A start is another matter.
    lab_virsh destroy web1
    lab_virsh start web1
    [[ $(document user-data) = *hunter2* ]]
}

@test "leaves a guest alone that is already scrubbed" {
    local inode

    start_web1 '<ci:user-data secret="web1"/>'
    report_say $web1 "$done_line"
    virt_seed wait --scrub --timeout=10 web1
    inode=$(lab_run stat -c %i $tree/$web1)
    run -0 virt_seed wait --scrub --timeout=10 web1
    [[ $(lab_run stat -c %i $tree/$web1) = "$inode" ]]
}

@test "keeps the served documents of another instance that the guest has not read yet" {
    start_web1 '<ci:user-data secret="web1"/>'
    virt_seed set web1 --instance-id=second
    virt_seed update web1
    report_say $web1 "$done_line"
    run -1 virt_seed wait --scrub --timeout=10 web1
    [[ $output = *"the seed at its URL is for the instance 'second', but the domain was started as '$web1'"* ]]
    [[ $(document user-data) = *hunter2* ]]
}

# --- pending ----------------------------------------------------------------------------------

@test "pending compares with what is served, and names where update puts the new seed" {
    start_web1 '<ci:hostname>old</ci:hostname>'
    run -0 virt_seed pending web1
    [[ $output = *'meta-data: unchanged'*'changes nothing'* && $output != *'it is running'* ]]
    virt_seed set web1 --hostname=new
    run -0 virt_seed pending web1
    [[ $output = *'-  "local-hostname": "old"'*'it is running: a reboot within the guest reads what is at its URL; '* ]]
    [[ $output = *'to put the new seed there: virt-seed update web1' ]]
    # Which would refuse that.
    virt_seed set web1 --datasource=nocloud
    run -0 virt_seed pending web1
    [[ $output = *'a reboot within the guest reads what is at its URL' ]]
}

@test "update and pending recognize a guest with cache=\"keep\"" {
    attributes='cache="keep"' start_web1 '<ci:hostname>old</ci:hostname>'
    virt_seed set web1 --instance-id=second
    run -0 virt_seed pending web1
    [[ $output = *'the same instance, whatever has changed'*"after 'cloud-init clean', reads"* ]]
    run -0 virt_seed update web1
    [[ $output = *'has the new seed at its URL. The guest was told to keep what it had read'* ]]
}

# --- gc ---------------------------------------------------------------------------------------

@test "gc removes what is served of a domain that is gone, and nothing of one that runs" {
    local gone=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57 before

    start_web1
    before=$(lab_run find $tree)
    lab_run cp -r $tree/$web1 $tree/$gone
    # What a process that was killed leaves.
    lab_run cp -r $tree/$web1 $tree/$gone.new.0123abcd
    run -0 virt_seed gc
    [[ $output = *"removed $tree/$gone"* && $output = *"removed $tree/$gone.new.0123abcd"* ]]
    [[ $(lab_run find $tree) = "$before" ]]
    run -0 virt_seed gc
    [[ $output = '' ]]
}
