#!/usr/bin/env bats
# network.bats: the network's configuration, as cloud-init's renderers understand it.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

@test "without network-config, cloud-init uses its own fallback" {
    consume_request
    understood .network.source '"fallback"'
    understood '.network.config.ethernets | keys' '["eth0"]'
}

@test "version 2: finds an interface by its MAC, with and without a wrapper" {
    for wrapper in '' $'network:\n'; do
        consume_request "<ci:network-config>$wrapper ${wrapper:+ }version: 2
 ${wrapper:+ }ethernets: {lan: {match: {macaddress: '$mac1'}, dhcp4: true}}
</ci:network-config>"
        understood .network.source '"ds"'
        networkd eth1 "MACAddress=$mac1" 'DHCP=ipv4'
        sysconfig ifcfg-eth1 BOOTPROTO=dhcp "HWADDR=$mac1"
        eni 'iface eth1 inet dhcp'
        no_complaint
    done
}

@test "version 2: static addresses, routes, name servers and MTU" {
    consume_request "<ci:network-config>
version: 2
ethernets:
  lan:
    match: {macaddress: '$mac0'}
    mtu: 1400
    addresses: [192.0.2.10/24, '2001:db8::10/64']
    routes:
      - {to: 0.0.0.0/0, via: 192.0.2.1}
      - {to: '::/0', via: '2001:db8::1'}
    nameservers: {addresses: [192.0.2.53], search: [example.org]}
</ci:network-config>"
    networkd eth0 Address=192.0.2.10/24 Address=2001:db8::10/64 Gateway=192.0.2.1 \
        Gateway=2001:db8::1 DNS=192.0.2.53 Domains=example.org MTUBytes=1400
    sysconfig ifcfg-eth0 IPADDR=192.0.2.10 NETMASK=255.255.255.0 IPV6ADDR=2001:db8::10/64 \
        MTU=1400 DNS1=192.0.2.53
    eni '    address 192.0.2.10/24' '    address 2001:db8::10/64' '    mtu 1400'
    network_manager eth0 address1=192.0.2.10/24 address1=2001:db8::10/64 'dns=192.0.2.53;'
    no_complaint
}

@test "version 1: static addresses and name servers" {
    consume_request "<ci:network-config>
version: 1
config:
  - type: physical
    name: eth0
    mac_address: '$mac0'
    subnets:
      - {type: static, address: 192.0.2.10/24, gateway: 192.0.2.1}
      - {type: static6, address: '2001:db8::10/64'}
  - {type: nameserver, address: [192.0.2.53], search: [example.org]}
</ci:network-config>"
    networkd eth0 Address=192.0.2.10/24 Address=2001:db8::10/64 Gateway=192.0.2.1 DNS=192.0.2.53
    sysconfig ifcfg-eth0 IPADDR=192.0.2.10 GATEWAY=192.0.2.1 IPV6ADDR=2001:db8::10/64
    eni '    gateway 192.0.2.1'
    no_complaint
}

@test "config: disabled leaves the network alone" {
    consume_request '<ci:network-config>config: disabled</ci:network-config>'
    understood '.network | {source, config}' '{"source": "ds", "config": null}'
    no_complaint
}

@test "network-config in a secret works the same" {
    make_secret net networkdata "{version: 2, ethernets: {eth0: {dhcp6: true}}}"
    consume_request '<ci:network-config secret="net"/>'
    networkd eth0 DHCP=ipv6
    netplan_has '{"version": 2, "ethernets": {"eth0": {"dhcp6": true}}}'
    no_complaint
}

# Without netplan's own "generate", in VIRT_SEED_NETPLAN, nobody judges what cloud-init gives to netplan.
@test "the renderers of every cloud-init do with documents what the table says" {
    local name outcomes=$BATS_TEST_TMPDIR/outcomes table=$top_srcdir/tests/network-documents

    for name in bullseye bookworm trixie sid; do
        [[ -e $consumer/$name/manifest ]] || continue
        "$consumer/$name/python3" -B "$BATS_TEST_DIRNAME/render-networks.py" "$table" \
            ${VIRT_SEED_NETPLAN:+"$VIRT_SEED_NETPLAN"} | sed "s/^/$name /" >>"$outcomes"
    done
    awk -v netplan="${VIRT_SEED_NETPLAN-}" '
        NR == FNR { if (/^--- /) { verdict[$2] = $3; but[$2] = $4 } next }
        { seen[$2]++ }
        $4 != "address" { failed[$2]++ }
        verdict[$2] == "error" && $4 == "address" && but[$2] != "but-" $1 { print; wrong = 1 }
        verdict[$2] !~ /^(error|network-renderer)$/ && $4 != "address" { print; wrong = 1 }
        END {
            for (name in verdict)
                if (!seen[name] || (netplan && verdict[name] == "network-renderer" && !failed[name])) {
                    print name, "is not judged, or never fails"; wrong = 1
                }
            exit wrong
        }' "$table" "$outcomes"
}
