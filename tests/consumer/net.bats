#!/usr/bin/env bats
# net.bats: the real cloud-init fetches, from the real metadata server, what the hook has published of a
# wired domain, by the URL in its serial; and understands cache="keep".

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"
# shellcheck source-path=SCRIPTDIR source=../imds/imds.bash
source "$BATS_TEST_DIRNAME/../imds/imds.bash"

setup() {
    imds=
    imds_setup
    install -d -m 0750 "$tree"
}

teardown() {
    imds_stop
}

# start REQUEST: a domain that asks so is wired for this server, and about to start. Its own serial
# number is "ABC 123".
start() {
    imds_start --verbose
    # A loopback address is none for guests; cloud-init is one that has the server there.
    coproc listener { exec python3 "$top_srcdir/tests/imds/raw.py" listen "$port" 192.0.2.1 3>&-; }
    read -r _ <&"${listener[0]}"
    echo "imds-address = 192.0.2.1:$port" >"$root$confdir/virt-seed.conf"
    domain_xml "$1" |
        sed -e "s|<ci:cloud-init |&datasource='nocloud-net' |" -e "s|<devices>|\
            <interface type='user'><mac address='$mac0'/></interface>|;s|<interface|<devices>&|" \
            -e "s|</os>|<smbios mode='sysinfo'/></os><sysinfo type='smbios'><system><entry \
            name='serial'>ABC 123</entry></system></sysinfo>|" |
        virt-seed --quiet --root="$root" wire - >"$BATS_TEST_TMPDIR/wired.xml"
    hook-in-root --root="$root" web1 prepare begin - <"$BATS_TEST_TMPDIR/wired.xml"
    serial=$(xmllint --xpath 'string(//entry[@name="serial"])' "$BATS_TEST_TMPDIR/wired.xml")
    serial=${serial/192.0.2.1/127.0.0.1}
}

# fetch_seed: prints, as JSON, what cloud-init makes of the serial, and what it fetches then.
fetch_seed() {
    cloud_init_python -c '
import json, sys
from cloudinit import util
from cloudinit.sources import DataSourceNoCloud
serial = {}
assert DataSourceNoCloud.parse_cmdline_data("ds=nocloud", serial, cmdline=sys.argv[1])
md, ud, vd = util.read_seeded(serial["seedfrom"], timeout=None)[:3]
print(json.dumps({"serial": serial, "md": md, "ud": ud.decode(), "vd": vd.decode()}))' \
        "$serial" >"$answer"
}

@test "cloud-init finds the URL in the serial and fetches what the hook has published" {
    start '<ci:hostname>web1.example.org</ci:hostname>
        <ci:meta-data><ci:entry name="environment">production</ci:entry></ci:meta-data>
        <ci:user-data>#cloud-config
{}</ci:user-data><ci:vendor-data>#!/bin/sh
true</ci:vendor-data>'
    fetch_seed
    imds_asks_once
    understood_text .serial.dsmode net
    understood .md "{\"instance-id\": \"$uuid\", \"local-hostname\": \"web1.example.org\",
        \"environment\": \"production\"}"
    for document in ud:user-data vd:vendor-data; do
        [[ $(jq -j ".${document%:*}" "$answer" | sha256sum) = \
            "$(virt-seed --root="$root" dump "$BATS_TEST_TMPDIR/wired.xml" "${document#*:}" | sha256sum)" ]]
    done
}

@test "a guest that has ended is no longer served" {
    start ''
    fetch_seed
    hook-in-root --root="$root" web1 release end - <"$BATS_TEST_TMPDIR/wired.xml"
    fetch "${serial#*":$port"}meta-data"
    expect 404
}

# keeps_cache: whether cloud-init, at its next boot, would stay with what it has read.
keeps_cache() {
    understood '.["vendor-config"].manual_cache_clean' true
}

@test "cache=\"keep\" makes cloud-init keep what it has read, whatever vendor-data is there" {
    consume_request '' 'cache="keep"'
    keeps_cache
    no_complaint
    consume_request '<ci:vendor-data>#cloud-config
timezone: UTC</ci:vendor-data>' 'cache="keep"'
    keeps_cache
    understood_text '.["vendor-config"].timezone' UTC
    no_complaint
    consume_request '' 'cache="keep" datasource="configdrive"'
    keeps_cache
    consume_request '<ci:vendor-data>#cloud-config
manual_cache_clean: false</ci:vendor-data>' 'cache="keep"'
    understood '.["vendor-config"].manual_cache_clean' false
}
