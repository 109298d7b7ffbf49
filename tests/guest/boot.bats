#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# boot.bats: a real guest with the real cloud-init applies what its domain's metadata asks for.
#
# The guests boot side by side before the first test; the tests look at what each reported.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

serial_uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
label_uuid=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
ide_uuid=c2a1f0de-9a76-4d0b-9c6b-0c7b2bd3ce11
drive_uuid=e5b1b2d6-7f0c-4b57-9d53-0f4f1c9e6a02

key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx alice@example.org'
# The hash of "correct horse".
# shellcheck disable=SC2016  # no variables
hash='$6$seed$bpMIJyaGDXAu6s9aSD0jrlWdAQzoBtoxUYGUNsKoFFaTgQp5e/Xkdln2te6RrKrjiSwODK5NdtO6WKnXVq6Md/'

# A request with everything that it can have; user-data from a secret, vendor-data from a file.
metadata_serial() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
  <ci:hostname>web1.example.org</ci:hostname>
  <ci:instance-id policy="fixed">i-web1-0001</ci:instance-id>
  <ci:ssh-authorized-keys><ci:key>$key</ci:key></ci:ssh-authorized-keys>
  <ci:user-data secret="web1"/>
  <ci:vendor-data file="site/base.yaml"/>
  <ci:meta-data><ci:entry name="environment">production</ci:entry></ci:meta-data>
  <ci:network-config>
version: 2
ethernets:
  first:
    match: {name: "e*"}
    dhcp4: true
    addresses: ["192.0.2.17/24"]
  </ci:network-config>
</ci:cloud-init>
END
}

user_data() {
    cat <<END
#cloud-config
users:
  - default
  - name: alice
    shell: /bin/bash
    ssh_authorized_keys: ["$key"]
timezone: Europe/Zurich
write_files:
  - path: /etc/virt-seed-probe/secret
    permissions: "0600"
    content: "from the secret"
END
}

# User-data does not set runcmd, so the vendor's is kept.
vendor_data() {
    cat <<'END'
#cloud-config
runcmd:
  - mkdir -p /etc/virt-seed-probe
  - echo "from the vendor" >/etc/virt-seed-probe/vendor
END
}

metadata_ide() {
    cat <<'END'
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
  <ci:user-data>
    #cloud-config
    timezone: Asia/Tokyo
  </ci:user-data>
</ci:cloud-init>
END
}

# A ConfigDrive: the network of the interfaces, a user, files, and metadata to query.
metadata_drive() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1" datasource="configdrive">
  <ci:ssh-authorized-keys secret="team"/>
  <ci:meta-data secret="drive-meta"><ci:entry name="role">database</ci:entry></ci:meta-data>
  <ci:network-config from="interfaces">
    <ci:interface mac="52:54:00:00:00:0a" mtu="1400">
      <ci:address>192.0.2.10/24</ci:address><ci:address>2001:db8::10/64</ci:address>
      <ci:gateway>192.0.2.1</ci:gateway><ci:gateway>2001:db8::1</ci:gateway>
      <ci:nameserver>192.0.2.53</ci:nameserver><ci:search>example.org</ci:search>
    </ci:interface>
  </ci:network-config>
  <ci:initialization>
    <ci:host_name>drive1.example.org</ci:host_name>
    <ci:timezone>Asia/Tokyo</ci:timezone>
    <ci:users><ci:user>
      <ci:user_name>alice</ci:user_name><ci:password secret="drive" key="alice"/>
    </ci:user></ci:users>
    <ci:authorized_keys><ci:authorized_key>
      <ci:user><ci:user_name>alice</ci:user_name></ci:user><ci:key>$key</ci:key>
    </ci:authorized_key></ci:authorized_keys>
    <ci:files><ci:file>
      <ci:name>/etc/virt-seed-probe/plain</ci:name><ci:content>from the drive</ci:content>
    </ci:file></ci:files>
  </ci:initialization>
  <ci:user-data>#!/bin/sh
cd /etc/virt-seed-probe || exit
cloud-init query -f '{{ ds.meta_data.role }} in {{ ds.meta_data.region }}' >query
getent shadow alice | cut -d: -f2 >password
{ ip route show default; ip -6 route show default; ip link show eth0; } >network
  </ci:user-data>
</ci:cloud-init>
END
}

# By the label alone: the example of oVirt's design page, with a key that is one; a script in base64.
metadata_label() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1" serial="no">
  <ci:initialization>
    <ci:host><ci:address>cloudInitInstanceName</ci:address></ci:host>
    <ci:authorized_keys><ci:authorized_key>
      <ci:user><ci:user_name>root</ci:user_name></ci:user><ci:key>$key</ci:key>
    </ci:authorized_key></ci:authorized_keys>
    <ci:regenerate_ssh_keys>true</ci:regenerate_ssh_keys>
    <ci:timezone>Asia/Jerusalem</ci:timezone>
    <ci:users><ci:user>
      <ci:user_name>root</ci:user_name><ci:password>myPass</ci:password>
    </ci:user></ci:users>
    <ci:dns_search>qa.lab redhat.com</ci:dns_search>
    <ci:dns_servers>8.8.8.8 127.0.0.1</ci:dns_servers>
    <ci:nic_configurations>
      <ci:nic_configuration>
        <ci:name>eth0</ci:name>
        <ci:boot_protocol>static</ci:boot_protocol>
        <ci:ip>
          <ci:address>192.168.2.11</ci:address>
          <ci:netmask>255.255.255.0</ci:netmask>
          <ci:gateway>192.168.2.1</ci:gateway>
        </ci:ip>
        <ci:ipv6_boot_protocol>static</ci:ipv6_boot_protocol>
        <ci:ipv6>
          <ci:address>2001::1234</ci:address>
          <ci:netmask>64</ci:netmask>
          <ci:gateway>2001::fffa</ci:gateway>
        </ci:ipv6>
        <ci:on_boot>true</ci:on_boot>
      </ci:nic_configuration>
      <ci:nic_configuration>
        <ci:name>eth1</ci:name>
        <ci:boot_protocol>dhcp</ci:boot_protocol>
        <ci:ipv6_boot_protocol>none</ci:ipv6_boot_protocol>
      </ci:nic_configuration>
      <ci:nic_configuration>
        <ci:name>eth2</ci:name>
        <ci:boot_protocol>none</ci:boot_protocol>
        <ci:ipv6_boot_protocol>autoconf</ci:ipv6_boot_protocol>
        <ci:on_boot>true</ci:on_boot>
      </ci:nic_configuration>
    </ci:nic_configurations>
    <ci:files><ci:file>
      <ci:name>/tmp/testFile1.txt</ci:name>
      <ci:content>temp content</ci:content>
      <ci:type>PLAINTEXT</ci:type>
    </ci:file></ci:files>
  </ci:initialization>
  <ci:user-data encoding="base64">$(label_script | base64)</ci:user-data>
</ci:cloud-init>
END
}

label_script() {
    cat <<'END'
#!/bin/sh
mkdir -p /etc/virt-seed-probe
cd /etc/virt-seed-probe || exit
cp /tmp/testFile1.txt file
{ ip route show default; ip -6 route show default; ip -o address show eth2; } >network
perl -e 'my $word = (getpwnam "root")[1];
print crypt("myPass", $word) eq $word ? "yes\n" : "no\n"' >password
END
}

# nics MAC...: prints interfaces with these addresses.
nics() {
    printf "<interface type='user'><mac address='%s'/><model type='virtio'/></interface>" "$@"
}

setup_file() {
    common_start_lab
    lab_make_secret web1 userdata "$(user_data)"
    lab_run install -d /etc/virt-seed/files/site
    vendor_data | lab_run install -m 0644 /dev/stdin /etc/virt-seed/files/site/base.yaml

    lab_make_secret team alice "$key"
    lab_make_secret drive alice "$hash"
    lab_make_secret drive-meta region eu-1

    start_guest by-serial $serial_uuid
    machine=pc root_bus=ide start_guest by_ide $ide_uuid
    interfaces=$(nics 52:54:00:00:00:0a) start_guest drive $drive_uuid
    interfaces=$(nics 52:54:00:00:00:0a 52:54:00:00:00:0b 52:54:00:00:00:0c) \
        start_guest by-label $label_uuid
    for name in by-serial by-label by_ide drive; do
        wait_for_report "$name"
    done
}

# start_guest NAME UUID: the first start is refused, then the hook wires the domain.
start_guest() {
    local name=$1 uuid=$2

    guest_overlay "$images" "$name"
    "metadata_${name#by?}" | guest_xml "$images" "$name" "$uuid" "$(console "$name")" |
        lab_virsh define --validate /dev/stdin
    virt_seed wire "$name"
    lab_virsh start "$name"
}

# The network as the guest's own script saw it has such lines.
assert_network() {
    local name=$1 pattern report

    shift
    report=$(last_report "$name")
    for pattern; do
        if ! grep -qE -e "^text=/etc/virt-seed-probe/network: $pattern" <<<"$report"; then
            echo "missing: $pattern"
            echo "$report"
            return 1
        fi
    done
}

@test "by serial and label: cloud-init uses the seed, after the network is up" {
    assert_reported by-serial 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0]' \
        'errors=[]' 'instance-id=i-web1-0001' 'product_serial=ds=nocloud;dsmode=net'
}

@test "by serial and label: host name, user, keys and time zone" {
    assert_reported by-serial 'hostname=web1' \
        'user=alice:1000:/home/alice:/bin/bash' "authorized_keys=alice: $key" \
        "authorized_keys=debian: $key" 'timezone=Europe/Zurich'
}

@test "by serial and label: files from a secret's user-data and a file's vendor-data" {
    assert_reported by-serial 'text=/etc/virt-seed-probe/secret: from the secret' \
        'text=/etc/virt-seed-probe/vendor: from the vendor'
}

@test "by serial and label: the requested network" {
    assert_reported by-serial 'address=eth0 192.0.2.17/24'
}

@test "by serial and label: metadata entries" {
    run -0 last_report by-serial
    [[ $output = *'"environment":"production"'* ]]
    [[ $output = *'"local-hostname":"web1.example.org"'* ]]
}

@test "by label only: cloud-init uses the seed" {
    assert_reported by-label 'datasource=DataSourceNoCloud [seed=/dev/sr0]' \
        'errors=[]' "instance-id=$label_uuid"
}

@test "on IDE: cloud-init uses the seed" {
    assert_reported by_ide 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0]' \
        'errors=[]' "instance-id=$ide_uuid" 'hostname=by-ide' 'timezone=Asia/Tokyo'
}

@test "a ConfigDrive: cloud-init uses the seed, after the network is up" {
    assert_reported drive 'datasource=DataSourceConfigDrive [net,ver=2][source=/dev/sr0]' \
        'errors=[]' 'hostname=drive1' 'timezone=Asia/Tokyo'
}

@test "a ConfigDrive: static IPv4 and IPv6 addresses, with routes and MTU" {
    assert_reported drive 'address=eth0 192.0.2.10/24' 'address=eth0 2001:db8::10/64'
    assert_network drive 'default via 192.0.2.1 dev eth0 ' 'default via 2001:db8::1 dev eth0 ' \
        '.* eth0: .* mtu 1400 '
}

@test "a ConfigDrive: a user with password and keys, and a secret's keys" {
    assert_reported drive 'user=alice:1000:/home/alice:/bin/sh' "authorized_keys=alice: $key" \
        "authorized_keys=debian: $key" "text=/etc/virt-seed-probe/password: $hash"
}

@test "a ConfigDrive: files, and metadata for programs in the guest" {
    assert_reported drive 'text=/etc/virt-seed-probe/plain: from the drive' \
        'text=/etc/virt-seed-probe/query: database in eu-1'
}

@test "by label only, oVirt's example: name, time zone, root's key and password, a file" {
    assert_reported by-label 'hostname=cloudInitInstanceName' 'timezone=Asia/Jerusalem' \
        "authorized_keys=root: $key" 'text=/etc/virt-seed-probe/password: yes' \
        'text=/etc/virt-seed-probe/file: temp content'
}

@test "by label only, oVirt's example: its three nics" {
    assert_reported by-label 'address=eth0 192.168.2.11/24' 'address=eth0 2001::1234/64' \
        'address=eth1 10.0.2.15/24'
    # QEMU's routers also announce themselves, so the default route of IPv6 has several hops.
    assert_network by-label 'default via 192.168.2.1 dev eth0 ' \
        '(default|.*nexthop) via 2001::fffa dev eth0 ' '.* eth2 .* inet6 fec0:'
    run -1 grep -F 'address=eth2 ' <(last_report by-label)
}

all_are_off() {
    [[ -z $(lab_virsh list --name) ]]
}

@test "a guest that has powered off leaves no seed" {
    wait_until 60 all_are_off
    run -0 lab_run find /run/libvirt/virt-seed -mindepth 1
    [[ $output = "" ]]
}
