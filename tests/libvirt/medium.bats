#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# medium.bats: the medium of a running domain is replaced in a real QEMU.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load update

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=${seeds-}/$web1.iso

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    common_make_conf
}

teardown() {
    lab_daemon_log | tail -n 5
    lab_reset
    lab_run sh -c "rm -rf $conf_dir/*"
}

# request [ELEMENT…]: the metadata that asks for cloud-init.
request() {
    echo "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${attributes-}>$*</ci:cloud-init>"
}

# start_web1 [ELEMENT…]: starts a wired domain.
start_web1() {
    metadata=$(request "$@") domain_define web1 $web1
    virt_seed wire web1
    lab_virsh start web1
    drive_before=$(drive)
    definition_before=$(drive --inactive)
}

# drive [OPTION]: prints the seed's drive in the domain's XML, without the number of its medium.
drive() {
    lab_virsh dumpxml "$@" web1 | xmllint --xpath "//disk[alias/@name='ua-virt-seed']" - |
        sed 's/ index="[0-9]*"//; /<backingStore/d'
}

# held: prints the inodes of the seeds that QEMU has open.
held() {
    local pid

    pid=$(lab_run pgrep -f 'guest=web1,')
    lab_run sh -c "find /proc/$pid/fd -lname '$seeds/*' | xargs -r stat -L -c %i"
}

# assert_medium_in: QEMU has the file that is there now, and no other; the guest sees it.
assert_medium_in() {
    local inode

    inode=$(lab_run stat -c %i "$seed")
    [[ $(held | sort -u) = "$inode" ]]
    run -0 lab_virsh qemu-monitor-command web1 --hmp 'info block'
    [[ $output = *"$seed"* ]]
    # Nothing else has changed.
    diff <(echo "$drive_before") <(drive)
    diff <(echo "$definition_before") <(drive --inactive)
    [[ $(lab_run ls "$seeds") = "$web1.iso" ]]
}

# document NAME: prints the document on the medium.
document() {
    lab_run rm -rf "$BATS_TEST_TMPDIR/medium"
    virt_seed inspect --extract="$BATS_TEST_TMPDIR/medium" "$seed" >/dev/null
    cat "$BATS_TEST_TMPDIR/medium/$1"
}

@test "update puts the definition's seed into the drive of the running domain" {
    start_web1 '<ci:hostname>old</ci:hostname>'
    echo '#!/bin/sh' >user-data
    virt_seed set web1 --hostname=new --user-data=user-data
    [[ $(document meta-data) = *'"old"'* ]]

    run -0 virt_seed update web1
    [[ $output = *'The instance is the same'* ]]
    assert_medium_in
    [[ $(document meta-data) = *'"new"'* && $(document user-data) = '#!/bin/sh' ]]

    run -0 virt_seed update web1
    [[ $output = *'has that seed in its drive already'* ]]
}

is_starting() {
    [[ $(lab_virsh domstate --reason web1) = 'paused (starting up)' ]]
}

# The hook would end the guest, because its seed is not the one that it was started with.
@test "update refuses a domain that is being started, whose start goes on" {
    local start

    printf '#!/bin/sh\ncase $* in *guest=web1*) sleep 3 ;; esac\nexec %s "$@"\n' "$(type -P qemu-system-x86_64)" \
        >"$LAB_DIR/slow-qemu"
    chmod 0755 "$LAB_DIR/slow-qemu"
    lab_run sh -c "mkdir -p $conf_dir/files && echo '#!/bin/sh' >$conf_dir/files/script"
    emulator=$LAB_DIR/slow-qemu metadata=$(request "<ci:user-data file='script'/>") domain_define web1 $web1
    virt_seed wire web1
    lab_virsh start web1 3>&- &
    start=$!
    wait_until 20 is_starting
    lab_run sh -c "echo '# new' >>$conf_dir/files/script"
    run -1 virt_seed update web1
    [[ $output = *'web1'*'is being started'* ]]
    wait "$start"
    virt_seed update web1
}

@test "a guest saved after an update comes back with the new seed" {
    local sum

    start_web1 '<ci:hostname>old</ci:hostname>'
    virt_seed set web1 --hostname=new
    virt_seed update web1
    sum=$(lab_run sha256sum "$seed")
    # A later change of the definition is for the next start.
    virt_seed set web1 --hostname=newer
    lab_virsh managedsave web1
    lab_virsh start web1
    [[ $(lab_run sha256sum "$seed") = "$sum" ]]
}

@test "update says that another instance-id makes the guest another instance" {
    start_web1
    virt_seed set web1 --instance-id=second
    run -0 virt_seed update web1
    [[ $output = *'It is another instance'* ]]
    [[ $(document meta-data) = *'"second"'* ]]
}

@test "update fills a drive that was emptied" {
    start_web1
    lab_virsh change-media web1 sda --eject --live
    [[ $(held) = '' ]]
    run -0 virt_seed update web1
    assert_medium_in
}

@test "a domain that does not run needs no update" {
    metadata=$(request) domain_define web1 $web1
    virt_seed wire web1
    run -0 virt_seed update web1
    [[ $output = "domain 'web1' is not running: its next start makes the seed" ]]
}

@test "a transient domain gets what its running XML asks for" {
    metadata=$(request '<ci:hostname>old</ci:hostname>') domain_xml web1 $web1 >web1.xml
    virt_seed wire -i "$PWD/web1.xml"
    lab_virsh create web1.xml
    lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --live --key ci \
        --set '<cloud-init><hostname>new</hostname></cloud-init>'
    virt_seed update web1
    [[ $(document meta-data) = *'"new"'* ]]
}

@test "if a medium cannot be inserted, the old one comes back" {
    system_only 'QEMU runs as the same user'
    start_web1 '<ci:hostname>old</ci:hostname>'
    lab_virsh destroy web1
    # Neither libvirt nor virt-seed gives the new image to QEMU's user.
    lab_virsh dumpxml --inactive web1 |
        sed "s|\(<source file='$seed'.*\)/>|\1><seclabel model='dac' relabel='no'/></source>|" |
        lab_virsh define /dev/stdin
    lab_virsh start web1
    drive_before=$(drive)
    definition_before=$(drive --inactive)
    virt_seed set web1 --hostname=new
    qemu_owner=$(lab_run stat -c %u:%g "$qemu_home")
    lab_run chown nobody "$qemu_home"

    run -1 virt_seed update web1
    lab_run chown "$qemu_owner" "$qemu_home"
    [[ $output = *'could not insert the new medium'*'the drive has its old medium'* ]]
    assert_medium_in
    [[ $(document meta-data) = *'"old"'* ]]
    # The XML of the running domain says the same.
    run -0 lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --live
    [[ $output = *'>old<'* ]]

    virt_seed update web1
    assert_medium_in
    [[ $(document meta-data) = *'"new"'* ]]
}

@test "update says if a drive stays empty, and the next update fills it" {
    system_only 'QEMU runs as the same user'
    start_web1 '<ci:hostname>old</ci:hostname>'
    virt_seed set web1 --hostname=new
    lab_run chmod 0700 "$seeds"
    run -1 virt_seed update web1
    [[ $output = *'the drive may be EMPTY'*'virt-seed update web1'* ]]
    lab_run chmod 0711 "$seeds"
    [[ $(held) = '' ]]
    run -0 virt_seed update web1
    assert_medium_in
    [[ $(document meta-data) = *'"new"'* ]]
}

@test "an update that was killed halfway is completed by the next" {
    printf '#cloud-config\nlocale: C\n' | as_owner tee "$conf_dir/files/user-data"
    start_web1 '<ci:user-data file="user-data"/>'
    printf '#cloud-config\nlocale: new\n' | as_owner tee "$conf_dir/files/user-data"
    # Killed when the image has its name, but before libvirt knows of it.
    lab_run ln "$seed" "$seed.old"
    virt_seed build --force --output="$seed" web1
    [[ $(held) != $(lab_run stat -c %i "$seed") ]]
    virt_seed update web1
    assert_medium_in
    run -0 virt_seed update web1
    [[ $output = *'has that seed in its drive already'* ]]
}

@test "two simultaneous updates leave one seed" {
    start_web1
    updates_at_once_leave_one assert_medium_in
}

@test "a domain that ends during an update leaves no seed" {
    start_web1
    virt_seed set web1 --hostname=late
    late_updates_leave_nothing lab_run ls "$seeds"
}

@test "update refuses a read-only disk, which has no medium to change" {
    attributes='bus="virtio"' start_web1
    run -1 virt_seed update web1
    [[ $output = *"is a read-only disk ('vda'), whose medium cannot be changed"*'start it'* ]]
}

@test "update refuses virt-seed-qemu's drive, which cannot be changed" {
    mkdir -m 0755 "$LAB_DIR/bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$LAB_DIR/bin/virt-seed-qemu-system-x86_64"
    emulator=$LAB_DIR/bin/virt-seed-qemu-system-x86_64 metadata=$(request) \
        domain_define web1 $web1
    lab_virsh start web1
    run -1 virt_seed update web1
    [[ $output = *"virt-seed-qemu added the drive"* ]]
}

@test "update refuses another datasource, which needs a start" {
    start_web1
    virt_seed set web1 --datasource=configdrive
    run -1 virt_seed update web1
    [[ $output = *"the label 'cidata', and the new one has 'config-2'"* ]]
    assert_medium_in
}

@test "only root replaces a medium" {
    system_only "others do not reach a user's session"
    start_web1
    run -1 lab_run setpriv --reuid=65534 --clear-groups "$builddir/virt-seed" \
        -c "$uri" update web1
    [[ $output = *'only root may write to'* ]]
}

@test "update replaces a ConfigDrive like any other seed" {
    attributes='datasource="configdrive"' start_web1 '<ci:hostname>old</ci:hostname>'
    virt_seed set web1 --hostname=new
    run -0 virt_seed update web1
    [[ $output = *'The instance is the same'* ]]
    assert_medium_in
}
