#!/usr/bin/env bats
# imds-replace.bats: the metadata server's tree changes while it is served, at any moment: what
# tests/hostile/fault stops before each of its system calls, the server or the one who publishes, goes
# on when the other has done something.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR/../imds source=../imds/imds.bash
source "$top_srcdir/tests/imds/imds.bash"

# LeakSanitizer does not work in a traced process; the other sanitizers do.
export ASAN_OPTIONS=detect_leaks=0

setup() {
    imds=
    publisher=
    version=0
    fault=$top_builddir/tests/hostile/fault # which `make check` makes
    imds_setup
    base=/$uuid/$token
    documents=(user-data meta-data)
    "$fault" fcntl 1 stop true || [[ $? -ne 77 ]] || skip 'no process may be traced here'
    publish_next
}

teardown() {
    # A stopped process ends once it continues, and a traced one with its tracer.
    for process in $imds $publisher; do
        kill "$process" || :
        kill -CONT "$process" || :
        wait "$process" || :
    done
    [[ ! -e $log ]] || cat "$log"
}

# next_version: makes documents that all contain the next number.
next_version() {
    local document

    version=$((version + 1))
    for document in "${documents[@]}"; do
        echo "version $version" >"$docs/$document"
    done
}

publish_next() {
    next_version
    imds_publish
}

# state_of PROCESS: prints its letter: T where it is stopped, Z or nothing where it has ended.
state_of() {
    local line

    if { read -r line <"/proc/$1/stat"; } 2>/dev/null; then
        line=${line##*) }
        printf '%s' "${line%% *}"
    fi
}

listens_or_goes_on() {
    grep -q 'listening on' "$log" && return
    [[ $(state_of "$imds") != T ]] || kill -CONT "$imds"
    return 1
}

# start_stopping: starts the server so that it stops before each file that it opens.
start_stopping() {
    : >"$log"
    "$fault" openat2 1+ stop virt-seed-imds --listen 127.0.0.1:0 --root "$root" >"$log" 2>&1 3>&- &
    imds=$!
    wait_until 60 listens_or_goes_on
    imds_wait_for_port
    # It looks at the host before it serves.
    fetch_with : 0 /healthz
}

# fetch_with COMMAND MOMENT PATH: fetches the path, and runs the command when the server has stopped for
# the MOMENT-th time; sets $stops, how often it stopped, $status and $body.
fetch_with() {
    local answer=$BATS_TEST_TMPDIR/answer client end=$((SECONDS + 90))

    stops=0
    curl --silent --max-time 60 --output "$answer" --write-out '%{http_code}' "$url$3" \
        >"$BATS_TEST_TMPDIR/status" 3>&- &
    client=$!
    while ((SECONDS < end)); do
        if [[ $(state_of "$imds") = T ]]; then
            stops=$((stops + 1))
            [[ $stops -ne $2 ]] || "$1"
            kill -CONT "$imds"
        elif [[ $(state_of "$client") = [RSD] ]]; then
            sleep 0.01
        else
            break
        fi
    done
    wait "$client"
    status=$(<"$BATS_TEST_TMPDIR/status")
    body=$(<"$answer")
}

# at_each_moment COMMAND PATH: fetches it again and again, with the command one moment later each time,
# and calls `check` for each answer.
at_each_moment() {
    local moment=0

    stops=0
    while [[ $stops -ge $moment ]]; do
        moment=$((moment + 1))
        [[ $moment -lt 1000 ]]
        publish_next
        before="version $version"
        fetch_with "$1" "$moment" "$2"
        echo "$2, at $moment of $stops: $status $body"
        check
    done
    # The tree, QEMU's user, the domain, its token, the document.
    [[ $moment -gt 5 ]]
}

@test "a domain replaced at any moment of a request is served whole, either old or new" {
    check() {
        [[ $status = 200 && ($body = "$before" || $body = "version $version") ]]
    }

    start_stopping
    for document in "${documents[@]}"; do
        at_each_moment publish_next "$base/$document"
    done
}

@test "a domain removed at any moment of a request is served whole or not at all" {
    remove() {
        "$top_builddir/tests/imds/publish" "$root" remove "$uuid"
    }

    check() {
        [[ $status = 404 || ($status = 200 && $body = "$before") ]]
    }

    start_stopping
    for document in "${documents[@]}"; do
        at_each_moment remove "$base/$document"
    done
}

@test "a domain is served whole at every moment of its replacement, first old and then new" {
    local end=$((SECONDS + 120)) stops=0 seen

    imds_start
    seen="version $version"
    next_version
    "$fault" mkdirat,openat,renameat,renameat2,unlinkat 1+ stop \
        "$top_builddir/tests/imds/publish" "$root" add "$uuid" "$token" 52:54:00:00:00:09@ "$docs" 3>&- &
    publisher=$!
    while ((SECONDS < end)); do
        case $(state_of "$publisher") in
        T)
            stops=$((stops + 1))
            fetch "$base/user-data"
            echo "at $stops: $status $body"
            expect 200
            [[ $body = "$seen" || $body = "version $version" ]]
            seen=$body
            kill -CONT "$publisher"
            ;;
        Z | '') break ;;
        *) sleep 0.01 ;;
        esac
    done
    ((SECONDS < end))
    wait "$publisher"
    publisher=
    # Before it was put in place, and while what was there was removed.
    [[ $seen = "version $version" && $stops -gt 10 ]]
}
