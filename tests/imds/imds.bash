# shellcheck shell=bats disable=SC2034,SC2154  # variables for those that source this
# imds.bash: a private metadata server on loopback; a library to source after common.bash.
#
#   imds_setup                     make $root, whose QEMU is run by the test's user, and $docs
#   imds_publish [UUID TOKEN MACS] publish what is in $docs, by default as $uuid
#   imds_start [OPTION...]         start the server, with at most $descriptors if that is set; sets $imds,
#                                  its process, $port and $url
#   imds_stop                      end it, and wait until it has ended
#   fetch PATH [OPTION...]         curl; sets $status (of HTTP), $header and $body
#   answer_to PATH [COMMAND...]    print the answer that curl gets, without its date; COMMAND runs curl
#   raw TEXT                       send the text as printf %b makes it; sets $header and $body
#   imds_asks_once                 whether a server that is --verbose was asked for everything only once
#   imds_log                       print what the server said

token=0123456789abcdef0123456789abcdef
other_token=fedcba9876543210fedcba9876543210

imds_setup() {
    type -P virt-seed-imds >/dev/null || skip 'the metadata server is not built'
    type -P curl >/dev/null || skip 'curl is not installed'
    make_root
    docs=$BATS_TEST_TMPDIR/docs
    tree=$root$rundir/imds
    log=$BATS_TEST_TMPDIR/imds.log
    mkdir -p "$root$qemu_home" "$docs"
    printf 'instance-id: web1\n' >"$docs/meta-data"
    printf '#cloud-config\npackages: [nginx]\n' >"$docs/user-data"
}

imds_publish() {
    "$top_builddir/tests/imds/publish" "$root" add "${1-$uuid}" "${2-$token}" \
        "${3-52:54:00:00:00:09@}" "$docs"
}

imds_start() {
    : >"$log"
    (
        if [[ -n ${descriptors-} ]]; then
            ulimit -n "$descriptors"
        fi
        exec virt-seed-imds --listen 127.0.0.1:0 --root "$root" "$@" >"$log" 2>&1 3>&-
    ) &
    imds=$!
    imds_wait_for_port
}

imds_wait_for_port() {
    wait_until 60 grep -q 'listening on 127\.0\.0\.1:[0-9]' "$log" || {
        cat "$log"
        return 1
    }
    port=$(sed -n 's/.*listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$log")
    url=http://127.0.0.1:$port
}

imds_stop() {
    if [[ -n ${imds-} ]]; then
        kill "$imds" 2>/dev/null || :
        wait "$imds" || return
        imds=
    fi
}

imds_log() {
    cat "$log"
}

# imds_asks_once: nothing was requested twice, as it would be after a preliminary answer.
imds_asks_once() {
    local asked

    asked=$(sed -n 's/.*: \([0-9]* for [^ ]*\) of domain .*/\1/p' "$log" | sort)
    [[ $asked = *'200 for user-data'* && -z $(uniq -d <<<"$asked") ]] || {
        echo "asked for: $asked"
        return 1
    }
}

# fetch PATH [OPTION...]
fetch() {
    local path=$1

    shift
    rm -f "$BATS_TEST_TMPDIR"/{header,body}
    status=$(curl --silent --path-as-is --max-time 20 --dump-header "$BATS_TEST_TMPDIR/header" \
        --output "$BATS_TEST_TMPDIR/body" --write-out '%{http_code}' "$@" "$url$path") || :
    header=$(tr -d '\r' <"$BATS_TEST_TMPDIR/header") || header=
    body=$(tr -d '\0' <"$BATS_TEST_TMPDIR/body") 2>/dev/null || body=
}

# answer_to PATH [COMMAND...]
answer_to() {
    "${@:2}" curl --silent --include --path-as-is --globoff --max-time 20 "$url$1" |
        tr -d '\r' | grep -v '^Date: '
}

# raw TEXT [SECONDS]
raw() {
    local answer

    answer=$(
        set -o pipefail
        printf '%b' "$1" | python3 "$top_srcdir/tests/imds/raw.py" send "$port" "${2-30}" | tr -d '\0\r'
    ) || return
    header=${answer%%$'\n\n'*}
    status=${header#HTTP/1.1 }
    status=${status%% *}
    body=${answer#*$'\n\n'}
}

# expect STATUS [BODY]: the last fetch or raw got this, with its length.
expect() {
    if [[ $status != "$1" || ($# -gt 1 && $body != "$2") ]]; then
        printf 'expected %s, found %s:\n%s\n\n%s\n' "$*" "$status" "$header" "$body"
        return 1
    fi
    if [[ $header != *$'\nContent-Length: '[0-9]* ]]; then
        printf 'expected Content-Length, found:\n%s\n' "$header"
        return 1
    fi
}
