#!/usr/bin/env bats
# shellcheck disable=SC2154  # builddir is of common.bash
# watch.bats: virt-seed watch wires what is defined in a real libvirtd, before it is started.
#
# VIRT_SEED_WATCH_ROUNDS says how many first starts are counted, 20 by default.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
rounds=${VIRT_SEED_WATCH_ROUNDS:-20}
state=/var/lib/virt-seed
# How long the files of an undefined domain are kept, and a second more.
kept=6

setup() {
    watch=
    log=$BATS_TEST_TMPDIR/watch.log
}

teardown() {
    end_watch 0
    lab_reset
    lab_run sh -c 'rm -rf /var/lib/virt-seed/*'
}

# request [ATTRIBUTES]: the element by which a domain asks.
request() {
    echo "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' $*/>"
}

# begin_watch: starts watch, and waits until it has looked at all definitions.
begin_watch() {
    # A process that stays must not have the descriptors for which bats waits.
    # shellcheck disable=SC2016  # the words are the inner shell's, in the lab
    lab_run sh -c 'echo $$ >/run/watch.pid; exec "$0" watch' "$builddir/virt-seed" \
        >"$log" 2>&1 3>&- 4>&- &
    watch=$!
    wait_until 60 grep -q 'looked at' "$log"
}

# end_watch STATUS: tells it to end, and expects this exit status.
end_watch() {
    local found=0

    [[ $watch ]] || return 0
    # shellcheck disable=SC2016  # the same
    lab_run sh -c 'kill "$(cat /run/watch.pid)"'
    wait "$watch" || found=$?
    watch=
    [[ $found -eq $1 ]] || { cat "$log" && return 1; }
}

is_wired() {
    [[ $(lab_virsh dumpxml --inactive "$1") = *"/run/libvirt/virt-seed/"* ]]
}

# write_files COUNT: writes the XML of domains many1, many2 …, which ask for a seed and are not defined yet.
write_files() {
    local i

    for ((i = 1; i <= $1; i++)); do
        metadata=$(request) domain_xml "many$i" >"$BATS_TEST_TMPDIR/many$i.xml"
    done
}

# figures FILE: prints the minimum, the median and the maximum of its numbers.
figures() {
    sort -n "$1" | awk '{ n[NR] = $1 } END { print n[1] ", " n[int((NR + 1) / 2)] ", " n[NR] }'
}

# say TEXT: prints what a test has measured.
say() {
    echo "# $*" >&3
}

# --- define and start -------------------------------------------------------------------------

# latencies: from libvirt's own clock, the milliseconds between the two events of each domain.
latencies() {
    awk '{ split($2, t, /[:+]/); ms = ((t[1] * 60 + t[2]) * 60 + t[3]) * 1000 }
        /Defined Added/ { added[$6] = ms }
        /Defined Updated/ && added[$6] { printf "%.0f\n", ms - added[$6]; delete added[$6] }' "$1"
}

@test "the first start works, if it is a command of its own" {
    local i good=0

    write_files "$rounds"
    begin_watch
    lab_run timeout 300 stdbuf -oL virsh -c qemu:///system event --event lifecycle --loop --timestamp \
        >"$BATS_TEST_TMPDIR/events" 2>/dev/null 3>&- 4>&- &
    sleep 1
    for ((i = 1; i <= rounds; i++)); do
        lab_virsh define "$BATS_TEST_TMPDIR/many$i.xml" >/dev/null
        if lab_virsh start "many$i" >/dev/null 2>>"$BATS_TEST_TMPDIR/refused"; then
            good=$((good + 1))
            lab_virsh destroy "many$i" >/dev/null
        fi
    done
    latencies "$BATS_TEST_TMPDIR/events" >"$BATS_TEST_TMPDIR/latencies"
    say "define and start as two commands: $good of $rounds first starts"
    say "milliseconds from defined to wired: $(figures "$BATS_TEST_TMPDIR/latencies")"
    [[ -s $BATS_TEST_TMPDIR/latencies ]]
    # On a machine that is busy with other tests, some starts may come too early.
    [[ $good -ge $((rounds * 4 / 5)) ]]
    # Those domains are wired, too.
    for ((i = 1; i <= rounds; i++)); do wait_until 20 is_wired "many$i"; done
}

@test "on one connection the first start may be refused, and the second works" {
    local i good=0

    write_files "$rounds"
    begin_watch
    for ((i = 1; i <= rounds; i++)); do
        if lab_virsh "define $BATS_TEST_TMPDIR/many$i.xml; start many$i" >/dev/null \
            2>>"$BATS_TEST_TMPDIR/refused"; then
            good=$((good + 1))
        else
            wait_until 10 is_wired "many$i"
            wait_until 10 lab_virsh start "many$i"
        fi
        lab_virsh destroy "many$i" >/dev/null
    done
    say "define and start on one connection: $good of $rounds first starts"
}

@test "a domain comes to ask by its metadata alone" {
    domain_define web1 $web1
    begin_watch
    lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --key ci --config --set '<cloud-init/>'
    wait_until 10 is_wired web1
}

@test "what asks for nothing, or for what cannot be, stays as it is" {
    begin_watch
    domain_define plain
    metadata=$(request 'bus="floppy"') domain_define wrong $web1
    wait_until 10 grep -q "domain 'wrong' was not wired: " "$log"
    run ! grep -q plain "$log"
    run ! is_wired plain
    [[ $(grep -c "'wrong'" "$log") -eq 1 ]]
    end_watch 0
}

@test "a definition that libvirt rejects is tried once" {
    local tries

    metadata=$(request) domain_define web1 $web1
    tries=$(lab_daemon_log | wc -l)
    # What is defined cannot be saved.
    lab_run sh -c 'mount --bind /etc/libvirt/qemu /etc/libvirt/qemu &&
        mount -o remount,bind,ro /etc/libvirt/qemu'
    begin_watch
    wait_until 10 grep -q "domain 'web1' was not wired: libvirt rejected the definition" "$log"
    end_watch 0
    lab_run umount /etc/libvirt/qemu
    [[ $(lab_daemon_log | tail -n "+$((tries + 1))" | grep -c 'Read-only file system') -eq 1 ]]
}

# Arguments: COUNT.
reported_lost() {
    (($(grep -c "was defined by somebody else while it was being wired" "$log") >= $1))
}

@test "a definition that changes twice at once ends up wired, and a lost change is reported" {
    local i lost=0

    begin_watch
    for i in {1..10}; do
        metadata=$(request) domain_xml web1 $web1 >"$BATS_TEST_TMPDIR/one.xml"
        sed 's|</uuid>|&<title>two</title>|' "$BATS_TEST_TMPDIR/one.xml" >"$BATS_TEST_TMPDIR/two.xml"
        lab_virsh define "$BATS_TEST_TMPDIR/one.xml"
        lab_virsh define "$BATS_TEST_TMPDIR/two.xml"
        wait_until 10 is_wired web1
        # libvirt has no define that fails if the definition has changed meanwhile.
        if [[ $(lab_virsh dumpxml web1) != *'<title>two</title>'* ]]; then
            lost=$((lost + 1))
            wait_until 10 reported_lost "$lost"
        fi
    done
    say "a second define at once: $lost of 10 lost to the wiring"
}

wired_or_left_alone() {
    is_wired web1 || grep -q 'is left alone' "$log"
}

@test "a domain whose wiring is undone again and again is left alone" {
    local i

    metadata=$(request) domain_xml web1 $web1 >"$BATS_TEST_TMPDIR/web1.xml"
    begin_watch
    for ((i = 0; i < 100; i++)); do
        lab_virsh define "$BATS_TEST_TMPDIR/web1.xml" >/dev/null
        wait_until 20 wired_or_left_alone
        ! grep -q 'is left alone' "$log" || break
    done
    grep -q "domain 'web1': its wiring is undone again and again; it is left alone" "$log"
    # The others are not.
    metadata=$(request) domain_define web2
    wait_until 10 is_wired web2
}

# --- undefine ---------------------------------------------------------------------------------

# keep_something: gives the domain a generated host key, a record and a report.
keep_something() {
    metadata=$(request 'ssh-host-keys="generate"') domain_define web1 $web1
    wait_until 10 is_wired web1
    lab_virsh start web1
    [[ $(something) -ge 3 ]]
}

# something: prints how many files and directories the domain has.
something() {
    # shellcheck disable=SC2016  # the words are the inner shell's, in the lab
    lab_run sh -c 'find /var/lib/virt-seed /var/log/libvirt/virt-seed /run/libvirt/virt-seed \
        -name "$0*"' $web1 | wc -l
}

nothing_is_left() {
    [[ $(something) -eq 0 ]]
}

@test "what was kept of a domain goes when it is undefined" {
    begin_watch
    keep_something
    lab_virsh destroy web1
    lab_virsh undefine web1
    wait_until 20 nothing_is_left
    grep -q "domain $web1 was undefined" "$log"
}

@test "a domain that runs keeps it until it stops" {
    begin_watch
    keep_something
    lab_virsh undefine web1
    sleep "$kept"
    [[ $(something) -ge 3 ]]
    lab_virsh destroy web1
    wait_until 20 nothing_is_left
}

@test "a domain that is renamed, or defined again, keeps it" {
    local before

    begin_watch
    keep_something
    before=$(lab_run cat $state/$web1.json)
    lab_virsh destroy web1
    lab_virsh domrename web1 web2
    lab_virsh dumpxml web2 >"$BATS_TEST_TMPDIR/web2.xml"
    lab_virsh undefine web2
    lab_virsh define "$BATS_TEST_TMPDIR/web2.xml"
    sleep "$kept"
    lab_run test -d $state/secrets/$web1
    [[ $(lab_run cat $state/$web1.json | jq -c .boot) = $(jq -c .boot <<<"$before") ]]
}

# --- libvirt's daemon --------------------------------------------------------------------------

@test "after a crash of libvirt's daemon it is back, and wires what came meanwhile" {
    metadata=$(request) domain_define meanwhile $web1
    cp "$LAB_DIR/root/etc/libvirt/qemu/meanwhile.xml" "$BATS_TEST_TMPDIR"
    lab_virsh undefine meanwhile
    begin_watch
    lab_kill_libvirtd
    wait_until 10 grep -q 'closed the connection' "$log"
    cp "$BATS_TEST_TMPDIR/meanwhile.xml" "$LAB_DIR/root/etc/libvirt/qemu"
    # It says only once that there is no daemon, however often it tries.
    sleep 2
    [[ $(grep -c 'trying again' "$log") -eq 1 ]]
    lab_start_libvirtd
    wait_until 20 is_wired meanwhile
    metadata=$(request) domain_define after
    wait_until 10 is_wired after
    end_watch 0
}

@test "it waits for a daemon that is not there yet" {
    lab_run kill "$(lab_run cat "/run/$(lab_daemon_name).pid")"
    wait_until 60 lab_is_silent
    # shellcheck disable=SC2016  # the words are the inner shell's, in the lab
    lab_run sh -c 'echo $$ >/run/watch.pid; exec "$0" watch' "$builddir/virt-seed" \
        >"$log" 2>&1 3>&- 4>&- &
    watch=$!
    wait_until 10 grep -q 'trying again' "$log"
    lab_start_libvirtd
    wait_until 20 grep -q 'looked at' "$log"
    metadata=$(request) domain_define web1 $web1
    wait_until 10 is_wired web1
    end_watch 0
}

lab_is_silent() {
    ! lab_run timeout 10 virsh -c qemu:///system uri >/dev/null 2>&1
}

@test "500 definitions are looked at when it starts" {
    local i file=$LAB_DIR/root/etc/libvirt/qemu

    metadata=$(request) domain_define many0 $web1
    for i in {1..500}; do
        sed -e "s|<name>many0</name>|<name>many$i</name>|" \
            -e "s|<uuid>.*</uuid>|<uuid>$(printf '5f1c3b0e-7a61-4c55-9d0a-%012d' "$i")</uuid>|" \
            "$file/many0.xml" >"$file/many$i.xml"
    done
    lab_restart_libvirtd
    [[ $(lab_virsh list --all --name | grep -c many) -eq 501 ]]
    begin_watch
    wait_until 120 grep -q 'looked at 501 definitions in .* ms, and wired 501' "$log"
    say "$(grep 'looked at' "$log")"
    end_watch 0
    begin_watch
    wait_until 60 grep -q 'looked at 501 definitions in .* ms, and wired 0' "$log"
    say "$(grep 'looked at' "$log")"
    end_watch 0
    rm "$file"/many*.xml
    lab_restart_libvirtd
}
