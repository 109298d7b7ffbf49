#!/usr/bin/env bats
# boot.bats: a whole host with guests that start with it is switched off and on: one has its seed on a disk,
# one fetches it, one uses virt-seed-qemu.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

disk1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
served1=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
shim1=0b5c9d1f-7a10-4b5e-9a53-0d1f5f3a6a4b

# The guests here cannot react to a shutdown request, so libvirt-guests does not wait for them.
setup_file() {
    host_start
    host_allow_shim
    on_host sh -c 'cat >>/etc/default/libvirt-guests' <<'END'
SHUTDOWN_TIMEOUT=5
PARALLEL_SHUTDOWN=3
END
    on_host systemctl enable --now virt-seed-imds.socket virt-seed-imds.service
    metadata=$(request) tiny_xml disk1 $disk1 | define_started
    metadata=$(request "datasource='nocloud-net'") interface=default tiny_xml served1 $served1 |
        define_started
    metadata=$(request) emulator=/usr/bin/virt-seed-qemu-system-x86_64 tiny_xml shim1 $shim1 |
        define_started
}

request() {
    echo "<ci:cloud-init xmlns:ci='$namespace' $*/>"
}

define_started() {
    on_host sh -c 'virt-seed --quiet wire - >/root/wired.xml && virsh define /root/wired.xml'
    # shellcheck disable=SC2016  # the variable is the host's
    on_host sh -c 'name=$(sed -n "s|.*<name>\(.*\)</name>|\1|p" /root/wired.xml) &&
        virsh autostart "$name" && virsh start "$name"'
}

all_run() {
    [[ $(on_host virsh list --name | grep . | sort | paste -sd ' ') = 'disk1 served1 shim1' ]]
}

# All three run, with seeds made since this boot of the host.
assert_seeded() {
    wait_until 1200 all_run
    on_host test -e /run/libvirt/virt-seed/$disk1.iso
    on_host test -e /run/libvirt/virt-seed/$shim1.libvirt-$shim1
    on_host test -e /run/libvirt/virt-seed/imds/$served1/meta-data
    on_host curl -fsS --max-time 60 http://169.254.169.254/healthz
    run -0 on_host virt-seed status --json
    jq -e 'length == 3 and all(.state == "running" and .seed)' <<<"$output"
    assert_no_denials
}

@test "the guests run with their seeds" {
    assert_seeded
}

@test "after a reboot of the host they run again with their seeds" {
    on_host systemctl reboot || :
    vm_wait_off 300
    vm_boot "$host" "$vm/disk.qcow2"
    vm_login 1500
    assert_seeded
}

@test "virtlogd opens nothing of virt-seed's for a device that is attached" {
    on_host sh -c 'echo secret >/etc/virt-seed/secrets/victim'
    for path in /etc/virt-seed/secrets/victim /run/libvirt/virt-seed/$disk1.iso /var/lib/virt-seed/$disk1.json; do
        digest=$(on_host sha256sum "$path")
        run on_host virsh attach-device disk1 /dev/stdin <<END
<channel type='file'><source path='$path'/><target type='virtio' name='org.example.1'/></channel>
END
        [[ $status -ne 0 && $(on_host sha256sum "$path") = "$digest" ]]
    done
    # What it may write to, it still does.
    on_host virsh attach-device disk1 /dev/stdin <<'END'
<channel type='file'><source path='/var/log/libvirt/qemu/disk1.more'/><target type='virtio' name='org.example.1'/></channel>
END
    on_host rm /etc/virt-seed/secrets/victim
}

@test "after a power cut they run again with their seeds" {
    vm_kill
    vm_boot "$host" "$vm/disk.qcow2"
    vm_login 1500
    assert_seeded
}
