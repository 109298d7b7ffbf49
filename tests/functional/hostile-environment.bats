#!/usr/bin/env bats
# bats file_tags=native
# hostile-environment.bats: a host that fails: descriptors, limits, a full disk, each system call in
# turn, a process killed at any moment, and others that do the same at the same time.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own
# shellcheck disable=SC2030,SC2031  # each test is a subshell, and has its own variables

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=../hostile/hostile.bash
source "$BATS_TEST_DIRNAME/../hostile/hostile.bash"

# large.xml is a domain whose seed, large.iso, needs several writes; old.iso is the seed of another
# request of the same domain.
setup() {
    hostile_setup
    {
        printf '<ci:user-data>#!/bin/sh\n'
        head -c 300000 /dev/zero | tr '\0' '#'
        printf '</ci:user-data>'
    } >request
    wired_xml "$(<request)" >large.xml
    virt-seed --quiet build -o large.iso large.xml
    wired_xml '<ci:hostname>old</ci:hostname>' >old.xml
    virt-seed --quiet build -o old.iso old.xml
}

prepare() {
    hook-in-root --root="$root" web1 prepare begin - <"${1-wired.xml}"
}

# an_old_seed: left over from an earlier start, for example by a crash of the host.
an_old_seed() {
    (umask 022 && mkdir -p "$seeds")
    cp old.iso "$seed"
}

begin() {
    an_old_seed
}

# only_a_seed: the run-time directory contains the seed, and its name until the guest has started, nothing else.
only_a_seed() {
    local -a found

    mapfile -t found < <(compgen -G "$seeds/*" | grep -vx "$seed.made")

    [[ ${#found[@]} -eq 1 && ${found[0]} = "$seed" ]] || complain "found: ${found[*]}"
}

# --- descriptors ------------------------------------------------------------------------------

@test "works with closed descriptors, in every combination" {
    local closed

    for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
        # shellcheck disable=SC2016  # the words are the inner shell's
        attempt bash -c 'hook-in-root --root="$1" web1 prepare begin - '"$closed" bash "$root" <wired.xml
        point=$closed
        succeeded
        if [[ $closed == *'<&-'* ]]; then
            # No input is no domain of virt-seed.
            nothing_is_left
        else
            whole
            released
        fi
    done
}

@test "refuses standard input that is a directory or closed" {
    attempt lifecycle prepare .
    refused
    attempt hook-in-root --root="$root" web1 prepare begin - 0>write-only
    refused
    nothing_is_left
}

@test "the alarm ends a wait for standard input with two lines" {
    local pid

    mkfifo fifo
    exec 9<>fifo
    hook-in-root --root="$root" web1 prepare begin - <fifo >out 2>err 9>&- &
    pid=$!
    wait_for_alarm "$pid"
    kill -ALRM "$pid"
    exec 9>&-
    status=0
    wait "$pid" || status=$?
    refused '20 seconds'
    nothing_is_left
}

@test "a start gives up after 20 seconds, whatever it waits for" {
    mkfifo fifo
    exec 9<>fifo
    attempt timeout 120 hook-in-root --root="$root" web1 prepare begin - <fifo 9>&-
    exec 9>&-
    refused '20 seconds'
    nothing_is_left
}

@test "works if nobody reads standard output and error" {
    attempt bash -o pipefail -c '"$@" 2>&1 >/dev/full <wired.xml | true' bash \
        hook-in-root --root="$root" web1 prepare begin -
    succeeded
    whole
    attempt bash -c '"$@" 2>/dev/full <wired.xml' bash \
        hook-in-root --root="$root" web1 prepare begin -
    succeeded
    attempt bash -c '"$@" 2>/dev/full < <(head -c 400 wired.xml)' bash \
        hook-in-root --root="$root" web1 prepare begin -
    [[ $status -eq 1 ]]
    whole
}

# --- limits -----------------------------------------------------------------------------------

# prepare_limited LIMIT FILE: attempts with that option of prlimit, which the maker inherits; the
# messages go through a pipe, which no limit on files' sizes can cut off.
prepare_limited() {
    {
        prlimit "$1" hook-in-root --root="$root" web1 prepare begin - <"$2" 2>&1 >&3 | cat >err
        status=${PIPESTATUS[0]}
    } 3>out
}

# not_begun: the dynamic linker or prlimit ended it before any of our code ran.
not_begun() {
    [[ $status -eq 127 || $status -eq 126 ]] || grep -q -e '^prlimit: ' -e 'shared libraries' err
}

@test "a small stack is enough, or the start is refused" {
    local size

    ! sanitized || skip 'AddressSanitizer needs a stack of its own'
    for size in 65536 131072 262144; do
        prepare_limited --stack="$size:$size" large.xml
        not_begun || succeeded_or_refused
        whole_or_none large.iso
        released
    done
}

# Running out of memory aborts; libraries may fail in their own way, and a stack that cannot grow ends
# with SIGSEGV.
@test "too little memory never leaves half a seed" {
    local -i size done=0

    ! sanitized || skip "AddressSanitizer's shadow needs the address space"
    for ((size = 40; size <= 120; size += 4)); do
        prepare_limited --as="${size}000000" large.xml
        if ! not_begun; then
            ended_or_killed 6 11
            done+=1
        fi
        whole_or_none large.iso
        released
    done
    [[ $done -gt 3 ]]
}

@test "every limit on descriptors is enough, or the start is refused" {
    local -i files made=0

    for files in {3..24}; do
        prepare_limited --nofile="$files" large.xml
        not_begun || succeeded_or_refused
        [[ $status -ne 0 ]] || made+=1
        whole_or_none large.iso
        released
    done
    [[ $made -gt 0 ]]
}

@test "a limit on file sizes is an error, not a signal" {
    local -i size

    for size in 0 1 2048 65536 131071 131072 131073 300000; do
        prepare_limited --fsize="$size" large.xml
        refused 'File too large'
        nothing_is_left
    done
}

@test "refuses the start if no process can be created" {
    use_program
    attempt "$fault" clone,clone3 1+ EAGAIN "${program[@]}" web1 prepare begin - <large.xml
    [[ $status -ne 77 ]] || skip 'processes cannot be traced here'
    refused
    nothing_is_left
    [[ $EUID -ne 0 ]] || skip 'RLIMIT_NPROC does not bind root'
    prepare_limited --nproc=1 large.xml
    refused
    nothing_is_left
}

# --- the run-time directory -------------------------------------------------------------------

@test "refuses the start if the run-time directory cannot be written" {
    needs_a_namespace
    mkdir -p "$seeds"
    # shellcheck disable=SC2016  # the words are the inner shell's
    attempt in_a_namespace bash -c '
        mount -t tmpfs -o ro,mode=0711 tmpfs "$1" || exit
        shift
        "$@" <wired.xml' bash "$seeds" hook-in-root --root="$root" web1 prepare begin -
    refused 'Read-only file system' 'df '
}

@test "a run-time directory of any size contains a whole seed or none" {
    needs_a_namespace
    mkdir -p "$seeds"
    # shellcheck disable=SC2016  # the words are the inner shell's
    in_a_namespace bash -c '
        set -eu
        source "$1"
        root=$2 seeds=$3 uuid=$4 seed=$3/$4.iso made=0
        for options in nr_inodes={1..3} size={4..84..4}k; do
            mount -t tmpfs -o "mode=0711,$options" tmpfs "$seeds"
            attempt lifecycle prepare
            succeeded_or_refused
            if [[ $status -eq 0 ]]; then
                made=$((made + 1))
                whole
            else
                nothing_is_left
            fi
            # There may be no room for a second seed next to the first.
            attempt lifecycle prepare old.xml
            succeeded_or_refused
            whole_or_none expected.iso old.iso
            released
            umount "$seeds"
        done
        [[ $made -gt 0 ]]
    ' bash "$BATS_TEST_DIRNAME/../hostile/hostile.bash" "$root" "$seeds" "$uuid"
}

# close_var: makes virt-seed's directories in /var read-only; in a namespace.
close_var() {
    local directory

    for directory in "$root$statedir" "$root$reportdir"; do
        mount --bind "$directory" "$directory"
        mount -o remount,bind,ro "$directory"
    done
}

# in_a_namespace_with_var COMMANDS: runs them in a shell that has this file's functions.
in_a_namespace_with_var() {
    needs_a_namespace
    mkdir -p "$root$statedir" "$root$reportdir"
    in_a_namespace bash -c "set -eu
        source \"\$0\"
        $(declare -f close_var)
        $(declare -p root seeds seed uuid statedir reportdir)
        $1" "$BATS_TEST_DIRNAME/../hostile/hostile.bash"
}

# What a domain needs there, its report and a generated host key, is missing before the guest starts.
@test "with a read-only /var a start is refused, or a domain that needs nothing there starts" {
    wired_xml | sed 's|<ci:cloud-init |&report="no" |' | virt-seed -q wire - >silent.xml
    wired_xml | sed 's|<ci:cloud-init |&report="no" ssh-host-keys="generate" |' | virt-seed -q wire - >key.xml
    # shellcheck disable=SC2016  # the words are the inner shell's
    in_a_namespace_with_var '
        close_var
        attempt lifecycle prepare
        refused "$reportdir/$uuid.report: Read-only file system"
        nothing_is_left
        attempt lifecycle prepare key.xml
        refused "$statedir/secrets: Read-only file system"
        nothing_is_left
        attempt lifecycle prepare silent.xml
        succeeded
        virt-seed inspect "$seed"
        attempt lifecycle started silent.xml
        [[ $status -eq 0 && ! -s out ]]
        released silent.xml'
}

@test "if /var becomes read-only while a guest runs, its seed is removed all the same" {
    # shellcheck disable=SC2016  # the words are the inner shell's
    in_a_namespace_with_var '
        attempt lifecycle prepare
        succeeded
        close_var
        attempt lifecycle started
        [[ $status -eq 0 && ! -s out ]]
        whole
        attempt lifecycle release
        refused "$uuid.report: Read-only file system"
        nothing_is_left
        umount "$root$statedir" "$root$reportdir"
        released
        [[ ! -e $root$reportdir/$uuid.report ]]'
}

# --- the process's environment ----------------------------------------------------------------

@test "the seed and its mode do not depend on the environment" {
    local change
    # Each changes something for "$@", the program.
    local -a changes=('umask 0777' 'umask 0' 'set -- env TZ=:/nowhere "$@"'
        'set -- env "TZ=<-12>+12:59" "$@"' 'set -- env LC_ALL=tr_TR.UTF-8 "$@"'
        'set -- env LC_ALL=no-such-locale "$@"' 'set -- env LC_ALL=C "$@"' 'unset HOME'
        'export HOME=/nowhere' 'export XML_CATALOG_FILES=/dev/zero' 'export TMPDIR=/nowhere'
        'export POSIXLY_CORRECT=1' 'mkdir gone; cd gone; rmdir ../gone' 'ulimit -c unlimited'
        'trap "" HUP INT PIPE TERM XFSZ CHLD ALRM')

    for change in "${changes[@]}"; do
        point=$change
        attempt bash -c "$change; exec \"\$@\"" bash "$(type -P hook-in-root)" \
            --root="$root" web1 prepare begin - <wired.xml
        succeeded
        whole
        [[ $(stat -c %a "$seed" "$seeds") = $'400\n711' ]] || complain 'modes'
        rm -r "${seeds:?}"
    done
    point=
    attempt env -i "$(type -P hook-in-root)" --root="$root" web1 prepare begin - <wired.xml
    succeeded
    whole
    attempt env -i "$(type -P hook-in-root)" --root="$root" <wired.xml
    [[ $status -eq 2 ]]
}

# --- each system call in turn ----------------------------------------------------------------

# new_or_refused IMAGE: the new seed, or a refusal that leaves the old one alone.
new_or_refused() {
    succeeded_or_refused
    only_a_seed
    if [[ $status -eq 0 ]]; then
        whole "$1"
    else
        whole old.iso
    fi
}

# A guest does not need its record, which is the last that is written but for the seed.
@test "a failing write of the seed refuses the start and leaves the old one" {
    local error

    use_program
    outcome() { new_or_refused large.iso; }
    for error in ENOSPC EIO EDQUOT; do
        each_fault write "$error" large.xml
        [[ $points -ge 3 ]]
    done
}

@test "continues reads and writes that are interrupted or short" {
    local what

    use_program
    outcome() { succeeded; new_or_refused large.iso; }
    for what in EINTR short; do
        each_fault write "$what" large.xml
        [[ $points -ge 3 ]]
        each_fault own:read "$what" large.xml
        [[ $points -ge 2 ]]
        ! has_sandbox || each_fault confined:read,pread "$what" large.xml
    done
    attempt "$fault" read,write 1+ short "${program[@]}" web1 prepare begin - <large.xml
    outcome
}

@test "any other failing call either refuses the start or leaves a whole seed" {
    local calls error

    use_program
    outcome() { new_or_refused expected.iso; }
    while read -r calls error; do
        each_fault "$calls" "$error" wired.xml
        [[ $points -ge 1 ]] || complain "$calls is not called"
    done <<'END'
openat,openat2 EMFILE
openat2 EINTR
read EIO
fstat EIO
fchown EPERM
renameat ENOSPC
flock EINTR
memfd_create EMFILE
memfd_create ENOMEM
socketpair EMFILE
fcntl,dup2,dup3 EMFILE
lseek EIO
execveat ENOENT
execveat EACCES
wait4 EINTR
END
}

@test "a directory that cannot be made either refuses the start or leaves a whole seed" {
    use_program
    begin() { an_old_seed; rm -rf "${root:?}$statedir" "${root:?}$reportdir"; }
    outcome() { new_or_refused expected.iso; }
    each_fault mkdirat EROFS wired.xml
    [[ $points -ge 2 ]] || complain 'mkdirat is not called'
}

@test "if every call fails from some point on, no half a seed is left" {
    local -i n
    local calls

    use_program
    for calls in openat,openat2 write,renameat,unlinkat mkdirat,unlinkat,fchown; do
        for n in {1..8}; do
            an_old_seed
            attempt "$fault" "$calls" "$n+" EIO "${program[@]}" web1 prepare begin - <large.xml
            [[ $status -ne 99 ]] || break
            # The message itself is written, too.
            [[ $status -le 1 && ! -s out ]] || complain "$calls $n+"
            whole_or_none old.iso large.iso
            released
        done
    done
}

# Out of memory aborts.
@test "a failing allocation never leaves half a seed" {
    ! sanitized || skip "AddressSanitizer's own calls would fail"
    use_program
    outcome() {
        ended_or_killed 6
        whole_or_none old.iso large.iso
        released
    }
    each_fault mmap ENOMEM large.xml
    [[ $points -ge 1 ]]
}

@test "a failing release prints the failure, and the next release cleans up" {
    local calls error

    use_program
    operation=release
    outcome() {
        succeeded_or_refused
        [[ $status -ne 0 ]] || nothing_is_left
        released
    }
    begin() {
        an_old_seed
        touch "$seeds/$uuid.iso.new.01234567" "$seeds/$uuid.resumed"
    }
    while read -r calls error; do
        each_fault "$calls" "$error" wired.xml
        [[ $points -ge 1 ]] || complain "$calls is not called"
    done <<'END'
unlinkat EROFS
unlinkat EIO
getdents64 EIO
openat,openat2 EMFILE
fstat EIO
END
}

# --- the end at any moment --------------------------------------------------------------------

# killed SIGNAL: either the old seed or the new one is there; release removes everything else. If only the
# maker was killed, the hook refuses the start.
killed() {
    if [[ $status -eq 1 ]]; then
        refused
        whole old.iso
    else
        [[ $status -eq $((128 + $1)) ]] || complain 'it was not killed'
        [[ ! -s out && ! -s err ]]
    fi
    whole_or_none old.iso expected.iso
    [[ -e $seed ]] || complain 'the old seed is gone'
    released
}

@test "being killed at any system call leaves the old seed or the new one" {
    use_program
    outcome() { killed 9; }
    if sanitized; then
        each_fault openat,openat2,write,pread,fchown,renameat,close,mmap kill wired.xml
    else
        each_fault all kill wired.xml
    fi
    [[ $points -ge 50 ]]
}

@test "being terminated at any file operation leaves the old seed or the new one" {
    use_program
    outcome() { killed 15; }
    each_fault openat,write,pread,fchown,renameat,unlinkat term wired.xml
    [[ $points -ge 10 ]]
}

@test "a release killed at any file operation is completed by the next one" {
    use_program
    operation=release
    outcome() {
        whole_or_none old.iso
        released
    }
    each_fault openat,mkdirat,getdents64,unlinkat,close kill wired.xml
    [[ $points -ge 4 ]]
}

# unfinished: prints the files that a killed process has left half-written.
unfinished() {
    find "$root" -name '*.new*'
}

@test "what a killed start leaves unfinished is gone after the next start" {
    use_program
    wired_xml '' 'ssh-host-keys="generate"' >generate.xml
    begin() { rm -rf "${root:?}/var/lib/virt-seed" "${root:?}/var/log/libvirt/virt-seed"; }
    outcome() {
        attempt lifecycle prepare generate.xml
        succeeded
        attempt lifecycle started generate.xml
        succeeded
        [[ -z $(unfinished) ]] || complain "left over: $(unfinished)"
    }
    each_fault openat,write,fchown,fchmod,linkat,renameat,unlinkat,close kill generate.xml
    [[ $points -ge 20 ]]
}

@test "what a kill at started or release leaves unfinished is gone after the next start" {
    use_program
    wired_xml '' 'ssh-host-keys="generate"' >generate.xml
    begin() {
        attempt lifecycle prepare generate.xml
        succeeded
    }
    outcome() {
        attempt lifecycle release generate.xml
        begin
        attempt lifecycle started generate.xml
        succeeded
        [[ -z $(unfinished) ]] || complain "left over: $(unfinished)"
    }
    for operation in started release; do
        each_fault openat,write,fchown,renameat,unlinkat,close kill generate.xml
        [[ $points -ge 5 ]]
    done
}

# The guest runs by then, and would be killed.
@test "no failing call at started ends a guest" {
    local calls error

    use_program
    operation=started
    begin() { attempt lifecycle prepare; succeeded; }
    outcome() {
        [[ $status -eq 0 && ! -s out ]] || complain 'expected success'
        whole
    }
    while read -r calls error; do
        each_fault "$calls" "$error" wired.xml
        [[ $points -ge 1 ]] || complain "$calls is not called"
    done <<'END'
openat,openat2 EACCES
openat,openat2 EMFILE
read EIO
renameat EROFS
unlinkat EROFS
END
    attempt lifecycle release
    succeeded
    nothing_is_left
}

# --- at the same time -------------------------------------------------------------------------

# together COMMAND...: each argument is a shell's command; $ends are their exit statuses, the files
# err.0, err.1 and so on are what they printed on standard error.
together() {
    local -a children=()
    local command
    local -i i=0

    ends=()
    for command; do
        eval "$command" >out.$i 2>err.$i &
        children+=($!)
        i+=1
    done
    for ((i = 0; i < $#; i++)); do
        ends[i]=0
        wait "${children[i]}" || ends[i]=$?
        mv "out.$i" out
        mv "err.$i" err
        status=${ends[i]}
        succeeded_or_refused
    done
}

@test "two simultaneous starts of a domain both get the seed" {
    for _ in {1..20}; do
        together prepare prepare
        [[ ${ends[*]} = '0 0' ]]
        only_a_seed
        whole
        rm "$seed"
    done
    released
}

@test "two different requests of a domain at once leave one of the two seeds, whole" {
    for _ in {1..20}; do
        together 'prepare large.xml' 'prepare old.xml'
        [[ ${ends[*]} = '0 0' ]]
        only_a_seed
        whole large.iso old.iso
    done
    released
}

@test "a start and the end of a domain at once leave a whole seed or none" {
    for _ in {1..20}; do
        together 'prepare large.xml' 'lifecycle release'
        [[ ${ends[1]} -eq 0 ]]
        whole_or_none large.iso
        released
    done
}

# at_once OPERATION: runs it for every domain, many at a time.
at_once() {
    # shellcheck disable=SC2016  # the words are the inner shell's
    xargs -P 50 -n 1 sh -c 'exec hook-in-root --root="$1" web1 "$2" begin - <"$3.xml"' \
        sh "$root" "$1" <uuids >out 2>err
    status=0
    succeeded
}

@test "many simultaneous starts each get a whole seed" {
    local -i count=1000
    local one xml

    ((count /= ${VIRT_SEED_FAULT_STEP:-1}))
    ! sanitized || count=30
    seq -f "%08.0f${uuid:8}" "$count" >uuids
    xml=$(<wired.xml)
    while read -r one; do
        printf '%s\n' "${xml//"$uuid"/"$one"}" >"$one.xml"
    done <uuids
    at_once prepare
    [[ $(find "$seeds" -type f | wc -l) -eq $((2 * count)) ]]
    # The seeds differ only in the UUID, so they have the same size.
    (cd "$seeds" && grep -aoE "[0-9]{8}${uuid:8}" ./*.iso) | sort -u >found
    diff found <(sed 's|.*|./&.iso:&|' uuids)
    sed -i -E "s/[0-9]{8}${uuid:8}/$uuid/g" "$seeds"/*.iso
    [[ $(sha256sum expected.iso "$seeds"/*.iso | cut -d ' ' -f 1 | sort -u | wc -l) -eq 1 ]]
    at_once release
    nothing_is_left
}
