#!/usr/bin/env bats
# bats file_tags=native
# maker.bats: the process that reads what a domain asks for, while virt-seed-hook runs it: it has no rights,
# and if it does not come to its end, the start is refused and leaves nothing. sandbox.bats has what it may do.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

fault=$top_builddir/tests/hostile/fault

setup() {
    has_sandbox || skip 'built without the sandbox'
    "$fault" fcntl 1 stop true || [[ $? -ne 77 ]] || skip 'no process may be traced here'
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >wired.xml
    touch before
}

# is_stopped PROCESS: by tests/hostile/fault.
is_stopped() {
    grep -q '^State:.T' "/proc/$1/status"
}

# stop_at CALL WHEN [FILE]: starts a domain, and waits until that call, of the program or the maker; sets $tracer,
# $program and $maker, which is empty without one.
stop_at() {
    "$fault" "$1" "$2" stop hook-in-root --root="$root" web1 prepare begin - <"${3-wired.xml}" >out 2>err 3>&- &
    tracer=$!
    wait_until 60 is_stopped "$tracer"
    program=$(pgrep -P "$tracer")
    maker=$(pgrep -P "$program") || :
}

# go_on: sets $status.
go_on() {
    kill -CONT "$tracer"
    status=0
    wait "$tracer" || status=$?
}

# state WORD: a line of the maker's status.
state() {
    awk -v word="$1:" '$1 == word { $1 = ""; print substr($0, 2) }' "/proc/$maker/status"
}

# nothing_new: of the domain, on the host.
nothing_new() {
    [[ -z $(find "$root" -name "*$uuid*" -newer before) ]] ||
        { find "$root" -name "*$uuid*" -newer before && return 1; }
}

@test "the maker has no rights when it reads back what it has made" {
    stop_at pread 1
    [[ $(state Seccomp) = 2 && $(state NoNewPrivs) = 1 ]]
    [[ $(state CapEff) = 0000000000000000 && $(state CapPrm) = 0000000000000000 ]]
    if [[ $EUID -eq 0 ]]; then
        run ! grep -w 0 < <(state Uid && state Gid && state Groups)
    fi
    [[ $(find "/proc/$maker/fd" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ') = '0 1 2 3 4 5 ' ]]
    go_on
    [[ $status -eq 0 && -e $seeds/$uuid.iso ]]
}

@test "a start whose maker is killed is refused, and leaves nothing" {
    local call count=0

    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' | sed 's/<ci:cloud-init /&ssh-host-keys="generate" /' >key.xml
    for call in 'pread 1' 'pread 3' 'lseek 1' 'write 2' 'write 4' 'mmap 1' 'read 6'; do
        # shellcheck disable=SC2086  # a call and its number
        stop_at $call key.xml
        if [[ -z $maker ]]; then
            kill -9 "$program"
        else
            kill -9 "$maker"
            count+=1
        fi
        go_on
        [[ $status -ne 0 && ! -s out ]]
        [[ -z $maker ]] || grep 'the process that reads what the domain asks for' err
        nothing_new
    done
    [[ $count != 0 ]]
}

@test "the maker ends with the program that has started it" {
    stop_at pread 1
    kill -9 "$program"
    kill -CONT "$tracer"
    wait "$tracer" || :
    wait_until 10 eval "! kill -0 $maker 2>/dev/null"
    nothing_new
}

@test "what a command says while a domain starts is kept" {
    lifecycle wired.xml prepare
    virt-seed --quiet --root="$root" 'done' wired.xml
    lifecycle wired.xml started
    jq -e '.done and .boot.documents' "$root$statedir/$uuid.json"
    [[ ! -e $root$statedir/$uuid.next ]]
}
