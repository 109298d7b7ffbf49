#!/usr/bin/env bats
# configdrive.bats: what cloud-init understands of a ConfigDrive.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

consume_drive() {
    consume_request "$1" 'datasource="configdrive"'
}

@test "cloud-init finds a ConfigDrive by its label, after the network is up" {
    consume_drive
    understood .identified '["ConfigDrive", "None"]'
    understood_text .datasource 'DataSourceConfigDrive [net,ver=2][source=/dev/sr0]'
    no_complaint
}

@test "the instance-id is not the domain's UUID, and differs between requests" {
    consume_drive
    understood ".[\"instance-id\"] | test(\"^[0-9a-f-]{36}\$\") and . != \"$uuid\"" true
    first=$(jq '.["instance-id"]' "$answer")
    consume_drive '<ci:hostname>other</ci:hostname>'
    understood '.["instance-id"]' "$first"
    consume_drive '<ci:instance-id policy="fixed">2</ci:instance-id>'
    understood_text '.["instance-id"]' 2
    understood '.["meta-data"].instance_id' '"2"'
}

@test "the guest gets host name, instance type and keys" {
    consume_drive "<ci:hostname>web1.example.org</ci:hostname>
        <ci:instance-type>m1.small</ci:instance-type>
        <ci:ssh-authorized-keys><ci:key>$key one</ci:key><ci:key>$key two</ci:key>
        </ci:ssh-authorized-keys>"
    understood_text .hostname web1
    understood_text .fqdn web1.example.org
    understood '.["public-keys"]' "[\"$key one\", \"$key two\"]"
    understood '.["meta-data"].instance_type' '"m1.small"'
    no_complaint
}

@test "eleven keys stay in order" {
    local body='' number keys=()

    for number in {0..10}; do
        keys+=("$key $number")
        body+="<ci:key>$key $number</ci:key>"
    done
    consume_drive "<ci:ssh-authorized-keys>$body</ci:ssh-authorized-keys>"
    understood '.["public-keys"]' "$(jq -n '$ARGS.positional' --args "${keys[@]}")"
}

@test "the guest can query metadata entries, whatever they look like" {
    make_secret meta token $'line\n"quoted" \\ \x01\x7f\n'
    consume_drive '<ci:meta-data secret="meta"><ci:entry name="role">010</ci:entry>
        <ci:entry name="text">grüße &#x85;&#x2028; {{ x }}</ci:entry></ci:meta-data>'
    understood '.["meta-data"].role' '"010"'
    understood_text '.["meta-data"].text' $'grüße \u0085\u2028 {{ x }}'
    understood_text '.["meta-data"].token' $'line\n"quoted" \\ \x01\x7f\n'
    no_complaint
}

@test "user-data and vendor-data work as from any other datasource" {
    consume_drive '<ci:user-data>#cloud-config
timezone: Europe/Zurich
</ci:user-data><ci:user-data>#!/bin/sh
echo grüße
</ci:user-data><ci:vendor-data>#cloud-config
package_update: true
timezone: UTC
</ci:vendor-data>'
    understood .config '{"timezone": "Europe/Zurich", "package_update": true}'
    understood '.scripts | map(.)' '["#!/bin/sh\necho grüße\n"]'
    no_complaint
}

@test "the guest gets the domain's vendor-data and the host's" {
    mkdir -p "$root$confdir/files"
    echo 'vendor-data = all.yaml' >"$root$confdir/virt-seed.conf"
    printf '#cloud-config\nlocale: C.UTF-8\n' >"$root$confdir/files/all.yaml"
    consume_drive '<ci:vendor-data>#!/bin/sh
echo "vendor é"
</ci:vendor-data>'
    understood '.["vendor-config"]' '{"locale": "C.UTF-8"}'
    understood '.scripts | map(.)' '["#!/bin/sh\necho \"vendor é\"\n"]'
    no_complaint
}

@test "cloud-init renders network_data.json" {
    consume_drive "<ci:network-config>
{\"links\": [{\"id\": \"a\", \"type\": \"phy\", \"ethernet_mac_address\": \"$mac1\", \"mtu\": 1400}],
 \"networks\": [{\"id\": \"n\", \"link\": \"a\", \"type\": \"ipv4\", \"ip_address\": \"192.0.2.10\",
   \"netmask\": \"255.255.255.0\", \"routes\": [{\"network\": \"0.0.0.0\", \"netmask\": \"0.0.0.0\",
   \"gateway\": \"192.0.2.1\"}]}],
 \"services\": [{\"type\": \"dns\", \"address\": \"192.0.2.53\"}]}
</ci:network-config>"
    understood .network.source '"ds"'
    networkd eth1 Address=192.0.2.10/24 Gateway=192.0.2.1 DNS=192.0.2.53 MTUBytes=1400
    sysconfig ifcfg-eth1 IPADDR=192.0.2.10 MTU=1400
    no_complaint
}

@test "other programs can read the administrator's password" {
    make_secret windows admin "p\"ä\\ss"
    consume_drive '<ci:admin-password secret="windows" key="admin"/>'
    understood_text '.["meta-data"].admin_pass' "p\"ä\\ss"
    no_complaint
}
