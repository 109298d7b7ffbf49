#!/usr/bin/env bats
# imds.bats: cloud-init's own client fetches a seed from the metadata server.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"
# shellcheck source-path=SCRIPTDIR/../imds source=../imds/imds.bash
source "$BATS_TEST_DIRNAME/../imds/imds.bash"

setup() {
    imds=
    imds_setup
    imds_publish
    imds_start --verbose
}

teardown() {
    imds_stop
}

# read_seeded: prints what cloud-init's function of that name reads below $url, as JSON. It has its
# usual ten retries, of a second each.
read_seeded() {
    cloud_init_python -c '
import json, sys
from cloudinit import util
md, ud, vd = util.read_seeded(sys.argv[1], timeout=None)[:3]
print(json.dumps({"md": md, "ud": (ud or b"").decode(), "vd": (vd or b"").decode()}))' "$1"
}

@test "cloud-init reads its seed over HTTP and does not wait for missing documents" {
    run --separate-stderr read_seeded "$url/$uuid/$token/"
    [[ $status -eq 0 ]]
    imds_asks_once
    [[ $(jq -r '.md["instance-id"]' <<<"$output") = web1 ]]
    [[ $(jq -r .ud <<<"$output") = "$(<"$docs/user-data")" ]]
    [[ $(jq -r .vd <<<"$output") = '' ]]
}

@test "cloud-init reads vendor-data, and all of it" {
    head -c 500000 /dev/urandom | base64 | sed '1i #cloud-config' >"$docs/vendor-data"
    imds_publish
    run --separate-stderr read_seeded "$url/$uuid/$token/"
    [[ $(jq -j .vd <<<"$output" | sha256sum) = "$(sha256sum <"$docs/vendor-data")" ]]
}

@test "cloud-init's retries succeed across a restart of the server" {
    local client

    read_seeded "$url/$uuid/$token/" >"$BATS_TEST_TMPDIR/first"
    imds_stop
    read_seeded "$url/$uuid/$token/" >"$BATS_TEST_TMPDIR/second" 2>/dev/null 3>&- &
    client=$!
    sleep 1.5
    virt-seed-imds --listen "127.0.0.1:$port" --root "$root" >"$log" 2>&1 3>&- &
    imds=$!
    wait "$client"
    cmp "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
}
