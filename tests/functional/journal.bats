#!/usr/bin/env bats
# journal.bats: what virt-seed-lifecycle says in the system's journal.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    domain_xml >unwired.xml
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >wired.xml
}

@test "the journal has an entry for each start that is refused" {
    run -1 lifecycle_beside_journal unwired.xml prepare
    [[ $(journal_field MESSAGE_ID) = 9960e90c66014d13a070dd890b1a9ac6 && $(journal_field PRIORITY) = 3 ]]
    [[ $(journal_field MESSAGE) == *"start refused: domain 'web1': asks for cloud-init"*'; wire its XML'* ]]
    [[ $(journal_field VIRT_SEED_FAILURE) = unwired && $(journal_field VIRT_SEED_OPERATION) = prepare ]]
}

@test "the journal has an entry for each seed that is removed" {
    lifecycle_beside_journal wired.xml prepare
    lifecycle_beside_journal wired.xml release
    [[ $(journal_field MESSAGE_ID) = 3c088c12b36d4ddb80a545b2b64244ae && $(journal_field PRIORITY) = 6 ]]
    [[ $(journal_field MESSAGE) = "domain 'web1' ($uuid): seed removed" ]]
    # There was none.
    lifecycle_beside_journal wired.xml release
    [[ ! -s entries ]]
}

@test "warnings are in the journal, too" {
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    lifecycle_beside_journal unwired.xml prepare
    [[ $(journal_field MESSAGE | head -n 1) == *'starts as it is, not wired'* ]]
    [[ $(journal_field PRIORITY | sort -u) = 4 ]]
    run ! grep MESSAGE_ID entries
}

@test "a name cannot forge a field, nor steer a terminal" {
    local name=$'web\nMESSAGE_ID=0\n\e[31m\u009b1m'

    NAME=$name awk '{ sub("<name>web1</name>", "<name>" ENVIRON["NAME"] "</name>"); print }' \
        wired.xml | sed $'s/\e/E/' >forged.xml
    lifecycle_beside_journal forged.xml prepare
    lifecycle_beside_journal forged.xml release
    [[ $(journal_field MESSAGE_ID) = 3c088c12b36d4ddb80a545b2b64244ae ]]
    [[ $(journal_field VIRT_SEED_DOMAIN) = 'web?MESSAGE_ID=0?E[31m??1m' ]]
    run ! grep -P '[\x00-\x08\x0b-\x1f]' entries
}
