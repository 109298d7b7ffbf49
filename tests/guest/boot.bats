#!/usr/bin/env bats
# boot.bats: a real guest with the real cloud-init applies what its domain's metadata asks for.
#
# The guests boot side by side before the first test; the tests look at what each reported.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
guest=${VIRT_SEED_GUEST:?the directory that scripts/build-guest made}

# Under software emulation on a slow machine; a boot takes half a minute otherwise.
boot_seconds=400

serial_uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
label_uuid=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
ide_uuid=c2a1f0de-9a76-4d0b-9c6b-0c7b2bd3ce11

key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx alice@example.org'

# Everything a request can say, user-data from a secret, vendor-data from a file.
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

# runcmd is no list that user-data sets: the vendor's is kept.
vendor_data() {
    cat <<'END'
#cloud-config
runcmd:
  - mkdir -p /etc/virt-seed-probe
  - echo "from the vendor" >/etc/virt-seed-probe/vendor
END
}

# By the label alone, a script in base64, everything else left to its default.
metadata_label() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1" serial="no">
  <ci:user-data encoding="base64">$(base64 <<<'#!/bin/sh
mkdir -p /etc/virt-seed-probe
echo "from the script" >/etc/virt-seed-probe/script')</ci:user-data>
</ci:cloud-init>
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

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    LAB_HOOK=$builddir/virt-seed-hook lab_start
    export images=$LAB_DIR/root/var/lib/libvirt/images

    guest_provide "$guest" "$images"
    lab_run install -d -m 0700 /etc/virt-seed/secrets /etc/virt-seed/secrets/web1
    lab_run install -d /etc/virt-seed/files/site
    user_data | lab_run install -m 0600 /dev/stdin /etc/virt-seed/secrets/web1/userdata
    vendor_data | lab_run install -m 0644 /dev/stdin /etc/virt-seed/files/site/base.yaml

    start_guest by-serial $serial_uuid
    start_guest by-label $label_uuid
    machine=pc root_bus=ide start_guest by_ide $ide_uuid
    wait_for_guests by-serial by-label by_ide
}

teardown_file() {
    lab_stop
}

# start_guest NAME UUID: refused at first, then wired by the hook.
start_guest() {
    local name=$1 uuid=$2

    guest_overlay "$images" "$name"
    "metadata_${name#by?}" | guest_xml "$images" "$name" "$uuid" "$(console "$name")" |
        lab_virsh define --validate /dev/stdin
    lab_run "$builddir/virt-seed" wire "$name"
    lab_virsh start "$name"
}

console() {
    echo "$images/$1.console"
}

wait_for_guests() {
    local name second

    for ((second = 0; second < boot_seconds; second++)); do
        for name; do
            guest_has_reported "$(console "$name")" || break
        done
        if guest_has_reported "$(console "$name")"; then
            return
        fi
        sleep 1
    done
    echo "a guest did not report within $boot_seconds seconds" >&2
    tail -n 30 "$images"/*.console >&2
    return 1
}

# Each argument is a line of the guest's report.
assert_reported() {
    local name=$1 line report

    shift
    report=$(guest_report "$(console "$name")")
    for line; do
        if ! grep -qxF -e "$line" <<<"$report"; then
            echo "missing: $line"
            echo "$report"
            return 1
        fi
    done
}

@test "by serial and label: cloud-init takes the seed, after the network is up" {
    assert_reported by-serial 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0][dsmode=net]' \
        'errors=[]' 'instance-id=i-web1-0001' 'product_serial=ds=nocloud;dsmode=net'
}

@test "by serial and label: host name, user, keys and time zone" {
    assert_reported by-serial 'hostname=web1' \
        'user=alice:1000:/home/alice:/bin/bash' "authorized_keys=alice: $key" \
        "authorized_keys=debian: $key" 'timezone=Europe/Zurich'
}

@test "by serial and label: files of user-data from a secret and vendor-data from a file" {
    assert_reported by-serial 'text=/etc/virt-seed-probe/secret: from the secret' \
        'text=/etc/virt-seed-probe/vendor: from the vendor'
}

@test "by serial and label: the network as asked for" {
    assert_reported by-serial 'address=eth0 192.0.2.17/24'
}

@test "by serial and label: own metadata" {
    run -0 guest_report "$(console by-serial)"
    [[ $output = *'"environment":"production"'* ]]
    [[ $output = *'"local-hostname":"web1.example.org"'* ]]
}

@test "by label alone: cloud-init takes the seed" {
    assert_reported by-label 'datasource=DataSourceNoCloud [seed=/dev/sr0][dsmode=net]' \
        'errors=[]' "instance-id=$label_uuid" 'hostname=by-label'
}

@test "by label alone: the script ran" {
    assert_reported by-label 'text=/etc/virt-seed-probe/script: from the script'
}

@test "on IDE: cloud-init takes the seed" {
    assert_reported by_ide 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0][dsmode=net]' \
        'errors=[]' "instance-id=$ide_uuid" 'hostname=by-ide' 'timezone=Asia/Tokyo'
}

@test "a guest that has powered off leaves no seed" {
    local round

    for round in {1..100}; do
        [[ -n $(lab_virsh list --name) ]] || break
        sleep 0.2
    done
    echo "rounds: $round"
    run -0 lab_run find /run/libvirt/virt-seed -mindepth 1
    [[ $output = "" ]]
}
