#!/usr/bin/env bats
# journal.bats: what virt-seed-hook says in the system's journal.
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

# start FILE: prepare, whose entries stay, and started.
start() {
    lifecycle_beside_journal "$1" prepare
    mv entries made
    lifecycle_beside_journal "$1" started
    [[ ! -s entries ]]
    mv made entries
}

# bats test_tags=native
@test "the journal has an entry for each new seed, with its digest" {
    start wired.xml
    [[ $(journal_field MESSAGE) = "domain 'web1' ($uuid): seed made" ]]
    [[ $(journal_field MESSAGE_ID) = bb80d96170e7445ca06904e4c69f17a2 && $(journal_field PRIORITY) = 6 ]]
    [[ $(journal_field SYSLOG_IDENTIFIER) = virt-seed && $(journal_field SYSLOG_FACILITY) = 3 ]]
    [[ $(journal_field VIRT_SEED_DOMAIN) = web1 && $(journal_field VIRT_SEED_UUID) = "$uuid" ]]
    [[ $(journal_field VIRT_SEED_OPERATION) = prepare ]]
    [[ "$(journal_field VIRT_SEED_DIGEST)  -" = "$(sha256sum <"$seeds/$uuid.iso")" ]]
}

# bats test_tags=native
@test "the journal does not have the digest of a seed with a secret" {
    make_secret web1 userdata '#!/bin/sh'
    wired_xml '<ci:user-data secret="web1"/>' >secret.xml
    start secret.xml
    [[ $(journal_field MESSAGE) == *'seed made' ]]
    run ! grep DIGEST entries
    # The record, which others cannot read, has the documents'.
    [[ $(jq -r '.boot.documents["user-data"]' "$root$statedir/$uuid.json") = "$(printf '#!/bin/sh' | sha256sum |
        cut -d ' ' -f 1)" ]]
}

@test "the journal has an entry for each refused start" {
    run -1 lifecycle_beside_journal unwired.xml prepare
    [[ $(journal_field MESSAGE_ID) = 9960e90c66014d13a070dd890b1a9ac6 && $(journal_field PRIORITY) = 3 ]]
    [[ $(journal_field MESSAGE) == *"start refused: domain 'web1': asks for cloud-init"*'; wire its XML'* ]]
    [[ $(journal_field VIRT_SEED_FAILURE) = unwired && $(journal_field VIRT_SEED_OPERATION) = prepare ]]
}

@test "the journal has an entry for each removed seed" {
    start wired.xml
    lifecycle_beside_journal wired.xml release
    [[ $(journal_field MESSAGE_ID) = 3c088c12b36d4ddb80a545b2b64244ae && $(journal_field PRIORITY) = 6 ]]
    [[ $(journal_field MESSAGE) = "domain 'web1' ($uuid): seed removed" ]]
    # There was none.
    lifecycle_beside_journal wired.xml release
    [[ ! -s entries ]]
}

@test "the journal has what a release failed to remove besides what its message names" {
    start wired.xml
    rm "$seeds/$uuid.iso" "$root$reportdir/$uuid.report"
    mkdir "$seeds/$uuid.iso" "$root$reportdir/$uuid.report"
    run -1 lifecycle_beside_journal wired.xml release
    [[ $output == *"error: could not remove the domain's files from $rundir"* ]]
    [[ $(journal_field MESSAGE) == *"report could not be removed either: could not remove $reportdir/$uuid.report"* ]]
    run ! grep 'part of the seed' entries
}

@test "the journal has the warnings, too" {
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    lifecycle_beside_journal unwired.xml prepare
    [[ $(journal_field MESSAGE | head -n 1) == *'starting without this wiring'* ]]
    [[ $(journal_field PRIORITY | sort -u) = 4 ]]
    run ! grep MESSAGE_ID entries
}

@test "the journal has a mistake in the configuration, whether the start is refused or not" {
    local file

    for file in wired.xml unwired.xml; do
        printf 'autowire = maybe\n' >"$root$confdir/virt-seed.conf"
        lifecycle_beside_journal "$file" prepare || :
        grep -aq "continuing without this part of the configuration: $confdir/virt-seed.conf: line 1: autowire is 'maybe'" entries
        rm "$root$confdir/virt-seed.conf"
        mkdir "$root$confdir/virt-seed.conf"
        lifecycle_beside_journal "$file" prepare || :
        grep -aq "continuing without this part of the configuration: could not read $confdir/virt-seed.conf" entries
        rmdir "$root$confdir/virt-seed.conf"
    done
}

# listen_to_syslog COMMAND...: runs it while somebody listens at $root/dev/log; what comes there is in the
# file "entries".
listen_to_syslog() {
    mkdir -p "$root/dev"
    (cd "$root/dev" && rm -f log && exec /usr/bin/python3 - "$OLDPWD" "$@") <<'END'
import os, socket, subprocess, sys

log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("log")
os.chdir(sys.argv[1])
subprocess.run(sys.argv[2:], stdin=open("wired.xml"), timeout=10, check=True)
log.settimeout(5)
open("entries", "wb").write(log.recv(65536))
END
}

@test "without a journal, the host's syslog has the messages" {
    listen_to_syslog hook-in-root --root="$root" web1 prepare begin -
    grep -xE "<30>virt-seed\[[0-9]+\]: domain 'web1' \($uuid\): seed made" entries
    # What libvirt does not show, since the hook succeeds: another domain's XML.
    sed -i 's|<uuid>.*</uuid>|<uuid>none</uuid>|' wired.xml
    listen_to_syslog hook-in-root --root="$root" web1 started begin -
    grep -E "^<28>virt-seed\[[0-9]+\]: domain 'web1' \(no UUID\): started: " entries
}

@test "a journal that is stuck holds no domain up, and loses no result" {
    start wired.xml
    printf '{"virt-seed":1,"boot":"%s","status":{"v1":{}},"result":{"v1":{"datasource":null,"errors":[]}}}\n' \
        0f7c3a52-5d7e-4c1b-9a55-000000000001 >>"$root$reportdir/$uuid.report"
    mkdir -p "$root/run/systemd/journal" "$root/dev"
    rm -f "$root/run/systemd/journal/socket"
    /usr/bin/python3 - "$root" <<'END'
import os, socket, subprocess, sys

# Nobody reads.
stuck = []
for path in sys.argv[1] + "/dev/log", sys.argv[1] + "/run/systemd/journal/socket":
    stuck.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    name = f"/proc/self/fd/{directory}/{os.path.basename(path)}"
    stuck[-1].bind(name)
    stuck.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    stuck[-1].setblocking(False)
    try:
        while True:
            stuck[-1].sendto(b"x", name)
    except BlockingIOError:
        pass
subprocess.run(["hook-in-root", "--root=" + sys.argv[1], "web1", "release", "end", "-"],
               stdin=open("wired.xml"), timeout=10, check=True)
END
    [[ $(jq -r .result.state "$root$statedir/$uuid.json") = "done" ]]
}

# bats test_tags=native
@test "the journal does not have the digest of a seed with a file's content" {
    mkdir -p "$root$confdir/files"
    echo '#!/bin/sh' >"$root$confdir/files/script"
    wired_xml '<ci:user-data file="script"/>' >file.xml
    start file.xml
    [[ $(journal_field MESSAGE) == *'seed made' ]]
    run ! grep DIGEST entries
    # Or with what the host adds.
    ssh-keygen -q -t ed25519 -N '' -f key
    cp key.pub "$root$confdir/files/key"
    for setting in 'vendor-data = script' 'default-ssh-keys = key' 'default-user = admin'; do
        echo "$setting" >"$root$confdir/virt-seed.conf"
        start wired.xml
        [[ $(journal_field MESSAGE) == *'seed made' ]]
        run ! grep DIGEST entries
    done
}

# bats test_tags=native
@test "a name can neither forge a field nor control a terminal" {
    local name=$'web\nMESSAGE_ID=0\n\e[31m\u009b1m'

    NAME=$name awk '{ sub("<name>web1</name>", "<name>" ENVIRON["NAME"] "</name>"); print }' \
        wired.xml | sed $'s/\e/E/' >forged.xml
    start forged.xml
    [[ $(journal_field MESSAGE_ID) = bb80d96170e7445ca06904e4c69f17a2 ]]
    [[ $(journal_field VIRT_SEED_DOMAIN) = 'web?MESSAGE_ID=0?E[31m??1m' ]]
    run ! grep -P '[\x00-\x08\x0b-\x1f]' entries
}

@test "a journal that is full or that nobody reads holds nothing up" {
    mkdir -p "$root/run/systemd/journal"
    lifecycle_beside_journal wired.xml prepare
    # The socket is there, its journal is not.
    run -0 timeout 10 hook-in-root --root="$root" web1 started begin - <wired.xml
    rm "$root/run/systemd/journal/socket"
    # shellcheck disable=SC2016  # the words are the inner shell's
    run -0 timeout 30 "$top_builddir/tests/functional/journal-socket" "$root/run/systemd/journal/socket" \
        entries bash -c 'for _ in {1..40}; do
            hook-in-root --root="$1" web1 prepare begin - <wired.xml || exit
        done' bash "$root"
}
