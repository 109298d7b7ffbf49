#!/usr/bin/env bats
# payload.bats: oVirt's payload, which is a complete seed.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# payload LABEL PATH TEXT...: a domain with such files, as the engine writes it.
payload() {
    local files='' label=$1

    shift
    while [[ $# -gt 0 ]]; do
        files+="<ovirt-vm:file path='$1'>$(printf '%s' "$2" | base64 -w 0)</ovirt-vm:file>"
        shift 2
    done
    cat <<END
<domain type='kvm' xmlns:ovirt-vm='http://ovirt.org/vm/1.0'>
  <name>web1</name>
  <uuid>$uuid</uuid>
  <metadata><ovirt-vm:vm><ovirt-vm:device devtype='disk' name='sdb'><ovirt-vm:payload>
    <ovirt-vm:volId>$label</ovirt-vm:volId>$files
  </ovirt-vm:payload></ovirt-vm:device></ovirt-vm:vm></metadata>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices><interface type='user'><mac address='$mac0'/></interface></devices>
</domain>
END
}

@test "the engine's payload is a ConfigDrive with interfaces(5) and files" {
    consume < <(payload config-2 openstack/latest/meta_data.json '{
  "uuid": "a7fb6e2c-2a1f-4d9c-9c1a-6f2f4d6b8a01", "hostname": "web2.example.org",
  "name": "web2.example.org", "launch_index": "0", "availability_zone": "nova",
  "public_keys": {"0": "'"$key"'"},
  "network_config": {"content_path": "/content/0000", "path": "/etc/network/interfaces"},
  "files": [{"content_path": "/content/0001", "path": "/tmp/testFile1.txt"}]
}' openstack/latest/user_data $'#cloud-config\ntimezone: Asia/Jerusalem\n' \
        openstack/content/0000 $'auto eth0\niface eth0 inet static\n  address 192.168.2.11
  netmask 255.255.255.0\n  gateway 192.168.2.1\n  dns-nameservers 192.0.2.53\n' \
        openstack/content/0001 'temp content')
    understood_text .datasource 'DataSourceConfigDrive [net,ver=2][source=/dev/sr0]'
    understood_text '.["instance-id"]' a7fb6e2c-2a1f-4d9c-9c1a-6f2f4d6b8a01
    understood_text .fqdn web2.example.org
    understood '.["public-keys"]' "[\"$key\"]"
    understood .config '{"timezone": "Asia/Jerusalem"}'
    understood '.files["/tmp/testFile1.txt"].content' '"temp content"'
    networkd eth0 Address=192.168.2.11/24 Gateway=192.168.2.1 DNS=192.0.2.53
    # cloud-init 24.3 would have another form, which the engine does not write.
    no_complaint 'Eni network configuration in ConfigDrive is deprecated'
}

@test "a payload with the label cidata is a NoCloud seed" {
    consume < <(payload cidata meta-data $'instance-id: "7"\nlocal-hostname: web3\n' \
        user-data $'#!/bin/sh\necho payload\n')
    understood '.datasource | startswith("DataSourceNoCloud ")' true
    understood_text '.["instance-id"]' 7
    understood_text .hostname web3
    understood .scripts '{"part-001": "#!/bin/sh\necho payload\n"}'
    no_complaint
}
