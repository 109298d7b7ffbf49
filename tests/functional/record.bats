#!/usr/bin/env bats
# record.bats: what the host remembers of a boot.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    record=$root$statedir/$uuid.json
    domain_xml >unwired.xml
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >wired.xml
}

# in_record FILTER: prints what jq finds in the record.
in_record() {
    jq -r "$1" "$record"
}

# start FILE: prepare and started.
start() {
    lifecycle_beside_journal "$1" prepare
    lifecycle_beside_journal "$1" started
}

# put_result: adds a result to the record, as of the last boot.
put_result() {
    local with

    with=$(jq '.result = {time: "2026-01-01T00:00:00Z", state: "done", errors: [], warnings: []}' \
        "$record")
    printf '%s\n' "$with" >"$record"
}

# --- a boot -----------------------------------------------------------------------------------

@test "a boot is recorded with the digest of each document that it had" {
    lifecycle_beside_journal wired.xml prepare
    [[ ! -e $record ]]
    lifecycle_beside_journal wired.xml started
    virt-seed inspect --extract=seed "$seeds/$uuid.iso" >/dev/null
    [[ $(in_record '.boot.documents | to_entries[] | "\(.value)  seed/\(.key)"') == \
        "$(sha256sum seed/*)" ]]
    [[ $(in_record '.boot | .name, .label, .datasource, ."instance-id"') == \
        $'web1\ncidata\nnocloud\n'"$uuid" ]]
    [[ "virt-seed $(in_record .boot.version)" == "$(virt-seed --version)" ]]
    [[ $(($(date +%s) - $(date -d "$(in_record .boot.time)" +%s))) -lt 60 ]]
    run ! grep -r cloud-config "$root$statedir"
}

@test "a record is for those who may use libvirt, not for others" {
    start wired.xml
    [[ $(stat -c %a "$record") = 640 ]]
    [[ $(stat -c %a "$root$statedir") = 711 ]]
    [[ $EUID -eq 0 ]] || return 0
    mkdir -p "$root${rundir%/*}"
    # A socket with the group of libvirt's.
    timeout 5 "$top_builddir/tests/functional/journal-socket" "$root${rundir%/*}/libvirt-sock" \
        /dev/null true
    chown :64055 "$root${rundir%/*}/libvirt-sock"
    chmod 0770 "$root${rundir%/*}/libvirt-sock"
    lifecycle_beside_journal wired.xml started
    [[ $(stat -c %u:%g "$record") = 0:64055 ]]
}

@test "the instance-id of a ConfigDrive is recorded" {
    sed 's/<ci:cloud-init /&datasource="configdrive" /' unwired.xml | virt-seed --quiet wire - \
        >drive.xml
    start drive.xml
    [[ $(in_record '.boot | .label, .datasource') == $'config-2\nconfigdrive' ]]
    virt-seed inspect --extract=seed "$seeds/$uuid.iso" >/dev/null
    [[ $(in_record '.boot."instance-id"') == \
        "$(jq -r .uuid seed/openstack/latest/meta_data.json)" ]]
}

@test "a boot takes away the result of the one before, and leaves 'done'" {
    start wired.xml
    virt-seed --root="$root" --quiet 'done' wired.xml
    put_result
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result.state) = 'done' ]]
    lifecycle_beside_journal wired.xml prepare
    [[ $(in_record .result.state) = 'done' ]]
    lifecycle_beside_journal wired.xml started
    [[ $(in_record '.result, (.done | type)') == $'null\nstring' ]]
}

@test "a start that fails leaves the record of the boot before" {
    start wired.xml
    put_result
    cp "$record" before
    wired_xml '<ci:user-data>#cloud-config: another</ci:user-data>' >another.xml
    # QEMU does not start.
    lifecycle_beside_journal another.xml prepare
    lifecycle_beside_journal another.xml release
    cmp "$record" before
}

@test "a guest that is resumed keeps its record" {
    start wired.xml
    put_result
    cp "$record" before
    for operation in restore migrate; do
        lifecycle_beside_journal wired.xml release
        lifecycle_beside_journal wired.xml "$operation"
        start wired.xml
        cmp "$record" before
    done
    # The next is a boot again.
    lifecycle_beside_journal wired.xml release
    start wired.xml
    [[ $(in_record .result) = null ]]
}

@test "a mark of a guest that was resumed long ago says nothing of this one" {
    start wired.xml
    put_result
    # The daemon has crashed, so no release took it away.
    touch "$seeds/$uuid.resumed"
    touch -d '62 seconds' "$seeds/$uuid.iso"
    lifecycle_beside_journal wired.xml started
    [[ $(in_record .result) = null ]]
}

@test "a start without the seed is not recorded" {
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    start unwired.xml
    [[ ! -e $record ]]
    lifecycle_beside_journal wired.xml release
    lifecycle_beside_journal wired.xml started
    [[ ! -e $record ]]
}

# --- nothing kills a guest that runs ----------------------------------------------------------

@test "started never fails, whatever it finds" {
    lifecycle_beside_journal wired.xml prepare
    head -c 100000 /dev/urandom >"$seeds/$uuid.iso"
    lifecycle_beside_journal wired.xml started
    [[ $(journal_field MESSAGE) == *'is not recorded'* ]]
    ln -sf /nowhere "$seeds/$uuid.iso"
    lifecycle_beside_journal wired.xml started
    lifecycle_beside_journal wired.xml release
    lifecycle_beside_journal wired.xml prepare
    mkdir -p "$root$statedir"
    echo '[]' >"$record"
    lifecycle_beside_journal wired.xml started
    [[ $(journal_field MESSAGE) == *'is not a record'* && $(<"$record") = '[]' ]]
    rm -r "$root$statedir"
    echo >"$root$statedir"
    lifecycle_beside_journal wired.xml started
    rm -r "$seeds"
    ln -s /nowhere "$seeds"
    lifecycle_beside_journal wired.xml started
    lifecycle_beside_journal /dev/null started
    echo '<domain>' >malformed.xml
    lifecycle_beside_journal malformed.xml started
    run -0 virt-seed-lifecycle --root=/nowhere web1 started begin - <wired.xml
}
