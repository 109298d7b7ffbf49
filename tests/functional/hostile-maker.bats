#!/usr/bin/env bats
# bats file_tags=native
# hostile-maker.bats: a maker that was taken over, against whole starts. hostile-maker.c plays it; the hook
# refuses what it may not say, and nothing that belongs to others changes or is told.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own
# shellcheck disable=SC2030,SC2031  # each test is a subshell, and has its own variables

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=../hostile/hostile.bash
source "$BATS_TEST_DIRNAME/../hostile/hostile.bash"

maker=$top_builddir/tests/functional/hostile-maker
marker=of-other-domains # in everything that belongs to them, or to the host alone

# The hook finds its maker next to itself.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    cp "$top_builddir/hook-in-root" bin
    cp "$maker" bin/virt-seed-maker
    mkfifo bin/fifo
    domain_xml >unwired.xml
    wired_xml >wired.xml
    virt-seed --quiet build -o bin/other.iso wired.xml
    template=$(<wired.xml)
    make_root
    make_host
    make_others
    others >others.before
    "$maker" list >rows
}

# make_host: what the domain may have of it, and links that lead to what it may not have.
make_host() {
    local files=$root$confdir/files secrets=$root$confdir/secrets

    mkdir -p "$files/site" "$root/etc"
    printf '#cloud-config\n# content of base.yaml\n' >"$files/base.yaml"
    ln -s /etc/shadow "$files/out"
    ln -s .. "$files/above"
    mkfifo "$files/fifo"
    make_secret web1 userdata $'#cloud-config\n# content of web1\n'
    ln -s ../other/userdata "$secrets/web1/out"
    make_secret other userdata "$marker"
    make_secret other allow 'other*'
    ln -s other "$secrets/linked"
    (umask 077 && echo "root:$marker" >"$root/etc/shadow")
}

# make_others: everything that virt-seed keeps of another domain.
make_others() {
    local file

    install -d -m 0711 "$root$rundir" "$root$statedir" "$root$reportdir"
    install -d -m 0750 "$root$rundir/imds" "$root$rundir/imds/$other_uuid"
    for file in "$rundir/$other_uuid".{iso,iso.made,shim,resumed} "$rundir/imds/$other_uuid"/{access,user-data} \
        "$reportdir/$other_uuid.report" "$statedir/$other_uuid".{json,next,ssh_host_ed25519_key.pub}; do
        echo "$marker" >"$root$file"
    done
    make_password password "\$6\$$marker" "$other_uuid"
    make_password ssh_host_ed25519_key "$marker" "$other_uuid"
}

# others: what is there of others, with modes and owners.
others() {
    tar -C "$root" --sort=name --mtime=@0 --exclude="*$uuid*" --exclude='resume:*' -c . | sha256sum
}

# own: what is there of the domain.
own() {
    find "$root" -name "*$uuid*" -printf '%f\n' -o -name 'resume:*' -printf '%f\n'
}

# each_row KIND FUNCTION [WHAT]: calls it with $number, $outcome, $told and $what of each such row. Of the messages,
# which the unit tests go through, too, $VIRT_SEED_FAULT_STEP takes every so many, others on each day.
each_row() {
    local wanted=$1 function=$2 one=${3-} number kind outcome told what step=1 day

    day=$(($(date +%s) / 86400))
    if [[ $wanted = message && -z $one ]]; then
        step=${VIRT_SEED_FAULT_STEP:-1}
    fi
    rows=0
    while IFS=$'\t' read -r number kind outcome told what; do
        [[ $kind = "$wanted" && (-z $one || $what = "$one") ]] || continue
        ((number % step == day % step)) || continue
        point="row $number, $what"
        "$function"
        rows=$((rows + 1))
    done <rows
    point=
    [[ $rows -gt 0 ]]
}

# run_row OPERATION [TEMPLATE]: the hook with that row's maker; sets $status, and $left to how many processes were.
run_row() {
    local text=${2-$template}

    printf '%s\n' "${text/<name>web1</<name>row-$number<}" >row.xml
    attempt "$maker" watch left bin/hook-in-root --root="$root" "row-$number" "$1" begin - <row.xml 3>&-
    left=$(<left)
}

# nobody_is_left: no process of a maker, and none that the hook has not waited for. A child of a maker may have gone on
# for a moment; and a maker that is late ends with the hook.
nobody_is_left() {
    case $what in
    *mapping | *'grows after its end' | *'keeps the socket' | 'it does not end') [[ $left = [012] ]] ;;
    *) [[ $left = 0 ]] ;;
    esac || complain "processes that were left: $left"
}

others_are_as_before() {
    local -a files

    others | cmp - others.before || complain 'something of others has changed'
    mapfile -t files < <(find "$root" -name "*$uuid*")
    ! grep -raq "$marker" out err "${files[@]}" || complain 'it was told a secret'
}

# nothing_of_it [NAME]: is there but that.
nothing_of_it() {
    [[ $(own) = "${1-}" ]] || complain "left over: $(own)"
}

# forget: releases the domain, after which only its host key is left, and removes that.
forget() {
    run_row release
    succeeded
    nobody_is_left
    ! own | grep -qv -e "^$uuid$" -e "^$uuid.ssh_host_ed25519_key.pub$" || complain "left over: $(own)"
    rm -rf "$root$statedir/secrets/$uuid" "$root$statedir/$uuid.ssh_host_ed25519_key.pub"
}

# has_told: what the row expects of what it was told, which is its record now.
has_told() {
    [[ $told = - ]] || grep -aq "$told" "$root$statedir/$uuid.next" || complain "it was not told: $told"
}

# image_is_one: no more was published than an image may have.
image_is_one() {
    local size

    [[ -e $root$rundir/$uuid.iso ]] || return 0
    size=$(stat -c %s "$root$rundir/$uuid.iso")
    [[ $size -gt 0 && $size -le $((64 << 20)) && $((size % 2048)) -eq 0 ]] || complain "an image of $size bytes"
}

# came_out [RESUMED]: as the row says; RESUMED is the file that says that the domain was resumed.
came_out() {
    case $outcome in
    refused)
        refused
        nothing_of_it "$@"
        ;;
    late)
        refused 'the hook took more than 20 seconds'
        nothing_of_it "$@"
        ;;
    starts)
        succeeded
        has_told
        ;;
    either) succeeded_or_refused ;;
    esac
    nobody_is_left
    image_is_one
    others_are_as_before
}

start_row() {
    [[ $outcome != late ]] || return 0
    run_row prepare
    came_out
    forget
    nothing_of_it
}

resume_row() {
    [[ $outcome != late ]] || return 0
    run_row restore
    succeeded
    run_row prepare
    # A resumed guest gets no new key.
    [[ $what != 'the longest keys' ]] || outcome=refused
    came_out "$uuid.resumed"
    forget
    nothing_of_it
}

@test "a start whose maker was taken over is refused, or is one that the domain may have" {
    each_row start start_row
    each_row message start_row
}

@test "a resumed start whose maker was taken over is refused, or is one that the domain may have" {
    each_row start resume_row
    each_row message resume_row 'the longest keys'
    each_row message resume_row 'as many documents as allowed'
}

@test "an image is as its maker left it at its end" {
    local round

    for round in {1..10}; do
        each_row start start_row 'an image that grows after its end'
    done
}

# in_its_own_directory: the row is played while others are.
in_its_own_directory() {
    mkdir "late-$number"
    ln -s ../bin "late-$number/bin"
    (
        cd "late-$number" || exit
        run_row prepare
        cp ../others.before .
        came_out
        touch well
    ) 3>&- &
    pids+=($!)
}

@test "a start whose maker does not end is refused after 20 seconds" {
    local pids=() pid

    each_row start in_its_own_directory 'it does not end'
    each_row start in_its_own_directory 'its child keeps the socket'
    for pid in "${pids[@]}"; do
        wait "$pid"
    done
    [[ $(compgen -G 'late-*/well' | wc -l) -eq 2 ]]
    number=0
    what=
    forget
    nothing_of_it
}

@test "a start whose maker does not listen to a long hello is refused" {
    mute_row() {
        mkdir -p "$root$statedir"
        head -c 2000000 /dev/zero | tr '\0' ' ' >"$root$statedir/$uuid.json"
        run_row prepare
        if [[ $outcome = starts ]]; then
            succeeded
        else
            refused
        fi
        nobody_is_left
        nothing_of_it "$uuid.json"
        others_are_as_before
    }

    each_row start mute_row 'it does not listen'
    each_row start mute_row 'it says nothing'
    each_row start mute_row 'it dies at once'
    each_row start mute_row 'it finds nothing'
}

# --- records ------------------------------------------------------------------------------------

# put_record: the domain's record has the row.
put_record() {
    printf '{"row": "row-%s"}\n' "$number" | tee record.before >"$root$statedir/$uuid.json"
}

# record_is_as_said: as before unless the row says otherwise.
record_is_as_said() {
    case $outcome in
    same) cmp "$root$statedir/$uuid.json" record.before || complain 'the record has changed' ;;
    changed) ! cmp -s "$root$statedir/$uuid.json" record.before || complain 'the record is the same' ;;
    esac
}

release_row() {
    put_record
    echo report >"$root$reportdir/$uuid.report"
    echo seed >"$root$rundir/$uuid.iso"
    run_row release
    succeeded
    nobody_is_left
    record_is_as_said
    nothing_of_it "$uuid.json"
    others_are_as_before
}

merge_row() {
    put_record
    echo '{"next": "of the start"}' >"$root$statedir/$uuid.next"
    touch -d 2000-01-01 "$root$statedir/$uuid.next"
    run_row started "$(<unwired.xml)"
    succeeded
    nobody_is_left
    record_is_as_said
    nothing_of_it "$uuid.json"
    others_are_as_before
}

@test "a release whose maker was taken over removes the seed, and leaves the record as it was" {
    each_row record release_row
}

@test "a guest starts although its record's maker was taken over, and the record stays as it was" {
    each_row record merge_row
}

# --- a kill ---------------------------------------------------------------------------------------

# Either the hook or the maker is killed instead of a call; fault counts the calls of both.
@test "whichever program of a start is killed, at any system call, nothing is left after the release" {
    local killed=0 maker_killed=0 left what='' number=0

    "$fault" fcntl 1 stop true || [[ $? -ne 77 ]] || skip 'no process may be traced here'
    wired_xml '<ci:user-data secret="web1"/><ci:vendor-data file="base.yaml"/>' >wired.xml
    begin() {
        nothing_of_it
    }
    outcome() {
        case $status in
        137) killed=$((killed + 1)) ;;
        1)
            refused 'the process that reads what the domain asks for'
            nothing_of_it
            maker_killed=$((maker_killed + 1))
            ;;
        *) succeeded ;;
        esac
        others_are_as_before
        attempt hook-in-root --root="$root" web1 release begin - <wired.xml
        succeeded
        nothing_of_it
        others_are_as_before
    }
    program=(hook-in-root --root="$root")
    each_fault all kill wired.xml
    echo "$points calls: the hook was killed at $killed of them, its maker at $maker_killed"
    [[ $killed -gt 0 ]]
    # The next start works.
    attempt hook-in-root --root="$root" web1 prepare begin - <wired.xml
    succeeded
    [[ -e $root$rundir/$uuid.iso ]]
}
