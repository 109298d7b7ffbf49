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

# stop_at CALL WHEN [FILE [OPERATION]]: runs an operation of a domain, and waits until that call; sets $tracer,
# $program and $maker, which is empty without one. Fails if there is no such call.
stop_at() {
    "$fault" "$1" "$2" stop hook-in-root --root="$root" web1 "${4-prepare}" begin - <"${3-wired.xml}" \
        >out 2>err 3>&- &
    tracer=$!
    wait_until 60 eval "is_stopped $tracer || ! kill -0 $tracer" 2>/dev/null
    if ! is_stopped "$tracer" 2>/dev/null; then
        wait "$tracer" || [[ $? -eq 99 ]]
        return 1
    fi
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

# has_no_rights XML IMAGE: the maker has none, and only what it was given: these two are "/memfd:" or "/dev/null". An
# ordinary user cannot look into it.
has_no_rights() {
    [[ $(state Name) = virt-seed-maker && $(state Seccomp) = 2 && $(state NoNewPrivs) = 1 ]]
    [[ $(state CapEff) = 0000000000000000 && $(state CapPrm) = 0000000000000000 ]]
    if [[ $EUID -ne 0 ]]; then
        run ! ls "/proc/$maker/fd"
        return
    fi
    run ! grep -w 0 < <(state Uid && state Gid && state Groups)
    [[ $(find "/proc/$maker/fd" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ') = '0 1 2 3 4 5 ' ]]
    [[ $(readlink "/proc/$maker/fd"/{0,1,2} | sort -u) = /dev/null ]]
    [[ $(readlink "/proc/$maker/fd/3") = "$1"* && $(readlink "/proc/$maker/fd/5") = "$2"* ]]
    [[ $(readlink "/proc/$maker/fd/4") = socket:* ]]
    [[ $(tr '\0' '\n' <"/proc/$maker/environ") = $'LC_ALL=C\nTZ=UTC' ]]
}

# has_ended PROCESS: it has, whether or not somebody has asked for its status.
has_ended() {
    [[ ! -e /proc/$1 ]] || grep -q '^State:.Z' "/proc/$1/status"
}

# nothing_new: of the domain, on the host.
nothing_new() {
    find "$root" -name "*$uuid*" -newer before >new
    [[ ! -s new ]] || { cat new && return 1; }
}

# refused: the start was, and says how the maker ended, in two lines; nothing is left.
refused() {
    local -a said

    mapfile -t said <err
    if [[ $status -ne 1 || -s out || ${#said[@]} -ne 2 || ${said[1]} != 'virt-seed: hint: '* ||
        ${said[0]} != "virt-seed: error: domain 'web1': the process that reads what the domain asks for $1"* ]]; then
        echo "status $status, standard error:"
        cat err
        return 1
    fi
    nothing_new
}

# refuses_each CALL WHAT HOW: each such call of a maker goes wrong in turn, and the start is refused with HOW; sets
# $count.
refuses_each() {
    for ((count = 0; count < 1000; count += ${VIRT_SEED_FAULT_STEP:-1})); do
        status=0
        "$fault" "$1" $((count + 1)) "$2" hook-in-root --root="$root" web1 prepare begin - <wired.xml >out 2>err ||
            status=$?
        [[ $status -ne 99 ]] || break
        refused "$3" || { echo "$1 $((count + 1))" && return 1; }
    done
    # The last start made a seed.
    rm -r "${root:?}"
    make_root
}

@test "the maker of a seed has no rights before it reads the XML, nor when it reads back its image" {
    local call

    # The greeting; the XML; the image.
    for call in 'confined:read 1' 'confined:read 3' 'confined:pread 1'; do
        # shellcheck disable=SC2086  # a call and its number
        stop_at $call
        has_no_rights /memfd: /memfd:
        go_on
        [[ $status -eq 0 && -e $seeds/$uuid.iso ]]
    done
}

@test "the makers that read a record or a guest's report have no rights" {
    wired_xml >until.xml
    lifecycle until.xml prepare
    virt-seed --quiet --root="$root" 'done' until.xml
    stop_at confined:read 1 until.xml started
    # There is no XML, and no image.
    has_no_rights /dev/null /dev/null
    go_on
    [[ $status -eq 0 ]]
    echo 'virt-seed begin' >"$root$reportdir/$uuid.report"
    stop_at confined:read 1 until.xml release
    has_no_rights /dev/null /dev/null
    # Before anything that the guest has written is read, its seed is gone.
    [[ ! -e $seeds/$uuid.iso ]]
    go_on
    [[ $status -eq 0 ]]
}

@test "a start whose maker is killed is refused, and leaves nothing" {
    local call
    local -i number

    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' |
        sed 's/<ci:cloud-init /&ssh-host-keys="generate" /' >key.xml
    for call in child:execveat confined:read confined:pread confined:write confined:mmap; do
        for number in 1 2 3; do
            stop_at "$call" "$number" key.xml || break
            kill -9 "$maker"
            go_on
            # Between the two writes of a message, it is cut off.
            if [[ $call = *write ]]; then refused ''; else refused 'was ended by signal 9'; fi
        done
        [[ $number -gt 1 ]] || { echo "no $call" && return 1; }
        rm -r "${root:?}"
        make_root
    done
}

@test "a maker that is killed at any of its calls leaves the start refused" {
    local -i count

    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' |
        sed 's/<ci:cloud-init /&ssh-host-keys="generate" /' >key.xml
    mv key.xml wired.xml
    refuses_each child:all kill ''
    [[ $count -gt 50 ]]
}

@test "a maker whose end cannot be waited for is refused, not waited for without end" {
    local -i count

    refuses_each own:wait4 EMFILE 'could not be waited for'
    [[ $count -gt 0 ]]
}

# A maker with rights would be worse than none.
@test "a maker that cannot give up its rights does not run" {
    local call
    local -i count

    for call in close_range dup2,dup3 prctl prlimit64 setgroups setresgid setresuid execveat; do
        [[ $EUID -eq 0 || $call != set* ]] || continue
        refuses_each "child:$call" EPERM 'ended with status 1'
        [[ $count -gt 0 ]] || { echo "no $call" && return 1; }
    done
}

@test "the maker ends with the program that has started it" {
    stop_at confined:pread 1
    kill -9 "$program"
    wait_until 10 has_ended "$maker"
    go_on
    [[ $status -eq 137 ]]
    nothing_new
}

@test "no maker leaves a core file" {
    ulimit -c unlimited || skip 'cores are forbidden here'
    stop_at confined:read 2
    kill -SEGV "$maker"
    go_on
    refused 'was ended by signal 11'
    run ! compgen -G 'core*'
}

@test "what a command says while a domain starts is kept" {
    lifecycle wired.xml prepare
    virt-seed --quiet --root="$root" 'done' wired.xml
    lifecycle wired.xml started
    jq -e '.done and .boot.documents' "$root$statedir/$uuid.json"
    [[ ! -e $root$statedir/$uuid.next ]]
}
