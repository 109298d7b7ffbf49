#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash, report.bash and session.bash
# session.bats: virt-seed in the session of an ordinary user. The same tests run with seeds below
# /run/user/UID, and below her home.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report
load session

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

setup_file() {
    common_start_lab
    session_make_user
    # Her QEMU must be able to reach it, under its installed name.
    install -D -m 0755 "$builddir/virt-seed-qemu" "$LAB_DIR/bin/virt-seed-qemu"
    ln -s virt-seed-qemu "$LAB_DIR/bin/virt-seed-qemu-system-x86_64"
}

teardown() {
    cat "$LAB_DIR/ann.log"
    end_session
    lab_reset
}

# define [ELEMENT…]: defines web1, which asks for them.
define() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>$*</ci:cloud-init>" \
        domain_xml web1 "$web1" >"$LAB_DIR/web1.xml"
    define_file "$LAB_DIR/web1.xml"
}

define_file() {
    chmod 0644 "$1"
    her_virsh define --validate "$1"
}

is_wired() {
    her_virsh dumpxml --inactive web1 | grep -qF "$seeds/$web1.iso"
}

# document NAME: prints the document in the domain's seed.
document() {
    her rm -rf "$home/seed"
    her_virt_seed inspect --extract="$home/seed" "$seeds/$web1.iso" >/dev/null
    her cat "$home/seed/$1"
}

# files: the domain's files, below her home and the run-time directories.
files() {
    lab_run find "$home" /run /var/lib/virt-seed /var/log/libvirt -name "*$web1*" \
        -not -path '*/qemu/*' -printf '%p %u\n'
}

lives() {
    begin "$1"
    define '<ci:hostname>web1</ci:hostname>'
    run ! her_virsh start web1
    [[ $output = *'is not wired for it yet'*'wiring it now; run: virsh start web1'* ]]
    wait_until 60 is_wired
    her_virsh start web1
    [[ $(lab_run stat -c '%U %a' "$seeds/$web1.iso") = 'ann 400' ]]
    [[ $(lab_run stat -c '%U %a' "$seeds" "$state") = 'ann 700'$'\n''ann 700' ]]
    run -0 document meta-data
    [[ $output = *'"local-hostname": "web1"'* ]]
    her_virt_seed set web1 --hostname=web2
    run -0 her_virt_seed pending web1
    [[ $output = *web2* ]]
    her_virt_seed update web1
    run -0 document meta-data
    [[ $output = *'"local-hostname": "web2"'* ]]

    her_virsh managedsave web1
    [[ $(lab_run ls "$seeds") = '' ]]
    her_virsh start web1
    her_virsh save web1 "$home/web1.state"
    her_virsh restore "$home/web1.state"
    lab_run test -e "$seeds/$web1.iso"
    run -0 her_virt_seed status web1
    [[ $output = *running*yes*yes*nocloud* ]]

    her_virsh destroy web1
    # Only the record is left, and nothing of hers was ever elsewhere.
    [[ $(files) = "$state/$web1.json ann" ]]
    her_virsh undefine web1
    her_virt_seed gc --all
    [[ $(files) = '' ]]
}

reports() {
    begin "$1"
    define
    her_virt_seed wire web1
    her_virt_seed start --no-wait web1
    lab_run sh -c "cat >>'$state/$web1.report'" \
        <<<"$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
    run -0 her_virt_seed wait --timeout=60 web1
    [[ $output = *'web1: done'* ]]
    her_virsh destroy web1
    run -0 her_virt_seed status web1
    [[ $output = *done* ]]
}

uses_shim() {
    begin "$1"
    emulator=$LAB_DIR/bin/virt-seed-qemu-system-x86_64 define '<ci:hostname>web1</ci:hostname>'
    her_virsh start web1
    run -0 lab_run sh -c "tr '\\0' '\\n' </proc/\$(pgrep -u $ann -f guest=web1)/cmdline"
    [[ $output = *"file.filename=$seeds/$web1.libvirt-$web1"* ]]
    lab_run test -f "$state/$web1.libvirt-$web1"
    her_virsh destroy web1
    [[ $(files) = "$state/$web1.json ann" ]]
}

rehearses() {
    begin "$1"
    define '<ci:hostname>web1</ci:hostname>'
    her_virt_seed wire web1
    # A guest that boots nothing reports nothing.
    run -124 her_virt_seed try --timeout=2 web1
    [[ $output = *'not done after 2 s'* ]]
    [[ $(lab_run find "$home/.cache/virt-seed" -mindepth 1) = '' ]]
}

@test "seeds below /run/user: an unwired domain is refused, wired, started, updated, saved, restored and ended" {
    lives runtime
}

@test "seeds below the home: an unwired domain is refused, wired, started, updated, saved, restored and ended" {
    lives home
}

@test "seeds below /run/user: what a guest reports is waited for, and recorded" {
    reports runtime
}

@test "seeds below the home: what a guest reports is waited for, and recorded" {
    reports home
}

@test "seeds below /run/user: the emulator shim adds the seed" {
    uses_shim runtime
}

@test "seeds below the home: the emulator shim adds the seed" {
    uses_shim home
}

@test "seeds below /run/user: a rehearsal runs" {
    rehearses runtime
}

@test "seeds below the home: a rehearsal runs" {
    rehearses home
}

@test "secrets, files and the configuration are the user's, over the host's" {
    begin runtime
    lab_run sh -c 'mkdir -p /etc/virt-seed/files && echo "default-user = host" >/etc/virt-seed/virt-seed.conf
        install -d -m 0700 /etc/virt-seed/secrets /etc/virt-seed/secrets/web
        echo "#cloud-config" >/etc/virt-seed/secrets/web/userdata'
    define "<ci:user-data secret='web'/>"
    her_virt_seed wire web1
    run ! her_virsh start web1
    [[ $output = *"$home/.config/virt-seed/secrets/web does not exist"* ]]

    her sh -c "umask 077; mkdir -p '$home/.config/virt-seed/secrets/web'
        echo '#cloud-config' >'$home/.config/virt-seed/secrets/web/userdata'"
    her_virsh start web1
    run -0 document vendor-data
    [[ $output = *'"host"'* ]]
    her_virsh destroy web1

    her chmod 0640 "$home/.config/virt-seed/secrets/web/userdata"
    run ! her_virsh start web1
    [[ $output = *'others may read or write it'* ]]
    her chmod 0600 "$home/.config/virt-seed/secrets/web/userdata"

    her sh -c "echo 'default-user = ann' >'$home/.config/virt-seed/virt-seed.conf'"
    her_virsh start web1
    run -0 document vendor-data
    [[ $output = *'"ann"'* && $output != *'"host"'* ]]
    her_virsh destroy web1

    define $'<ci:user-data>#cloud-config\npassword: hunter2\n</ci:user-data>'
    her_virt_seed wire web1
    run -0 her_virt_seed check web1
    [[ $output = *"in $home/.config/virt-seed/secrets/NAME/allow, then move it "* ]]
}

@test "what is wired for another scope is an error, with the line to type" {
    begin runtime
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" domain_xml web1 "$web1" |
        virt_seed wire - >"$LAB_DIR/system.xml"
    define_file "$LAB_DIR/system.xml"
    run -1 her_virt_seed check web1
    [[ $output = *"in your session (qemu:///session)"*"run 'virt-seed wire'"* ]]
    run ! her_virsh start web1
    [[ $output = *"/run/libvirt/virt-seed/$web1.iso"*"$seeds"*'run: virt-seed wire web1 && virsh start web1'* ]]
    run -0 her_virt_seed wire web1
    [[ $output = 'web1: wired ('*') in your session (qemu:///session)' ]]
    her_virt_seed check web1
    her_virsh start web1
    her_virsh dumpxml --inactive web1 >"$LAB_DIR/session.xml"

    # And the other way round.
    lab_virsh define "$LAB_DIR/session.xml"
    run ! lab_virsh start web1
    [[ $output = *"$seeds/$web1.iso"*'in /run/libvirt/virt-seed'*'run: virt-seed wire web1'* ]]
    virt_seed wire web1
    lab_virsh start web1
    [[ $(lab_run ls "$seeds" /run/libvirt/virt-seed | grep -c "$web1.iso$") = 2 ]]
}

@test "a guest that was saved with its seed elsewhere is not resumed, and its state stays" {
    begin home
    define
    her_virt_seed wire web1
    her_virsh start web1
    her_virsh managedsave web1
    # As by a login: from now on, seeds are there.
    lab_run install -d -m 0700 -o "$ann" -g "$ann" "/run/user/$ann"
    run ! her_virsh start web1
    [[ $output = *"was saved with the seed's disk $seeds/$web1.iso"*"in /run/user/$ann/libvirt/virt-seed"* ]]
    run -0 her_virsh dominfo web1
    [[ $output = *'Managed save:'*yes* ]]
    lab_run rm -rf "/run/user/$ann"
    her_virsh start web1
}

@test "links and FIFOs in the user's directories are errors, and root's files stay as they are" {
    begin home
    define
    her_virt_seed wire web1
    lab_run sh -c 'mkdir /run/victim && chmod 0777 /run/victim'
    her sh -c "rm -rf '$seeds' && ln -s /run/victim '$seeds'"
    run ! her_virsh start web1
    [[ $output = *"$seeds, or a directory above it, is a symbolic link or not a directory"* ]]
    her sh -c "rm '$seeds' && mkfifo '$seeds'"
    run ! her_virsh start web1
    [[ $output = *"$seeds, or a directory above it, is a symbolic link or not a directory"* ]]
    her sh -c "rm '$seeds' && mkdir '$seeds' && chmod 0777 '$seeds'"
    run ! her_virsh start web1
    [[ $output = *'others may write to it'* ]]
    lab_run chown root "$seeds"
    run ! her_virsh start web1
    [[ $output = *'belongs to user 0'* || $output = *'could not open'* ]]
    [[ $(lab_run ls -A /run/victim) = '' ]]
    # Domains that do not ask still start.
    her_virsh undefine web1
    domain_xml web2 >"$LAB_DIR/web2.xml"
    define_file "$LAB_DIR/web2.xml"
    her_virsh start web2
}

@test "the scope follows the URI; root has no session, and a session no metadata server" {
    begin runtime
    define
    run -2 lab_run "$builddir/virt-seed" -c qemu:///session status
    [[ $output = *'root has no session'*'-c qemu:///system'* ]]
    run -1 her_virt_seed set web1 --datasource=nocloud-net
    [[ $output = *'in your session (qemu:///session)'*'datasource="nocloud"'* ]]
    # By default, her own; the host's with its URI, or where libvirt's own configuration says so.
    her "$builddir/virt-seed" wire --output="$home/web1.xml" - <"$LAB_DIR/web1.xml"
    lab_run grep -F "$seeds/$web1.iso" "$home/web1.xml"
    her "$builddir/virt-seed" -c qemu:///system wire --output="$home/web1.xml" - <"$LAB_DIR/web1.xml"
    lab_run grep -F "/run/libvirt/virt-seed/$web1.iso" "$home/web1.xml"
    her sh -c "mkdir -p '$home/libvirt' && echo 'uri_default = \"qemu:///system\"' >'$home/libvirt/libvirt.conf'"
    her XDG_CONFIG_HOME="$home" "$builddir/virt-seed" wire --output="$home/web1.xml" - <"$LAB_DIR/web1.xml"
    lab_run grep -F "/run/libvirt/virt-seed/$web1.iso" "$home/web1.xml"
}

@test "doctor finds nothing wrong with a session" {
    begin runtime
    run her_virt_seed doctor --verbose
    [[ $output = *"ok: libvirt: "*"$seeds"*"$state"* ]]
    [[ $output != *'problem: directories'* && $output != *'problem: libvirt'* && $output != *metadata-server* ]]
    [[ $output = *'ok: hook-noticed: '*'was started after the hook was installed'* ]]
}
