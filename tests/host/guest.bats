#!/usr/bin/env bats
# guest.bats: a guest with the real cloud-init on a whole host, from its start to the end of `virt-seed
# wait`. The host is itself an emulated machine, so this takes minutes.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"
load ../../scripts/guest/guest

guest=${VIRT_SEED_GUEST:?the directory that scripts/build-guest made}
web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
images=/var/lib/libvirt/images

# The guest comes to the host on a disk.
setup_file() {
    local folder=$BATS_FILE_TMPDIR/images

    mkdir "$folder"
    cp "$guest"/{vmlinuz,initrd.img,root.qcow2,cmdline} "$folder"
    (cd "$folder" && guest_overlay . web1)
    chmod 0644 "$folder"/*
    mke2fs -q -t ext4 -d "$folder" "$folder.raw" 2G
    host_boot -drive "file=$folder.raw,format=raw,if=virtio,cache=unsafe"
    on_host mount /dev/vdb $images
}

request() {
    cat <<END
<ci:cloud-init xmlns:ci="$namespace">
  <ci:hostname>web1.example.org</ci:hostname>
  <ci:user-data>#cloud-config
write_files:
  - {path: /etc/virt-seed-probe/file, content: on a whole host}
  </ci:user-data>
</ci:cloud-init>
END
}

# What the guest prints on its console.
assert_reported() {
    on_host cat $images/web1.console >"$BATS_TEST_TMPDIR/console"
    guest_report "$BATS_TEST_TMPDIR/console" | grep -xF -e "$1"
}

@test "virt-seed wait sees the guest's cloud-init finish" {
    # QEMU emulates AMD's virtualisation, which is faster than to emulate a machine in an emulated one.
    if on_host sh -c 'modprobe kvm_amd && udevadm settle && test -c /dev/kvm'; then
        export virt_type=kvm
    fi
    request | append=virt_seed_probe=stay guest_xml "$guest" web1 $web1 $images/web1.console |
        sed "s|$guest/|$images/|" |
        on_host sh -c 'virt-seed --quiet wire - >/root/wired.xml && virsh define /root/wired.xml'
    on_host virsh start web1
    seconds=3600 run -0 on_host virt-seed wait --timeout=3500 web1
    run -0 on_host virt-seed status --json web1
    echo "$output"
    jq -e '.[0] | .result == "done" and .errors == [] and .datasource == "nocloud"' <<<"$output"
    assert_no_denials
}

@test "the guest has what was requested" {
    wait_until 300 assert_reported 'text=/etc/virt-seed-probe/file: on a whole host'
    assert_reported 'hostname=web1'
    assert_reported "instance-id=$web1"
    assert_reported 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0]'
}
