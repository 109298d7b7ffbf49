#!/usr/bin/env bats
# imds.bats: the metadata server, as a guest of QEMU's user networking sees it: on loopback.
# shellcheck disable=SC2030,SC2031  # each test is a process

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR/../imds source=../imds/imds.bash
source "$top_srcdir/tests/imds/imds.bash"

setup() {
    imds=
    imds_setup
    imds_publish
    base=/$uuid/$token
}

teardown() {
    # Sanitizers report at the end.
    imds_stop || { cat "$log" && return 1; }
}

# storm PATH COUNT PAUSE
storm() {
    python3 "$top_srcdir/tests/imds/raw.py" storm "$port" "$@"
}

# occupy COUNT [PATH]: opens that many connections that send nothing, or ask for the path and do not read
# the answer.
occupy() {
    coproc idle { exec python3 "$top_srcdir/tests/imds/raw.py" idle "$port" "$@" 3>&-; }
    read -r -u "${idle[0]}" _
}

vacate() {
    # shellcheck disable=SC2154  # coproc sets it
    kill "$idle_PID"
}

# is_served PATH SECONDS: the path is served again and again, within the time.
is_served() {
    local i

    for ((i = 0; i < 20; i++)); do
        fetch "$1" --max-time "$2"
        expect 200
    done
}

# activate ADDRESS: starts the server as systemd does that listens there; sets $server, its process,
# $port and $url.
activate() {
    grep -q 'HAVE_LIBSYSTEMD 1' "$top_builddir/config.h" || skip 'built without libsystemd'
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    url=http://127.0.0.1:$port
    coproc activated {
        exec python3 "$top_srcdir/tests/imds/raw.py" activate "$port" "$1" \
            "$(type -P virt-seed-imds)" --root "$root" 2>"$log" 3>&-
    }
    # shellcheck disable=SC2154  # coproc sets it
    activator=$activated_PID
    await_activated
}

# await_activated: waits until the next server is ready.
await_activated() {
    read -r -u "${activated[0]}" server || { cat "$log" && return 1; }
}

deactivate() {
    local input=${activated[1]}

    exec {input}>&-
    wait "$activator" || { cat "$log" && return 1; }
}

@test "a guest gets its documents whole, with their lengths" {
    imds_start
    fetch "$base/meta-data"
    expect 200 'instance-id: web1'
    [[ $header == *$'\nContent-Length: 18'* ]]
    [[ $header == *$'\nContent-Type: text/plain; charset=utf-8'* ]]
    [[ $header == *$'\nCache-Control: private, no-cache'* ]]
    fetch "$base/user-data"
    expect 200 $'#cloud-config\npackages: [nginx]'
}

@test "serves long documents unchanged" {
    head -c 300000 /dev/urandom >"$docs/user-data"
    imds_publish
    imds_start
    fetch "$base/user-data"
    expect 200
    cmp "$docs/user-data" "$BATS_TEST_TMPDIR/body"
    run python3 "$top_srcdir/tests/imds/raw.py" slow-read "$port" "$base/user-data"
    [[ $output = "$(sha256sum <"$docs/user-data" | cut -d' ' -f1)" ]]
}

@test "a missing document is empty, because cloud-init would wait for it" {
    imds_start
    for name in vendor-data network-config; do
        fetch "$base/$name"
        expect 200 ''
        [[ $header == *$'\nContent-Length: 0'* ]]
    done
}

@test "HEAD has the header of GET and no body" {
    imds_start
    fetch "$base/user-data"
    expected=$(grep -v '^Date:' <<<"$header")
    raw "HEAD $base/user-data HTTP/1.1\r\nHost: x\r\n\r\n"
    expect 200
    [[ $(grep -v '^Date:' <<<"$header") = "$expected" ]]
    [[ $body = '' || $body = "$header" ]]
}

@test "a wrong token, another domain's token and an unknown domain get the same 404" {
    imds_publish "$other_uuid" "$other_token"
    imds_start
    fetch "/$uuid/$other_token/meta-data"
    expect 404
    expected=$body
    for path in "/$uuid/${token/0/1}/meta-data" "/$uuid/${token%f}/meta-data" \
        "/$uuid/${token%f}e/meta-data" "/$uuid/${token:0:16}1${token:17}/meta-data" \
        "/$uuid/${token^^}/meta-data" "/$other_uuid/$token/meta-data" \
        "/11111111-1111-1111-1111-111111111111/$token/meta-data" "/$uuid/meta-data" \
        "/${uuid^^}/$token/meta-data" / //; do
        fetch "$path"
        expect 404 "$expected"
    done
    # What is wrong is in the log, and no token is.
    [[ $(imds_log) == *"(uid $EUID): 404 for meta-data of domain $uuid: wrong token"* ]]
    [[ $(imds_log) == *'404: no such path'* ]]
    [[ $(imds_log) == *'no such domain'* ]]
    run ! grep -iF -e "${token:4:20}" -e "${other_token:4:20}" "$log"
}

@test "even a verbose log contains no token" {
    imds_start --verbose
    fetch "$base/meta-data"
    fetch "$base/nothing"
    fetch "$base/meta-data" --request DELETE
    [[ $(imds_log) == *'405: neither GET nor HEAD'* ]]
    [[ $(imds_log) == *"200 for meta-data of domain $uuid"* ]]
    run ! grep -F "${token:4:20}" "$log"
}

@test "/healthz answers everyone" {
    imds_start
    fetch /healthz
    expect 200 OK
    become_nobody
    run -0 "${as_nobody[@]}" curl --silent --fail "$url/healthz"
}

@test "says what to do if the server may not read the tree" {
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'needs root, to be another user'
    chmod 0700 "$tree"
    : >"$log"
    "${as_nobody[@]}" virt-seed-imds --listen 127.0.0.1:0 --root "$root" >>"$log" 2>&1 3>&- &
    imds=$!
    imds_wait_for_port
    fetch "$base/meta-data"
    expect 500
    fetch /healthz
    expect 503
    grep -q 'may not read .*systemd-tmpfiles --create' "$log"
}

@test "allows only GET and HEAD" {
    imds_start
    for method in POST PUT DELETE OPTIONS TRACE PATCH BREW; do
        fetch "$base/meta-data" --request "$method"
        expect 405
        [[ $header == *$'\nAllow: GET, HEAD'* ]]
    done
    fetch "$base/meta-data" --data x
    expect 405
}

@test "no spelling of a path leads out of a domain's documents" {
    local path

    echo outside >"$root/outside"
    echo outside >"$tree/outside"
    imds_start
    for path in "$base/../../outside" "$base/../$other_uuid/meta-data" "$base/./meta-data" \
        "$base//meta-data" "/$base/meta-data" "$base/meta-data/" "$base/access" "$base/macs" \
        "$base/%2e%2e/%2e%2e/outside" "$base/..%2f..%2foutside" "$base/%2E./outside" \
        "$base/%252e%252e%252foutside" "$base/..%c0%af..%c0%afoutside" "$base/..\\outside" \
        "$base/..%5coutside" "$base/%00meta-data" "$base/meta-data%00" "$base/m%65ta-data" \
        "/%34${uuid:1}/$token/meta-data" "/mac/52:54:00:00:00:01/$uuid" "/v1/../outside" \
        "/v1/meta-data" "/v1//meta-data" "/openstack" "/etc/passwd" \
        "//etc/passwd" "/..;/outside" "$base/meta-data;x" "$base/meta-data#x" \
        "$base/META-DATA" "$base/%u006deta-data" "/$uuid/../outside/$token"; do
        fetch "$path"
        echo "$path: $status"
        [[ $status = 404 ]] || [[ $path = *'#x' && $body = 'instance-id: web1' ]]
        [[ $body != *outside* ]]
    done
}

@test "malformed requests are refused or ignored" {
    imds_start
    # A NUL ends the path: what comes after it leads nowhere. libmicrohttpd 1.0 closes the connection.
    raw "GET $base/meta-data\\0/../../../outside HTTP/1.1\r\nHost: x\r\n\r\n"
    [[ -z $status || $status = 400 || $body = 'instance-id: web1' ]]
    raw "GET $base\\0/meta-data HTTP/1.1\r\nHost: x\r\n\r\n"
    [[ -z $status || $status = 400 || $status = 404 ]]
    for request in "GET $base/meta-data HTTP/1.1\r\n\r\n" "GET $base/meta-data\r\n\r\n" \
        "GET $base/meta-data HTTP/9.9\r\nHost: x\r\n\r\n" '\xff\xfe\x01\x02\r\n\r\n' \
        "GET $base/meta data HTTP/1.1\r\nHost: x\r\n\r\n" '\r\n\r\n\r\n' \
        "GET http://x$base/meta-data HTTP/1.1\r\nHost: x\r\n\r\n"; do
        raw "$request" 2
        echo "$request: $status"
        [[ $status != 200 ]]
    done
    fetch "$base/meta-data"
    expect 200
}

@test "refuses requests that are too long" {
    local long

    long=$(printf '%20000s' '' | tr ' ' a)
    imds_start
    raw "GET /$long HTTP/1.1\r\nHost: x\r\n\r\n"
    [[ $status = 414 || $status = 400 ]]
    raw "GET /healthz HTTP/1.1\r\nHost: x\r\nA: $long\r\n\r\n"
    [[ $status = 431 || $status = 400 ]]
    raw "GET /healthz HTTP/1.1\r\nHost: x\r\n$long: a\r\n\r\n"
    [[ $status = 431 || $status = 400 ]]
    raw "$long /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    [[ $status != 200 ]]
    raw "GET /healthz HTTP/1.1\r\nHost: x\r\n$(printf 'A: b\\r\\n%.0s' {1..2000})\r\n"
    [[ $status = 431 || $status = 400 ]]
    # What clients send is not.
    fetch "$base/meta-data" --header "A: ${long:0:1500}"
    expect 200
}

@test "a second request on the same connection is never read" {
    local second="GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

    imds_start
    for headers in 'Content-Length: 5\r\nTransfer-Encoding: chunked' 'Transfer-Encoding: chunked' \
        'Content-Length: 0\r\nContent-Length: 40' 'Content-Length : 40' 'Content-Length: +0' \
        'Content-Length: 0x10' 'Content-Length: -1' 'Content-Length: 99999999999999999999' \
        'Transfer-Encoding: identity' 'Transfer-Encoding : chunked' 'Content-Length: 40' \
        'Content-Length:' 'Transfer-Encoding:' 'Upgrade: h2c\r\nConnection: upgrade' \
        'Content-Length: 0,0'; do
        raw "GET $base/meta-data HTTP/1.1\r\nHost: x\r\n$headers\r\n\r\n0\r\n\r\n$second"
        echo "$headers: $status"
        # libmicrohttpd 1.0.10 does not implement 'identity'.
        [[ $status = 400 || $status = 413 || $status = 501 ]]
        [[ $body != *OK* ]]
    done
    for first in "GET $base/meta-data HTTP/1.1\r\nHost: x\r\n\r\n" \
        "GET $base/meta-data HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 40\r\n\r\n" \
        "GET $base/meta-data HTTP/1.1\nHost: x\n\n"; do
        raw "$first$second"
        [[ $header == *'Connection: close'* || -z $header ]]
        [[ $body != *OK* && $(grep -c '^HTTP' <<<"$header") -le 1 ]]
    done
}

@test "a client that never finishes its request holds nobody up" {
    imds_start
    python3 "$top_srcdir/tests/imds/raw.py" drip "$port" 30 >"$BATS_TEST_TMPDIR/drip" 3>&- &
    drip=$!
    for part in '' 'GET' "GET $base/meta-data HTTP/1.1\r\nHost: x\r\n"; do
        (
            SECONDS=0
            raw "$part" 60
            [[ $status != 200 && $SECONDS -ge 8 && $SECONDS -le 20 ]]
        ) &
        halves+=($!)
    done
    fetch "$base/meta-data" --max-time 2
    expect 200
    for half in "${halves[@]}"; do
        wait "$half"
    done
    # A byte now and then does not keep a connection open, either.
    wait "$drip"
    [[ $(<"$BATS_TEST_TMPDIR/drip") = closed ]]
}

@test "five thousand silent connections do not keep a guest from its documents" {
    [[ $(ulimit -Hn) -ge 5100 ]] || skip 'there are not enough descriptors'
    imds_start
    occupy 5000
    # Nor do they cost a thread each.
    tasks=("/proc/$imds/task"/*)
    [[ ${#tasks[@]} -eq 1 ]]
    is_served "$base/meta-data" 5
    vacate
}

# bats test_tags=native
@test "silent clients only take places from other silent clients" {
    descriptors=192 imds_start
    [[ $(imds_log) == *'64 connections at a time'* ]]
    occupy 600
    is_served "$base/meta-data" 1
    vacate
    [[ $(imds_log) =~ [1-9][0-9]*\ connections\ were\ ended\ to\ make\ room,\ and\ 0\ were\ refused ]]
}

@test "counts on no more descriptors than it gets if it may not raise their limit" {
    local fault=$top_builddir/tests/hostile/fault # which `make check` makes

    "$fault" fcntl 1 stop true || [[ $? -ne 77 ]] || skip 'no process may be traced here'
    : >"$log"
    (
        ulimit -Sn 192
        # The first is for core files; the third is the one that raises it. LeakSanitizer cannot trace
        # a traced process.
        ASAN_OPTIONS=detect_leaks=0 exec "$fault" prlimit64 3 EPERM \
            virt-seed-imds --listen 127.0.0.1:0 --root "$root" >"$log" 2>&1 3>&-
    ) &
    tracer=$!
    imds_wait_for_port
    kill "$tracer"
    wait "$tracer" || :
    [[ $(imds_log) == *'only 64 connections at a time: too few descriptors (ulimit -n 192)'* ]]
}

# bats test_tags=native
@test "clients that do not read their answers only take places from one another" {
    imds_publish "$other_uuid" "$other_token"
    head -c 8000000 /dev/urandom >"$docs/user-data"
    imds_publish
    descriptors=192 imds_start
    [[ $(imds_log) == *'64 connections at a time'* ]]
    occupy 80 "$base/user-data"
    is_served "/$other_uuid/$other_token/meta-data" 1
    vacate
}

# unsent: prints the server's sockets that the kernel keeps, closed, with data that the peer does not take.
unsent() {
    local hex

    printf -v hex ':%04X' "$port"
    # 04: FIN_WAIT1. The kernel keeps it without a process.
    awk -v port="$hex" '$4 == "04" && index($2, port)' /proc/net/tcp
}

has_unsent() {
    [[ -n $(unsent) ]]
}

has_no_unsent() {
    ! has_unsent
}

@test "the kernel drops what a client has not taken seconds after the server has sent it" {
    head -c 12000 /dev/urandom >"$docs/user-data"
    imds_publish
    imds_start
    occupy 4 "$base/user-data"
    wait_until 60 has_unsent
    # Ten seconds; without a limit, it would be minutes.
    wait_until 60 has_no_unsent
    vacate
}

# is_limited STATUS: the last storm, which began when SECONDS was 0, got this status as often as the limit
# allows, and then 429.
is_limited() {
    echo "$output"
    [[ $output =~ ^"$1 "([0-9]+)$'\n429 with Retry-After '[0-9]+$ ]]
    [[ ${BASH_REMATCH[1]} -ge 100 && ${BASH_REMATCH[1]} -le $((100 + 20 * (SECONDS + 1))) ]]
}

@test "a guest that asks too often has to wait, and no other guest does" {
    imds_publish "$other_uuid" "$other_token"
    imds_start
    SECONDS=0
    run storm "$base/meta-data" 300 0
    is_limited 200
    fetch "/$other_uuid/$other_token/meta-data"
    expect 200
    # Even while the first one goes on.
    python3 "$top_srcdir/tests/imds/raw.py" storm "$port" "$base/meta-data" 1000000 0 \
        >"$BATS_TEST_TMPDIR/storm" 3>&- &
    storm=$!
    run storm "/$other_uuid/$other_token/meta-data" 60 0
    kill "$storm"
    [[ $output = '200 60' ]]
    # Nor can one who only guesses use up what a guest may ask.
    SECONDS=0
    run storm "/$other_uuid/$token/meta-data" 300 0
    is_limited 404
    fetch "/$other_uuid/$other_token/meta-data"
    expect 200
    sleep 1
    fetch "$base/meta-data"
    expect 200
    [[ $(imds_log) == *'too many requests'* ]]
}

@test "failing requests keep nobody else from /healthz or from the log" {
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'needs root, to be another user'
    imds_start
    "${as_nobody[@]}" curl --silent --output /dev/null --write-out '%{http_code}\n' \
        "$url$base/meta-data?[1-300]" >"$BATS_TEST_TMPDIR/codes"
    [[ $(grep -c 404 "$BATS_TEST_TMPDIR/codes") -ge 100 && $(grep -c 429 "$BATS_TEST_TMPDIR/codes") -ge 100 ]]
    fetch "/$uuid/$other_token/meta-data"
    expect 404
    run storm /healthz 150 0
    [[ $output = '200 150' ]]
    imds_stop
    [[ $(grep -c 'uid 65534' "$log") -lt 40 ]]
    [[ $(imds_log) == *"domain $uuid: wrong token"* ]]
    [[ $(imds_log) =~ virt-seed-imds:\ 2[0-9][0-9]\ messages\ were\ dropped$ ]]
}

@test "a client with many addresses gets no more lines in the log than one with one address" {
    imds_start
    for ((i = 1; i <= 20; i++)); do
        curl --silent --output /dev/null --interface "127.0.1.$i" "$url/x?[1-30]"
    done
    [[ $(grep -c 'no such path' "$log") -lt 60 ]]
    fetch "/$uuid/$other_token/meta-data"
    expect 404
    [[ $(imds_log) == *"domain $uuid: wrong token"* ]]
}

@test "a tree that is replaced while it is served gives whole documents" {
    local i

    mkdir "$BATS_TEST_TMPDIR/versions"
    for i in 1 2; do
        head -c 200000 /dev/urandom >"$BATS_TEST_TMPDIR/versions/$i"
    done
    cp "$BATS_TEST_TMPDIR/versions/1" "$docs/user-data"
    imds_publish
    imds_start
    (
        exec 3>&-
        end=$((SECONDS + 300))
        while [[ ! -e $BATS_TEST_TMPDIR/enough ]] && ((SECONDS < end)); do
            for i in 1 2; do
                cp "$BATS_TEST_TMPDIR/versions/$i" "$docs/user-data"
                imds_publish
            done
        done
    ) &
    for ((i = 0; i < 80; i++)); do
        fetch "$base/user-data"
        expect 200
        cmp -s "$BATS_TEST_TMPDIR/body" "$BATS_TEST_TMPDIR/versions/1" ||
            cmp "$BATS_TEST_TMPDIR/body" "$BATS_TEST_TMPDIR/versions/2"
    done
    touch "$BATS_TEST_TMPDIR/enough"
    wait %+ || :
    [[ $(find "$tree" -name '*.new.*') = '' ]]
}

@test "serves nothing of a domain that was removed" {
    imds_publish "$uuid" "$token" 52:54:00:00:00:01,52:54:00:00:00:02@
    imds_start
    # As a killed process leaves it.
    mkdir "$tree/$uuid.new.0000"
    "$top_builddir/tests/imds/publish" "$root" remove "$uuid"
    fetch "$base/meta-data"
    expect 404
    [[ $(find "$tree" -mindepth 1) = '' ]]
    "$top_builddir/tests/imds/publish" "$root" remove "$uuid"
}

@test "does not serve files in the tree that the hook did not write" {
    echo outside >"$root/outside"
    imds_start
    ln -sf "$root/outside" "$tree/$uuid/user-data"
    fetch "$base/user-data"
    expect 500
    ln -sf meta-data "$tree/$uuid/user-data"
    fetch "$base/user-data"
    expect 500
    rm "$tree/$uuid/user-data"
    mkfifo "$tree/$uuid/user-data"
    fetch "$base/user-data" --max-time 5
    expect 500
    rm "$tree/$uuid/user-data"
    mkdir "$tree/$uuid/user-data"
    fetch "$base/user-data"
    expect 500
    mv "$tree/$uuid" "$tree/elsewhere"
    ln -s elsewhere "$tree/$uuid"
    fetch "$base/meta-data"
    expect 500
    [[ $(imds_log) == *': 500 for user-data of domain '*': a symbolic link or a mount is in the tree'* ]]
    [[ $(imds_log) == *"its 'access' is malformed, or it is not a regular file"* ]]
}

@test "does not serve a file or a tree that another user owns or may write to" {
    imds_start
    chmod 0777 "$tree"
    fetch "$base/meta-data"
    expect 500
    [[ $(imds_log) == *"of domain $uuid: "*'/imds does not belong to root, or is writable by others'* ]]
    chmod 0770 "$tree"
    fetch "$base/meta-data"
    expect 500
    chmod 0750 "$tree"
    fetch "$base/meta-data"
    expect 200
    [[ $EUID -eq 0 ]] || return 0
    chown 65534 "$tree"
    fetch "$base/meta-data"
    expect 500
    chown 0 "$tree"
    fetch "$base/meta-data"
    expect 200
    chown 65534 "$tree/$uuid/meta-data"
    fetch "$base/meta-data"
    expect 500
    chown 0 "$tree/$uuid/meta-data"
    chown 65534 "$tree/$uuid/access"
    fetch "$base/user-data"
    expect 500
    chown 0 "$tree/$uuid/access"
    chown 65534 "$tree/$uuid"
    fetch "$base/meta-data"
    expect 500
}

@test "a malformed access file gives nobody access" {
    imds_start
    : >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 500
    printf '%s' "$token" >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 500
    printf '%s\n%s\n' "${token^^}" '52:54:00:00:00:09 user' >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 500
    printf '%s\n%s\n' "$token" '52:54:00:00:00:09 other' >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 500
    printf '%s\n%s' "$token" '52:54:00:00:00:09 user' >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 500
    printf '%s\n%s\n\0%s\n' "$token" '52:54:00:00:00:09 user' '52:54:00:00:00:0a user' \
        >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 500
    printf '%s\n%s\n' "$token" '52:54:00:00:00:09 user' >"$tree/$uuid/access"
    fetch "/$uuid/$token/meta-data"
    expect 200
}

@test "a process of another user than QEMU's gets nothing with a stolen token" {
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'needs root, to be another user'
    imds_start
    run -22 "${as_nobody[@]}" curl --silent --fail "$url$base/meta-data"
    [[ $(imds_log) == *"not of QEMU's user"* ]]
    # And if QEMU runs as that user, it does.
    chown 65534 "$root$qemu_home"
    run -0 "${as_nobody[@]}" curl --silent --fail "$url$base/meta-data"
    [[ $output = 'instance-id: web1' ]]
    fetch "$base/meta-data"
    expect 404
}

@test "a stolen token gets exactly the answer of a wrong one" {
    imds_publish "$other_uuid" "$other_token" 52:54:00:00:00:01,52:54:00:00:00:02
    imds_start
    expected=$(answer_to "/$uuid/$other_token/user-data")
    [[ $expected = 'HTTP/1.1 404 '* ]]
    # QEMU's user, and a domain without user networking.
    diff <(echo "$expected") <(answer_to "/$other_uuid/$other_token/user-data")
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'needs root, to be another user'
    # Not QEMU's user.
    diff <(echo "$expected") <(answer_to "$base/user-data" "${as_nobody[@]}")
    diff <(echo "$expected") <(answer_to "/$uuid/$other_token/user-data" "${as_nobody[@]}")
    # Nor if the host does not tell who QEMU's user is.
    rmdir "$root$qemu_home"
    diff <(echo "$expected") <(answer_to "$base/user-data")
}

@test "a token is not enough for a client without a MAC" {
    imds_start
    echo "$token" >"$tree/$uuid/access"
    fetch "$base/user-data"
    expect 404
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || return 0
    run -22 "${as_nobody[@]}" curl --silent --fail "$url$base/user-data"
}

@test "QEMU's user gets nothing of a domain without user networking" {
    imds_publish "$uuid" "$token" 52:54:00:00:00:01,52:54:00:00:00:02
    imds_start
    fetch "$base/meta-data"
    expect 404
    [[ $(imds_log) == *'right token, but the domain has no user networking'* ]]
}

@test "recognizes a process whose address is mapped into IPv6" {
    [[ -e /proc/net/if_inet6 ]] || skip 'no IPv6 here'
    imds_start
    url="http://[::ffff:127.0.0.1]:$port"
    fetch "$base/meta-data" --globoff
    expect 200 'instance-id: web1'
}

# The socket of one that has gone is root's, and here QEMU's user is.
@test "a connection that its process has closed belongs to nobody" {
    imds_start --verbose
    kill -STOP "$imds"
    python3 -c "
import socket
connection = socket.create_connection(('127.0.0.1', $port))
connection.sendall(b'GET $base/meta-data HTTP/1.1\r\nHost: x\r\n\r\n')
connection.close()"
    kill -CONT "$imds"
    # This one was accepted after it, and every accepted connection is answered.
    fetch "$base/user-data"
    expect 200
    imds_stop
    [[ $(imds_log) == *": 404 for meta-data of domain $uuid: a process of this host that has exited"* ]]
}

@test "serves no process of the host if QEMU's user is unknown" {
    imds_start
    rmdir "$root$qemu_home"
    fetch "$base/meta-data"
    expect 404
    [[ $(imds_log) == *'which user QEMU runs as'* ]]
}

@test "a server without a tree serves nothing until there is one" {
    rm -r "${root:?}$rundir" "$root$qemu_home"
    imds_start
    fetch "$base/meta-data"
    expect 404
    [[ $(imds_log) == *'nothing can be served yet: '*'/imds does not exist: systemd-tmpfiles --create'* ]]
    [[ $(imds_log) == *"$qemu_home"* ]]
    mkdir -p "$root$qemu_home"
    imds_publish
    fetch "$base/meta-data"
    expect 200
}

@test "leaves no core files, and resists tracing, signals and inherited masks" {
    become_nobody
    : >"$log"
    (
        umask 0
        ulimit -c "$(ulimit -Hc)"
        exec "${as_nobody[@]}" virt-seed-imds --listen 127.0.0.1:0 --root "$root" >"$log" 2>&1 3>&-
    ) &
    imds=$!
    imds_wait_for_port
    fetch /healthz
    grep -Eqx 'Max core file size +0 +0 +bytes *' "/proc/$imds/limits"
    grep -Pqx 'Umask:\t0022' "/proc/$imds/status"
    # The files in /proc of a process that cannot be traced belong to root. LeakSanitizer has to trace.
    ldd "$(type -P virt-seed-imds)" | grep -q libasan || [[ $(stat -c %u "/proc/$imds/status") -eq 0 ]]
    # SIGPIPE and SIGXFSZ.
    ignored=0x$(sed -n 's/^SigIgn:\t//p' "/proc/$imds/status")
    [[ $((ignored & 1 << 12)) -ne 0 && $((ignored & 1 << 24)) -ne 0 ]]
}

# has_more_than BYTES FILE
has_more_than() {
    [[ $(wc -c <"$2") -gt $1 ]]
}

@test "a log that nobody reads holds nobody up" {
    : >"$log"
    mkfifo "$BATS_TEST_TMPDIR/stuck"
    # Full after the first lines; read on when standard input ends.
    coproc reader {
        exec python3 -c "
import os, sys
stuck = open('$BATS_TEST_TMPDIR/stuck', 'rb', buffering=0)
with open('$log', 'ab', buffering=0) as log:
    line = b''
    while part := stuck.read(4096):
        line += part
        if b'listening on' in line:
            break
    rest = os.open(stuck.name, os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(rest, bytes(4096))
    except BlockingIOError:
        os.close(rest)
    log.write(line)
    sys.stdin.read()
    while part := stuck.read(65536):
        log.write(part)
" 3>&-
    }
    # bash forgets it when the process ends.
    # shellcheck disable=SC2154  # coproc sets it
    client=$reader_PID
    virt-seed-imds --listen 127.0.0.1:0 --root "$root" 2>"$BATS_TEST_TMPDIR/stuck" 3>&- &
    imds=$!
    imds_wait_for_port
    fetch "/$uuid/$other_token/meta-data" --max-time 10
    statuses=$status
    fetch "$base/meta-data" --max-time 10
    statuses+=" $status"
    input=${reader[1]}
    exec {input}>&-
    wait_until 60 has_more_than 4096 "$log"
    imds_stop
    wait "$client"
    [[ $statuses = '404 200' ]]
    grep -aq ': 1 messages were dropped' "$log"
}

@test "answers all accepted requests before it ends" {
    imds_start
    mkfifo "$BATS_TEST_TMPDIR/go"
    {
        printf 'GET %s/meta-data HTTP/1.1\r\n' "$base"
        timeout 60 cat "$BATS_TEST_TMPDIR/go" >/dev/null
        printf 'Host: x\r\n\r\n'
    } 3>&- | python3 -c "
import socket, sys
c = socket.create_connection(('127.0.0.1', $port))
open('$BATS_TEST_TMPDIR/connected', 'w').close()
while part := sys.stdin.buffer.raw.read(4096):
    c.sendall(part)
while part := c.recv(4096):
    sys.stdout.buffer.write(part)
" >"$BATS_TEST_TMPDIR/late" 3>&- &
    client=$!
    wait_until 30 test -e "$BATS_TEST_TMPDIR/connected"
    sleep 0.3
    kill -TERM "$imds"
    sleep 0.3
    # Nor is anybody else held up by it.
    fetch "$base/meta-data"
    expect 200 'instance-id: web1'
    echo >"$BATS_TEST_TMPDIR/go"
    wait "$client"
    [[ $(<"$BATS_TEST_TMPDIR/late") == 'HTTP/1.1 200 OK'*'instance-id: web1' ]]
    wait "$imds"
    imds=
    run -7 curl --silent "$url/healthz"
}

@test "waits for a slow reader before it ends" {
    head -c 16000000 /dev/urandom >"$docs/user-data"
    imds_publish
    imds_start --verbose
    python3 "$top_srcdir/tests/imds/raw.py" slow-read "$port" "$base/user-data" 20 \
        >"$BATS_TEST_TMPDIR/slow" 3>&- &
    client=$!
    wait_until 60 grep -q '200 for user-data' "$log"
    kill -TERM "$imds"
    SECONDS=0
    wait "$client"
    [[ $SECONDS -ge 15 ]]
    [[ $(<"$BATS_TEST_TMPDIR/slow") = "$(sha256sum <"$docs/user-data" | cut -d' ' -f1)" ]]
    wait "$imds"
    imds=
}

@test "an answer arrives whole, or the connection is reset" {
    head -c 8000000 /dev/urandom >"$docs/user-data"
    imds_publish
    for signal in KILL TERM; do
        imds_start
        coproc stall { exec python3 "$top_srcdir/tests/imds/raw.py" stall "$port" "$base/user-data" 3>&-; }
        # shellcheck disable=SC2154  # coproc sets it
        input=${stall[1]} client=$stall_PID
        # bash closes its own when the process ends.
        exec {output}<&"${stall[0]}"
        read -r -u "$output" line
        [[ $line = answered ]]
        kill "-$signal" "$imds"
        sleep 0.2
        kill "-$signal" "$imds" || :
        wait "$imds" || :
        imds=
        exec {input}>&-
        read -r -u "$output" line
        [[ $line = reset ]]
        wait "$client" || :
    done
}

@test "a second signal ends the server at once" {
    imds_start
    occupy 1
    fetch /healthz
    SECONDS=0
    kill -TERM "$imds"
    sleep 0.2
    kill -TERM "$imds"
    wait "$imds"
    imds=
    [[ $SECONDS -le 5 ]]
    vacate
}

@test "a restart loses no request and serves the same bytes" {
    activate 127.0.0.1
    fetch "$base/user-data"
    expect 200
    expected=$(grep -v '^Date:' <<<"$header")
    storm "$base/user-data" 90 0.02 >"$BATS_TEST_TMPDIR/storm" 3>&- &
    client=$!
    for ((i = 0; i < 5; i++)); do
        sleep 0.2
        kill -TERM "$server"
        await_activated
    done
    wait "$client"
    [[ $(<"$BATS_TEST_TMPDIR/storm") = '200 90' ]]
    fetch "$base/user-data"
    [[ $(grep -v '^Date:' <<<"$header") = "$expected" ]]
    deactivate
}

@test "says why it cannot listen, and what to do" {
    imds_start
    run virt-seed-imds --listen "127.0.0.1:$port" --root "$root"
    assert_refused 1 "could not listen on 127.0.0.1:$port" 'in use' "ss -ltnp 'sport = :$port'"
    run virt-seed-imds --listen 192.0.2.1:8080 --root "$root"
    assert_refused 1 '192.0.2.1:8080'
    run virt-seed-imds --listen '[2001:db8::1]:8080' --root "$root"
    assert_refused 1 '[2001:db8::1]:8080'
    run virt-seed-imds --listen localhost:80
    assert_refused 2 "'localhost:80' is not an address" 'for example 169.254.169.254:80'
    for text in 127.0.0.1 127.0.0.1: 127.0.0.1:65536 127.0.0.1:-1 127.0.0.1:http '[::1' '::1:80' :80 ''; do
        run virt-seed-imds --listen "$text"
        assert_refused 2 'expected ADDRESS:PORT'
    done
    run virt-seed-imds --root "$BATS_TEST_TMPDIR/nowhere"
    [[ $status -eq 1 && $output == *nowhere* ]]
    run -2 virt-seed-imds argument
    run -2 virt-seed-imds --unknown
}

@test "links no library that reads XML or speaks to libvirt" {
    run ! grep -E 'libvirt|libxml2|libisofs|libyaml|libjansson' < <(ldd "$(type -P virt-seed-imds)")
}

@test "listens on IPv6 and on several addresses" {
    [[ -e /proc/net/if_inet6 ]] || skip 'no IPv6 here'
    imds_start --listen '[::1]:0'
    other=$(sed -n 's/.*listening on \[::1\]:\([0-9]*\)$/\1/p' "$log")
    url="http://[::1]:$other"
    fetch "$base/meta-data" -g
    expect 200 'instance-id: web1'
}

@test "recognizes a guest if it listens on any address, and mentions firewalld" {
    imds_start
    # It answers when it has said all this.
    fetch /healthz
    run ! grep firewalld "$log"
    imds_stop
    imds_start --listen 0.0.0.0:0
    fetch /healthz
    other=$(sed -n 's/.*listening on 0\.0\.0\.0:\([0-9]*\)$/\1/p' "$log")
    grep -q "firewall-cmd.*--add-port=$other/tcp" "$log"
    url=http://127.0.0.1:$other
    fetch "$base/meta-data"
    expect 200 'instance-id: web1'
}

@test "recognizes an IPv4 guest on a socket for both IPv6 and IPv4" {
    [[ -e /proc/net/if_inet6 ]] || skip 'no IPv6 here'
    activate ::
    fetch "$base/meta-data"
    expect 200 'instance-id: web1'
    url="http://[::1]:$port"
    fetch "$base/meta-data" -g
    expect 200 'instance-id: web1'
    deactivate
}
