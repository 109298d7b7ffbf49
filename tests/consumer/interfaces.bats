#!/usr/bin/env bats
# interfaces.bats: the network that is made of the domain's own interfaces, from both data sources.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# from_interfaces DATASOURCE [BODY]
from_interfaces() {
    consume_request "<ci:network-config from='interfaces'>${2-}</ci:network-config>" \
        "datasource='$1'"
}

@test "every interface uses DHCP by default" {
    for datasource in nocloud configdrive; do
        from_interfaces "$datasource"
        understood .network.source '"ds"'
        networkd eth0 "MACAddress=$mac0" 'DHCP=ipv4'
        networkd eth1 "MACAddress=$mac1" 'DHCP=ipv4'
        sysconfig ifcfg-eth0 BOOTPROTO=dhcp "HWADDR=$mac0"
        eni 'iface eth0 inet dhcp' 'iface eth1 inet dhcp'
        network_manager eth1 "mac-address=${mac1^^}" method=auto
        no_complaint
    done
}

@test "interfaces found by MAC or alias get their addresses, name servers and MTU" {
    for datasource in nocloud configdrive; do
        for interface in "mac='${mac1^^}'" "alias='ua-lan'" "alias='lan'"; do
            from_interfaces "$datasource" "<ci:interface $interface mtu='1400'>
                <ci:address>192.0.2.10/24</ci:address><ci:address>2001:db8::10/64</ci:address>
                <ci:gateway>192.0.2.1</ci:gateway>
                <ci:nameserver>192.0.2.53</ci:nameserver><ci:nameserver>2001:db8::53</ci:nameserver>
                <ci:route to='198.51.100.0/24' via='192.0.2.254'/>
                <ci:route to='2001:db8:1::/48' via='2001:db8::2'/></ci:interface>"
            networkd eth0 'DHCP=ipv4'
            networkd eth1 "MACAddress=$mac1" Address=192.0.2.10/24 Address=2001:db8::10/64 \
                Destination=0.0.0.0/0 Gateway=192.0.2.1 'DNS=192.0.2.53 2001:db8::53' \
                MTUBytes=1400 Destination=198.51.100.0/24 Gateway=192.0.2.254 \
                Destination=2001:db8:1::/48 Gateway=2001:db8::2
            sysconfig ifcfg-eth1 IPADDR=192.0.2.10 NETMASK=255.255.255.0 GATEWAY=192.0.2.1 \
                IPV6ADDR=2001:db8::10/64 MTU=1400 DNS1=192.0.2.53
            sysconfig route-eth1 ADDRESS0=198.51.100.0 GATEWAY0=192.0.2.254
            sysconfig route6-eth1 '2001:db8:1::/48 via 2001:db8::2  dev eth1'
            eni '    address 192.0.2.10/24' '    address 2001:db8::10/64' '    mtu 1400'
            network_manager eth1 address1=192.0.2.10/24 address1=2001:db8::10/64
            no_complaint
        done
    done
}

@test "netplan gets what the request says, including the metric" {
    from_interfaces nocloud "<ci:interface mac='$mac0' dhcp4='no' optional='yes'
        accept-ra='no'>
        <ci:address>2001:db8::10/64</ci:address><ci:gateway>2001:db8::1</ci:gateway>
        <ci:nameserver>2001:db8::53</ci:nameserver>
        <ci:search>example.org</ci:search><ci:search>example.net</ci:search>
        <ci:route to='2001:db8:1::/48' via='2001:db8::2' metric='50'/></ci:interface>
        <ci:interface mac='$mac1' dhcp4='no' dhcp6='yes' accept-ra='yes'/>"
    netplan_has '{"version": 2, "ethernets": {
        "nic0": {"match": {"macaddress": "'$mac0'"}, "dhcp4": false, "dhcp6": false,
            "accept-ra": false, "optional": true, "addresses": ["2001:db8::10/64"],
            "nameservers": {"addresses": ["2001:db8::53"], "search": ["example.org", "example.net"]},
            "routes": [{"to": "::/0", "via": "2001:db8::1"},
                {"to": "2001:db8:1::/48", "via": "2001:db8::2", "metric": 50}]},
        "nic1": {"match": {"macaddress": "'$mac1'"}, "dhcp4": false, "dhcp6": true,
            "accept-ra": true}}}'
    no_complaint
}

# NetworkManager adds what is missing by itself; the others do not understand on-link.
@test "a gateway of another network is declared to be on the link" {
    from_interfaces nocloud "<ci:interface mac='$mac0' dhcp4='no'>
        <ci:address>192.0.2.10/32</ci:address><ci:gateway>198.51.100.1</ci:gateway></ci:interface>
        <ci:interface mac='$mac1' dhcp4='no'/>"
    netplan_has '{"version": 2, "ethernets": {
        "nic0": {"match": {"macaddress": "'$mac0'"}, "dhcp4": false, "dhcp6": false,
            "addresses": ["192.0.2.10/32"],
            "routes": [{"to": "0.0.0.0/0", "via": "198.51.100.1", "on-link": true}]},
        "nic1": {"match": {"macaddress": "'$mac1'"}, "dhcp4": false, "dhcp6": false}}}'
    network_manager eth0 address1=192.0.2.10/32
    networkd eth0 Address=192.0.2.10/32 Gateway=198.51.100.1
    sysconfig ifcfg-eth0 GATEWAY=198.51.100.1
    no_complaint
}

@test "a ConfigDrive gives netplan the same addresses, routes and name servers" {
    from_interfaces configdrive "<ci:interface mac='$mac0'>
        <ci:address>192.0.2.10/24</ci:address><ci:address>2001:db8::10/64</ci:address>
        <ci:gateway>192.0.2.1</ci:gateway><ci:gateway>2001:db8::1</ci:gateway>
        <ci:nameserver>192.0.2.53</ci:nameserver></ci:interface>"
    jq -r '.network.netplan[]' "$answer" | yaml_to_json |
        jq -e '.network.ethernets.eth0 | (.addresses | sort) == ["192.0.2.10/24", "2001:db8::10/64"] and
            (.routes | map("\(.to) \(.via)") | sort) ==
                ["0.0.0.0/0 192.0.2.1", "::/0 2001:db8::1"] and
            .nameservers.addresses == ["192.0.2.53"]'
    no_complaint
}

@test "configures DHCP for IPv6" {
    for datasource in nocloud configdrive; do
        from_interfaces "$datasource" "<ci:interface mac='$mac0' dhcp4='yes' dhcp6='yes'/>"
        networkd eth0 DHCP=yes
        sysconfig ifcfg-eth0 BOOTPROTO=dhcp DHCPV6C=yes
        eni 'iface eth0 inet dhcp' 'iface eth0 inet6 dhcp'
        no_complaint
    done
}

@test "an interface without addresses and DHCP is up without an address" {
    for datasource in nocloud configdrive; do
        from_interfaces "$datasource" "<ci:interface mac='$mac0' dhcp4='no'/>"
        understood '.network.networkd["etc/systemd/network/10-cloud-init-eth0.network"] |
            test("DHCP=(yes|ipv4|ipv6)|Address=[^0-9a-f]*[0-9]+[.]")' false
        networkd eth1 DHCP=ipv4
        no_complaint
    done
}
