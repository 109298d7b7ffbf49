#!/usr/bin/env bats
# bats file_tags=native
# sandbox.bats: how the maker is confined. What somebody who has taken it over would do ends it, and whatever
# domain it reads, its own work does not: all inputs of the golden tests and of the fuzz targets run to
# their end here, and those of hostile-input.bats do there.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

sandbox_plant=$top_builddir/tests/functional/sandbox-plant # which `make check` makes

setup() {
    has_sandbox || skip 'built without the sandbox'
    cd "$BATS_TEST_TMPDIR" || return
    echo canary >sandbox-canary
}

# Killed by SIGSYS.
killed=$((128 + 31))

# --- what is forbidden ------------------------------------------------------------------------

@test "whatever opens, starts, signals or changes something outside kills the maker" {
    local plant plants

    plants=$("$sandbox_plant" --list)
    for plant in openat openat2 socket connect execve clone-of-a-process kill mprotect-of-code ptrace \
        prlimit setrlimit unlinkat renameat2 fchmod ioctl open-in-a-thread; do
        grep -qx "$plant" <<<"$plants"
    done
    [[ $(uname -m) = s390x ]] || grep -qx mmap-of-code <<<"$plants"
    for plant in $plants; do
        run "$sandbox_plant" "$plant" 4<sandbox-canary 5<>image
        # A kernel may have no calls of i386 at all.
        [[ $plant != getpid-of-i386 || $status -ne $((128 + 11)) ]] || status=$killed
        [[ $status -eq $killed && -z $output ]] || { echo "$plant: $status: $output"; return 1; }
    done
    [[ $(<sandbox-canary) = canary && ! -e elsewhere ]]
}

@test "the calls of another architecture kill the maker" {
    [[ $(uname -m) = x86_64 ]] || skip 'only x86-64 has them'
    "$sandbox_plant" --list >plants
    grep -qx x32-open plants
    grep -qx getpid-of-i386 plants
}

@test "no system call is allowed but those that are needed" {
    run -0 "$sandbox_plant" calls
    [[ $output = end ]]
}

# --- what it may ------------------------------------------------------------------------------

# field NAME: of the process's status in /proc.
field() {
    sed -n "s/^$1:[[:space:]]*//p" "/proc/$process/status"
}

@test "has a filter, no way to new privileges and only the descriptors that it was given" {
    local process line

    # shellcheck disable=SC2094  # nobody reads or writes it
    coproc confined { exec "$sandbox_plant" status 3<sandbox-canary 4<sandbox-canary 5<>image 6<image 77<image; }
    # shellcheck disable=SC2154  # of coproc
    process=$confined_PID
    while read -r -t 60 line <&"${confined[0]}" && [[ $line != end ]]; do
        echo "$line"
    done >descriptors
    [[ $line = end ]]
    [[ $(field Seccomp) = 2 && $(field NoNewPrivs) = 1 ]]
    printf '%s\n' 0 1 2 3 4 5 | diff - descriptors
    grep -E '^Max (address space|file size|cpu time|open files|core file size) ' "/proc/$process/limits" |
        sed -E 's/ +[a-z]* *$//; s/  +/ /g' | sort >limits
    kill "$process"
    wait "$process" || :
    diff - limits <<'END'
Max address space 1073741824 1073741824
Max core file size 0 0
Max cpu time 20 20
Max file size 67108864 67108864
Max open files 16 16
END
}

@test "may have 256 MiB of memory, but not a GiB" {
    run -0 "$sandbox_plant" memory
    [[ $output = $'256 MiB\nno more' ]]
}

@test "may write an image, and nothing larger" {
    run -0 "$sandbox_plant" descriptors 5<>image
    [[ $output = end && $(stat -c %s image) -eq 67108864 ]]
}

@test "may start threads" {
    run -0 "$sandbox_plant" thread
    [[ $output = 'it ran' ]]
}

@test "ends by abort(3) if memory is full" {
    run "$sandbox_plant" abort
    [[ $status -eq $((128 + 6)) ]]
}

# --- its work ---------------------------------------------------------------------------------

# seeds [--report]: what the maker does with standard input, on the host with $root as its "/". Adds a line to
# the file "results".
seeds() {
    local said status=0

    said=$(maker-in-root --root="$root" "$@" 2>&1) || status=$?
    if [[ $status -ne 0 ]]; then
        echo "failed: status $status: $said"
        return 1
    fi
    printf '%s\n' "$said" >>"$BATS_TEST_TMPDIR/results"
}

# results WORD: how many began with it.
results() {
    grep -c "^$1" "$BATS_TEST_TMPDIR/results" || :
}

@test "makes seeds of many documents" {
    make_root
    {
        wired_xml | sed '/<metadata>/q'
        echo '<o:vm xmlns:o="http://ovirt.org/vm/1.0"><o:device devtype="disk"><o:payload>'
        echo '<o:volId>config-2</o:volId>'
        seq -f '<o:file path="d/f%.0f">eAo=</o:file>' 250
        echo '</o:payload></o:device></o:vm>'
        wired_xml | sed -n '/<\/metadata>/,$p'
    } >payload.xml
    seeds <payload.xml
    [[ $(results seed) -eq 1 ]]
}

# The host of a case is what golden.bats makes of it.
golden_seeds() {
    local directory file

    for directory in "$top_srcdir/tests/golden"/*/*/; do
        cd "$directory" || return
        make_case_root
        for file in *.xml; do
            if [[ -e $file ]] && ! to_build <"$file" | seeds; then
                echo "$directory$file"
                return 1
            fi
        done
        # What dump shows can be made. An unwired payload is VDSM's.
        if [[ $directory = */dump/ovirt-payload*/ ]]; then
            to_build <in.xml | virt-seed --quiet wire - | seeds
        fi
        if [[ $directory = */dump/*/ && $(tail -n 1 "$BATS_TEST_TMPDIR/results") != seed ]]; then
            echo "$directory: $(tail -n 1 "$BATS_TEST_TMPDIR/results")"
            return 1
        fi
    done
}

@test "reads each domain of the golden tests, and makes a seed of those that dump shows" {
    golden_seeds
    [[ $(results refused) -ge 100 && $(results seed) -ge 100 && $(results skipped) -eq 0 ]]
}

@test "makes a seed of each example" {
    local file

    make_host_of_examples
    for file in "$top_srcdir"/xml/examples/*.xml; do
        virt-seed --quiet wire - <"$file" | seeds || { echo "$file"; return 1; }
    done
    [[ $(results seed) -ge 5 && $(results seed) -eq $(wc -l <results) ]]
}

@test "reads each domain, request and report of the fuzz targets" {
    local file

    # What fuzz-domain.c and fuzz-request.c give it.
    make_root
    make_secret web1 userdata '#cloud-config'
    mkdir "$root$confdir/files"
    echo '#cloud-config' >"$root$confdir/files/base.yaml"
    for file in "$top_srcdir"/tests/fuzz/corpus/domain/*; do
        seeds <"$file" || { echo "$file"; return 1; }
    done
    # Documents in an encoding for which libxml2 asks iconv(3) do not come to the maker.
    [[ $(results skipped) -le 2 ]]
    wired_xml >wired.xml
    for file in "$top_srcdir"/tests/fuzz/corpus/request/*; do
        {
            printf "<domain type='kvm'><name>web1</name><uuid>%s</uuid><metadata><ci:cloud-init xmlns:ci='%s' " \
                "$uuid" "$namespace"
            head -n 1 "$file" | tr -d '\n'
            printf '>\n'
            tail -n +2 "$file"
            printf '</ci:cloud-init>'
            sed -n '/<\/metadata>/,$p' wired.xml
        } >request.xml
        seeds <request.xml || { echo "$file"; return 1; }
    done
    [[ $(results seed) -ge 50 ]]
    for file in "$top_srcdir"/tests/fuzz/corpus/report/*; do
        seeds --report <"$file" || { echo "$file"; return 1; }
    done
    [[ $(results report) -ge 10 ]]
}
