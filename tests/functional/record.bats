#!/usr/bin/env bats
# record.bats: what the host remembers of a boot, and for how long.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    record=$root$statedir/$uuid.json
    domain_xml >unwired.xml
    wired_xml $'<ci:user-data>#cloud-config\nlocale: C.UTF-8</ci:user-data>' >wired.xml
}

# in_record FILTER: prints what jq finds in the record.
in_record() {
    jq -r "$1" "$record"
}

# start FILE: runs prepare and started.
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

# bats test_tags=native
@test "records a boot with the digest of each of its documents" {
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

# bats test_tags=native
@test "a record is readable by those who may use libvirt, and by no others" {
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
    start wired.xml
    [[ $(stat -c %u:%g "$record") = 0:64055 ]]
}

# bats test_tags=native
@test "records the instance-id of a ConfigDrive" {
    sed 's/<ci:cloud-init /&datasource="configdrive" /' unwired.xml | virt-seed --quiet wire - \
        >drive.xml
    start drive.xml
    [[ $(in_record '.boot | .label, .datasource') == $'config-2\nconfigdrive' ]]
    virt-seed inspect --extract=seed "$seeds/$uuid.iso" >/dev/null
    [[ $(in_record '.boot."instance-id"') == \
        "$(jq -r .uuid seed/openstack/latest/meta_data.json)" ]]
}

# bats test_tags=native
@test "a boot removes the previous result and keeps 'done'" {
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

# bats test_tags=native
@test "a failed start keeps the record of the previous boot" {
    start wired.xml
    put_result
    cp "$record" before
    wired_xml '<ci:user-data>#cloud-config: another</ci:user-data>' >another.xml
    # QEMU does not start.
    lifecycle_beside_journal another.xml prepare
    lifecycle_beside_journal another.xml release
    cmp "$record" before
}

# bats test_tags=native
@test "a resumed guest keeps its record" {
    start wired.xml
    put_result
    cp "$record" before
    for operation in restore migrate; do
        lifecycle_beside_journal wired.xml release
        lifecycle_beside_journal wired.xml "$operation"
        start wired.xml
        cmp "$record" before
    done
    # The next start is a boot again.
    lifecycle_beside_journal wired.xml release
    start wired.xml
    [[ $(in_record .result) = null ]]
}

# release WHY: as libvirt calls it since 10.5.
release() {
    hook-in-root --root="$root" web1 release end "$1" <wired.xml
}

@test "a state that was saved before a later boot does not count as that boot" {
    start wired.xml
    release saved
    # The same guest goes on.
    put_result
    lifecycle_beside_journal wired.xml restore
    start wired.xml
    [[ $(in_record .result.state) = "done" ]]
    release saved
    start wired.xml
    put_result
    release shutdown
    # A start that fails ends no guest.
    release failed
    [[ $(in_record .end) = shutdown ]]
    lifecycle_beside_journal wired.xml restore
    start wired.xml
    # Nothing is known of it, but when it may have been done.
    [[ $(jq -c 'del(."earlier-result")' "$record") = '{}' ]]
}

# bats test_tags=native
@test "a libvirt that does not tell why a guest has ended changes nothing" {
    start wired.xml
    put_result
    release -
    lifecycle_beside_journal wired.xml restore
    start wired.xml
    [[ $(in_record .result.state) = "done" && $(in_record .end) = null ]]
}

# bats test_tags=native
@test "ignores the mark of a guest that was resumed long ago" {
    start wired.xml
    put_result
    lifecycle_beside_journal wired.xml restore
    start wired.xml
    [[ $(in_record .result) != null && -e $seeds/$uuid.resumed ]]
    # The daemon has crashed, so no release has removed it.
    start wired.xml
    [[ $(in_record .result) = null ]]
}

@test "does not record a start without the seed" {
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    start unwired.xml
    [[ ! -e $record ]]
    lifecycle_beside_journal wired.xml release
    run ! lifecycle_beside_journal wired.xml started
    [[ ! -e $record ]]
}

# --- the result -------------------------------------------------------------------------------

boot_id=0f7c3a52-5d7e-4c1b-9a55-000000000001

# report LINE...: the guest reports these lines.
report() {
    mkdir -p "$root$reportdir"
    printf '%s\n' "$@" >>"$root$reportdir/$uuid.report"
}

# ended [ERRORS [BOOT]]: prints the last line of a boot, with these errors, as JSON.
ended() {
    printf '{"virt-seed":1,"boot":"%s","status":{"v1":{"datasource":"DataSourceNoCloud",' \
        "${2-$boot_id}"
    printf '"stage":null,"init":{"errors":[],"start":1,"finished":2},'
    printf '"modules-final":{"errors":%s,"start":3,"finished":4}}},' "${1-[]}"
    printf '"result":{"v1":{"datasource":"DataSourceNoCloud [seed=/dev/sr0]","errors":%s}}}\n' \
        "${1-[]}"
}

# begun [BOOT]: prints the first line of a boot.
begun() {
    printf '{"virt-seed":1,"boot":"%s","status":{"v1":{"datasource":null,' "${1-$boot_id}"
    printf '"stage":"init","init":{"errors":[],"start":1,"finished":null}}}}\n'
}

@test "release records what the guest reported at its end, and removes the report" {
    start wired.xml
    report "$(begun)" "$(ended)"
    touch -d '2026-05-05T05:05:05Z' "$root$reportdir/$uuid.report"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record '.result | .state, .time, .datasource, (.errors | length)') == \
        $'done\n2026-05-05T05:05:05Z\nDataSourceNoCloud [seed=/dev/sr0]\n0' ]]
    [[ ! -e $root$reportdir/$uuid.report ]]
    [[ $(in_record .done) = null ]]
    [[ $(journal_field MESSAGE_ID | tail -n 1) = 6b12ef599a7b4d2680b6372430b4283d ]]
    [[ $(journal_field VIRT_SEED_RESULT) = 'done' ]]
}

@test "records the guest's errors, but not in the journal" {
    start wired.xml
    report "$(ended '["it broke", "and broke"]')"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record '.result | .state, .errors[]') == $'failed\nit broke\nand broke' ]]
    [[ $(journal_field VIRT_SEED_RESULT) = failed ]]
    [[ $(journal_field PRIORITY | tail -n 1) = 4 ]]
    run ! grep broke entries
}

# bats test_tags=native
@test "a boot that did not finish has no result" {
    start wired.xml
    report "$(begun)"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result) = null ]]
    run ! grep VIRT_SEED_RESULT entries
    start wired.xml
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result) = null ]]
}

@test "a reboot that has just begun keeps the result" {
    start wired.xml
    report "$(ended)" "$(begun 0f7c3a52-5d7e-4c1b-9a55-000000000002)"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result.state) = 'done' ]]
    start wired.xml
    report "$(ended)" "$(ended '["no"]' 0f7c3a52-5d7e-4c1b-9a55-000000000002)"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result.state) = failed ]]
}

@test "a guest saved before it was done has its result after it comes back" {
    start wired.xml
    report "$(begun)"
    lifecycle_beside_journal wired.xml release
    lifecycle_beside_journal wired.xml restore
    start wired.xml
    report "$(ended)"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result.state) = 'done' ]]
    # And once more, when the guest has nothing new to report.
    lifecycle_beside_journal wired.xml restore
    start wired.xml
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .result.state) = 'done' ]]
}

# bats test_tags=native
@test "a malicious report does not prevent its removal" {
    local hostile

    printf '{"virt-seed":1,"boot":"%s","status":' "$boot_id" >open
    for hostile in 'cat /dev/urandom' 'yes' "tr '\\0' '[' </dev/zero" 'cat open /dev/zero'; do
        start wired.xml
        mkdir -p "$root$reportdir"
        bash -c "$hostile" 2>/dev/null | head -c 20000000 >"$root$reportdir/$uuid.report" || true
        lifecycle_beside_journal wired.xml release
        run ! compgen -G "$seeds/$uuid*"
        run ! compgen -G "$root$reportdir/$uuid*"
        [[ $(in_record .result) = null ]]
    done
    start wired.xml
    rm -rf "$root$reportdir/$uuid.report"
    mkdir "$root$reportdir/$uuid.report"
    run -1 lifecycle_beside_journal wired.xml release
    [[ ! -e $seeds/$uuid.iso ]]
}

# bats test_tags=native
@test "a guest that is set up by one boot gets only its identity afterwards" {
    sed 's/<ci:cloud-init /&boots="until-done" /' wired.xml >until.xml
    start until.xml
    report "$(ended '["no"]')"
    lifecycle_beside_journal until.xml release
    [[ $(in_record .done) = null ]]
    start until.xml
    report "$(begun)" "$(ended)"
    lifecycle_beside_journal until.xml release
    [[ $(in_record '.done | type') = string ]]
    [[ $(journal_field MESSAGE | tail -n 1) == *'only its identity'* ]]
    start until.xml
    virt-seed inspect "$seeds/$uuid.iso" | grep '^user-data: 0 bytes'
    [[ $(in_record '.boot."identity-alone"') = true ]]
    # Undone while the guest runs with that seed: this boot's report does not count for the full seed.
    virt-seed --root="$root" --quiet 'done' --undo until.xml
    report "$(ended)"
    lifecycle_beside_journal until.xml release
    [[ $(in_record .done) = null ]]
    start until.xml
    virt-seed inspect "$seeds/$uuid.iso" | grep '^user-data: .*cloud-config'
    [[ $(in_record '.boot."identity-alone"') = null ]]
}

@test "a guest that is done keeps what the attributes of <cloud-init> ask for" {
    # machine-id= acts again if someone runs 'cloud-init clean' in the guest.
    sed 's/<ci:cloud-init /&boots="until-done" cache="keep" machine-id="per-instance" /' wired.xml \
        >until.xml
    virt-seed --root="$root" --quiet 'done' until.xml
    virt-seed --root="$root" --quiet dump --full until.xml >dumped
    for words in 'manual_cache_clean: true' 'gives each new instance a machine-id' \
        'org.virt-seed.report.0'; do
        grep -F "$words" dumped
    done
}

@test "records at the next boot what the guest reported before the host crashed" {
    sed 's/<ci:cloud-init /&boots="until-done" /' wired.xml >until.xml
    start until.xml
    report "$(begun)" "$(ended)"
    # There was no release, because libvirt never saw the domain end.
    lifecycle_beside_journal until.xml prepare
    [[ $(in_record '.result.state, (.done | type)') == $'done\nstring' ]]
    [[ $(journal_field VIRT_SEED_RESULT) = 'done' ]]
    virt-seed inspect "$seeds/$uuid.iso" | grep '^user-data: 0 bytes'
    run ! grep . "$root$reportdir/$uuid.report"
}

# bats test_tags=native
@test "a report from before a crash does not count for the next boot" {
    start wired.xml
    report "$(ended)"
    sed 's/<ci:cloud-init /&report="no" /' unwired.xml | virt-seed --quiet wire - >silent.xml
    run ! grep org.virt-seed.report.0 silent.xml
    start silent.xml
    lifecycle_beside_journal silent.xml release
    [[ $(in_record .result) = null ]]
}

# bats test_tags=native
@test "reads a saved guest's report when the guest ends, not when it comes back" {
    start wired.xml
    report "$(ended)"
    # The daemon has crashed, so no release came in between.
    lifecycle_beside_journal wired.xml restore
    lifecycle_beside_journal wired.xml prepare
    [[ $(in_record .result) = null ]]
    grep -q . "$root$reportdir/$uuid.report"
}

# bats test_tags=native
@test "a lock on the records does not delay a domain's end" {
    local begin

    start wired.xml
    report "$(ended)"
    exec 9<"$root$statedir"
    flock 9
    begin=${EPOCHREALTIME/./}
    lifecycle_beside_journal wired.xml release
    [[ $((${EPOCHREALTIME/./} - begin)) -lt 3000000 ]]
    exec 9<&-
    [[ $(in_record .result.state) = 'done' ]]
    [[ ! -e $root$reportdir/$uuid.report ]]
}

@test "never records as done a guest that gets its full seed at each boot" {
    start wired.xml
    report "$(ended)"
    lifecycle_beside_journal wired.xml release
    [[ $(in_record .done) = null ]]
}

# --- what is left ------------------------------------------------------------------------------

# bats test_tags=native
@test "release removes what a killed start has left" {
    local file

    start wired.xml
    mkdir -p "$root$statedir/secrets/$uuid"
    for file in "$root$statedir/$uuid.json" "$root$statedir/$uuid.ssh_host_ed25519_key.pub" \
        "$root$statedir/secrets/$uuid/ssh_host_ed25519_key" "$root$statedir/secrets/$uuid/password" \
        "$root$reportdir/$uuid.report"; do
        touch "$file.new.00000000" "$file.new.0badcafe"
    done
    touch "$root$statedir/$other_uuid.json.new.00000000"
    lifecycle_beside_journal wired.xml release
    [[ $(find "$root" -name '*.new.*') = "$root$statedir/$other_uuid.json.new.00000000" ]]
}

@test "gc removes nothing if it cannot ask this host's libvirt" {
    mkdir -p "$root$statedir"
    touch "$root$statedir/$other_uuid.json"
    for uri in test:///default qemu+ssh://nowhere.invalid/system qemu:///no-such-thing; do
        run ! timeout 60 virt-seed --root="$root" --connect="$uri" gc --all
        assert_said 'virt-seed: error: '
    done
    [[ -e $root$statedir/$other_uuid.json ]]
}

# --- what QEMU's user may have changed ----------------------------------------------------------

@test "what is recorded was known before QEMU's user could change the seed" {
    lifecycle wired.xml prepare
    [[ $(stat -c '%a %u' "$root$statedir/$uuid.next") = "640 $EUID" ]]
    head -c 100000 /dev/urandom >"$seeds/$uuid.iso"
    # As virt-seed itself would have written it.
    touch -d "@$(date +%s)" "$seeds/$uuid.iso"
    lifecycle wired.xml started
    virt-seed --root="$root" dump wired.xml user-data | sha256sum | cut -d ' ' -f 1 >digest
    [[ $(in_record '.boot.documents["user-data"]') = "$(<digest)" ]]
    [[ ! -e $root$statedir/$uuid.next ]]
}

# --- nothing kills a guest that runs ----------------------------------------------------------

# bats test_tags=native
@test "started fails for no other reason than an attack, whatever it finds" {
    lifecycle_beside_journal wired.xml prepare
    echo '{' >"$root$statedir/$uuid.next"
    lifecycle_beside_journal wired.xml started
    [[ $(journal_field MESSAGE) == *'could not record'* ]]
    lifecycle_beside_journal wired.xml release
    lifecycle_beside_journal wired.xml prepare
    mkdir -p "$root$statedir"
    echo '[]' >"$record"
    lifecycle_beside_journal wired.xml started
    [[ $(journal_field MESSAGE) == *'is not a JSON object'* && $(<"$record") = '[]' ]]
    rm -r "$root$statedir"
    echo >"$root$statedir"
    ln "$seeds/$uuid.iso" "$seeds/$uuid.iso.made"
    lifecycle_beside_journal wired.xml started
    rm -r "$seeds"
    ln -s /nowhere "$seeds"
    lifecycle_beside_journal wired.xml started
    lifecycle_beside_journal /dev/null started
    echo '<domain>' >malformed.xml
    lifecycle_beside_journal malformed.xml started
    run -0 hook-in-root --root=/nowhere web1 started begin - <wired.xml
}
