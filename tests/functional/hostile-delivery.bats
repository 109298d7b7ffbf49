#!/usr/bin/env bats
# bats file_tags=native
# hostile-delivery.bats: system calls that fail, and processes that are killed, when the seed is served
# or virt-seed-qemu adds it. hostile-environment.bats does the same with a seed in a drive.
# shellcheck disable=SC2030,SC2031  # each test is a subshell, and has its own variables

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=../hostile/hostile.bash
source "$BATS_TEST_DIRNAME/../hostile/hostile.bash"

setup() {
    hostile_setup
    use_program
}

# use_shim, use_server: afterwards old.xml and new.xml are two requests of a domain with that delivery, and
# $published what its start makes below $seeds.
use_shim() {
    local name

    published=("$uuid.iso" "$uuid.libvirt-$uuid" "$uuid.shim")
    for name in old new; do
        domain_xml "<ci:hostname>$name</ci:hostname>" |
            sed 's|<devices>|&<emulator>/usr/bin/virt-seed-qemu-system-x86_64</emulator>|' \
                >"$name.xml"
    done
    keep_both
}

use_server() {
    local bridge="<interface type='bridge'><mac address='52:54:00:00:00:01'/><source bridge='br0'/></interface>"
    local name

    published=("imds/$uuid")
    make_server
    for name in old new; do
        domain_xml "<ci:hostname>$name</ci:hostname>" |
            sed -e "s|<ci:cloud-init |&datasource='nocloud-net' |" \
                -e "s|</devices>|$bridge&|" |
            virt-seed --quiet --root="$root" wire - >"$name.xml"
    done
    keep_both
}

# keep_both: the directories old and new contain what a start of each request publishes.
keep_both() {
    local name

    for name in old new; do
        attempt lifecycle prepare "$name.xml"
        succeeded
        cp -a "$seeds" "$name"
        attempt lifecycle release "$name.xml"
        succeeded
    done
}

begin() {
    attempt lifecycle prepare old.xml
    succeeded
}

# published_whole: the new seed is there with all that belongs to it.
published_whole() {
    local name

    for name in "${published[@]}"; do
        diff -r "new/$name" "$seeds/$name" >/dev/null || complain "$name is not the new one" || return
    done
}

# published_or_not: each of its parts is that of one request, complete, or missing.
published_or_not() {
    local name

    for name in "${published[@]}"; do
        [[ ! -e $seeds/$name ]] || diff -r "old/$name" "$seeds/$name" >/dev/null ||
            diff -r "new/$name" "$seeds/$name" >/dev/null || complain "$name is not whole" || return
    done
}

# ended: a release leaves no seed, nor a report.
ended() {
    attempt lifecycle release new.xml
    succeeded
    find "$seeds" "$root$reportdir" ! -type d ! -name '*.new.*' >left
    find "$seeds" -mindepth 2 -name "*$uuid*" >>left
    [[ ! -s left ]] || complain "left over: $(<left)"
}

# started_again: after a whole start and its end, nothing is left that is unfinished.
started_again() {
    local operation

    for operation in prepare started release; do
        attempt lifecycle "$operation" new.xml
        succeeded
        [[ $operation != prepare ]] || published_whole
    done
    find "$root" -name '*.new.*' >left
    [[ ! -s left ]] || complain "unfinished: $(<left)"
}

new_or_refused() {
    succeeded_or_refused
    if [[ $status -eq 0 ]]; then
        published_whole
    else
        published_or_not
    fi
    ended
}

# killed: the hook was, or its maker; then the hook says so, but at started.
killed() {
    [[ $status -eq 137 ]] || { succeeded_or_refused && [[ $status -ne 0 || $operation != prepare ]]; } ||
        complain 'it was not killed'
    published_or_not
    ended
}

# failing_calls: each call of a start fails in turn.
failing_calls() {
    local calls error

    outcome() { new_or_refused; }
    while read -r calls error; do
        each_fault "$calls" "$error" new.xml
        [[ $points -ge 1 ]] || complain "$calls is not called"
    done <<'END'
openat,openat2 EACCES
openat,openat2 EMFILE
write ENOSPC
write EIO
read EIO
fstat EIO
mkdirat,unlinkat EACCES
fchown,fchmod EPERM
linkat,renameat,renameat2 ENOSPC
END
    outcome() { succeeded; new_or_refused; }
    each_fault own:write,read EINTR new.xml
    ! has_sandbox || each_fault confined:write,read EINTR new.xml
    started_again
}

# kills: a start, what follows it, and the end are killed at each file operation in turn.
kills() {
    local calls=openat,openat2,write,mkdirat,fchown,fchmod,linkat,renameat,renameat2,unlinkat,close operation=prepare

    outcome() { killed; }
    each_fault $calls kill new.xml
    [[ $points -ge 20 ]]
    begin() {
        attempt lifecycle prepare new.xml
        succeeded
    }
    for operation in started release; do
        each_fault $calls kill new.xml
        [[ $points -ge 5 ]]
    done
    started_again
}

@test "a failing call leaves virt-seed-qemu a whole seed, or the start is refused" {
    use_shim
    failing_calls
}

@test "a failing call leaves a whole served seed, or the start is refused" {
    use_server
    failing_calls
}

@test "what a kill leaves of a seed for virt-seed-qemu is whole, and gone after a release" {
    use_shim
    kills
}

@test "what a kill leaves of a served seed is whole, and gone after a release" {
    use_server
    kills
}

# failing_releases: each call of a release fails in turn; the next one leaves nothing.
failing_releases() {
    local calls error operation=release

    begin() {
        attempt lifecycle prepare new.xml
        succeeded
    }
    outcome() {
        succeeded_or_refused
        published_or_not
        ended
    }
    while read -r calls error; do
        each_fault "$calls" "$error" new.xml
        [[ $points -ge 1 ]] || complain "$calls is not called"
    done <<'END'
openat,openat2 EACCES
openat,openat2 EMFILE
unlinkat EROFS
unlinkat EIO
getdents64 EIO
fstat EIO
END
    started_again
}

@test "a failing release says so, and the next one leaves nothing of a seed for virt-seed-qemu" {
    use_shim
    failing_releases
}

@test "a failing release says so, and the next one leaves nothing of a served seed" {
    use_server
    failing_releases
}

# whole_command: the command in the file out is that in the file whole; after a warning its report may go nowhere.
whole_command() {
    local where='opaque=virt-seed-report$|^-add-fd$|,id=virt-seed-report'

    if [[ -s err ]]; then
        grep -q "^virt-seed: warning: cannot keep the guest's report" err && grep -q 'null,id=virt-seed-report' out &&
            diff <(grep -vE "$where" whole) <(grep -vE "$where" out)
    else
        diff <(sed 's/,fd=[0-9]*//' whole) <(sed 's/,fd=[0-9]*//' out)
    fi
}

@test "whatever call fails, virt-seed-qemu runs QEMU with the whole seed or not at all" {
    local shim=$top_builddir/tests/functional/shim-command calls error
    local -i n

    use_shim
    mkdir -p "$root/usr/bin"
    install -m 0755 /dev/null "$root/usr/bin/qemu-system-x86_64"
    attempt lifecycle prepare new.xml
    succeeded
    to_build <"$top_srcdir/tests/golden/shim/q35/arguments" >arguments
    attempt "$shim" "$root" <arguments
    cp out whole
    grep -qF "$uuid" whole
    while read -r calls error; do
        for ((n = 1; n < 1000; n++)); do
            point="$calls $n $error"
            attempt "$fault" "$calls" "$n" "$error" "$shim" "$root" <arguments
            [[ $status -ne 77 ]] || skip 'processes cannot be traced here'
            [[ $status -ne 99 ]] || break
            case $status in
            0) whole_command || complain 'not the whole command' ;;
            # What shim-command does itself, before it is the shim.
            2) [[ ! -s out ]] || complain 'not ended' ;;
            137) [[ $error = kill ]] || complain 'killed' ;;
            *) [[ $status -eq 1 && ! -s out && $(<err) = 'virt-seed: error: '* ]] || complain 'not refused' ;;
            esac
        done
        [[ $n -gt 1 ]] || complain "$calls is not called"
    done <<'END'
openat,openat2 EACCES
openat,openat2 EMFILE
openat,openat2 EINTR
read EIO
read EINTR
fstat EIO
clone,clone3 EAGAIN
fcntl EMFILE
all kill
END
    published_whole
}
