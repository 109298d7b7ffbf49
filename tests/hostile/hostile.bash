# shellcheck shell=bats disable=SC2034,SC2154  # variables for those that source this, and of bats
# hostile.bash: what must hold after each hostile event, whatever the event was.
#
# The run-time directory contains a complete seed or none; never a part of one under the seed's name. A
# program that failed said so in two lines, or was killed. Standard output stays empty: libvirt would take it
# for the domain's XML.

fault=$top_builddir/tests/hostile/fault # which `make check` makes
# LeakSanitizer does not work in a traced process; the other sanitizers do.
export ASAN_OPTIONS=detect_leaks=0

# hostile_setup: $seeds is the run-time directory below $root, wired.xml a domain and expected.iso
# its seed.
hostile_setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    seed=$seeds/$uuid.iso
    wired_xml >wired.xml
    virt-seed --quiet build --force -o expected.iso wired.xml
    virt-seed inspect expected.iso >/dev/null
}

# in_a_namespace COMMAND...: runs it in a mount namespace in which it has root's capabilities.
in_a_namespace() {
    unshare --user --map-root-user --mount "$@"
}

needs_a_namespace() {
    in_a_namespace true 2>/dev/null || skip 'user namespaces are not allowed here'
}

# Each attempt is the hook at one operation of wired.xml, or what its arguments say;
# $status is how it ended, the files out and err are what it printed.
attempt() {
    status=0
    "$@" >out 2>err || status=$?
}

lifecycle() {
    hook-in-root --root="$root" web1 "$1" begin - <"${2-wired.xml}"
}

# complain WHAT: says what is wrong with the last attempt; $point, if it is set, says with which one.
complain() {
    printf '%s%s; status %s, standard error:\n' "${point:+$point: }" "$*" "$status"
    head -c 2000 err
    return 1
}

# succeeded: the last attempt succeeded and printed nothing.
succeeded() {
    [[ $status -eq 0 ]] || complain 'expected success' || return
    [[ ! -s out ]] || complain 'something is on standard output' || return
    [[ ! -s err ]] || complain 'something is on standard error' || return
}

# refused [PATTERN...]: the last attempt failed, and said so in two bounded lines of text that a
# terminal can show. U+0080 to U+009F are control characters as well; others are invisible, or reverse the
# text after them.
refused() {
    local -a said
    local pattern

    [[ $status -eq 1 ]] || complain 'expected a refusal' || return
    [[ ! -s out ]] || complain 'something is on standard output' || return
    mapfile -t said <err
    [[ ${#said[@]} -eq 2 && ${said[0]} == 'virt-seed: error: '?* &&
        ${said[1]} == 'virt-seed: hint: '?* ]] || complain 'expected error: and hint:' || return
    [[ ${#said[0]} -le 8192 && ${#said[1]} -le 8192 ]] ||
        complain 'the message has no bounds' || return
    [[ ${said[*]} != *[$'\x01'-$'\x08'$'\x0b'-$'\x1f'$'\x7f'$'\u0080'-$'\u009f']* ]] ||
        complain 'there are control characters in the message' || return
    [[ ${said[*]} != *[$'\u061c'$'\u200b'-$'\u200f'$'\u2028'-$'\u202e'$'\u2060'-$'\u206f'$'\ufeff'$'\U000e0000'-$'\U000e007f']* ]] ||
        complain 'there are invisible characters in the message' || return
    for pattern; do
        [[ ${said[*]} == *"$pattern"* ]] || complain "expected '$pattern'" || return
    done
}

# succeeded_or_refused, ended_or_killed SIGNAL...: both outcomes are allowed.
succeeded_or_refused() {
    if [[ $status -eq 0 ]]; then
        succeeded
    else
        refused
    fi
}

ended_or_killed() {
    local signal

    for signal; do
        [[ $status -ne $((128 + signal)) ]] || return 0
    done
    succeeded_or_refused
}

# whole_or_none [IMAGE...]: under the domain's name there is one of the images, byte for byte (by
# default expected.iso), or nothing.
whole_or_none() {
    local image

    [[ -e $seed ]] || return 0
    for image in "${@-expected.iso}"; do
        ! cmp -s "$seed" "$image" || return 0
    done
    complain "a seed that is none of: ${*-expected.iso}"
}

# whole: the seed is there.
whole() {
    [[ -e $seed ]] || complain 'there is no seed' || return
    whole_or_none "$@"
}

# nothing_is_left: an attempt that failed has cleaned up after itself.
nothing_is_left() {
    ! compgen -G "$seeds/*" >left || complain "left over: $(<left)" || return
}

# released [FILE]: release removes everything of the domain, whatever happened before.
released() {
    attempt lifecycle release "$@"
    succeeded
    nothing_is_left
}

# each_fault CALLS WHAT FILE: calls the function `begin` before and `outcome` after each attempt in
# which one of the calls goes wrong: the first, the second, to the last that there is. $points is
# how many there were. With $VIRT_SEED_FAULT_STEP, after the first only every so many, others on each day.
each_fault() {
    local calls=$1 what=$2 file=$3
    local -i n step=${VIRT_SEED_FAULT_STEP:-1} day

    day=$(date +%s)/86400
    for ((n = 1; n < 1000; n += n == 1 ? 1 + day % step : step)); do
        point="$calls $n $what"
        begin
        attempt "$fault" "$calls" "$n" "$what" "${program[@]}" web1 "${operation-prepare}" begin - \
            <"$file"
        [[ $status -ne 77 ]] || skip 'processes cannot be traced here'
        [[ $status -ne 99 ]] || break
        outcome
    done
    point=
    points=$((n - 1))
}

use_program() {
    program=(hook-in-root --root="$root")
}
