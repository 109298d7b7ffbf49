#!/usr/bin/env bats
# shim.bats: a guest that nobody wires, created with virt-seed-qemu as its emulator, applies its seed.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
guest=${VIRT_SEED_GUEST:?the directory that scripts/build-guest made}

# Under software emulation on a slow machine; a boot takes half a minute otherwise.
boot_seconds=400

uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

metadata() {
    cat <<'END'
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
  <ci:hostname>shim1.example.org</ci:hostname>
  <ci:user-data>
#cloud-config
timezone: Asia/Tokyo
  </ci:user-data>
</ci:cloud-init>
END
}

setup_file() {
    local second

    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    LAB_HOOK=$builddir/virt-seed-hook lab_start
    export images=$LAB_DIR/root/var/lib/libvirt/images

    # QEMU's user must be able to come to it, under its installed name.
    mkdir -m 0755 "$LAB_DIR/bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$LAB_DIR/bin/virt-seed-qemu-system-x86_64"
    guest_provide "$guest" "$images"
    guest_overlay "$images" shim1
    metadata | guest_xml "$images" shim1 $uuid "$images/console" |
        sed "s|<devices>|&<emulator>$LAB_DIR/bin/virt-seed-qemu-system-x86_64</emulator>|" |
        lab_virsh create /dev/stdin
    for ((second = 0; second < boot_seconds; second++)); do
        guest_has_reported "$images/console" && return
        sleep 1
    done
    echo "the guest did not report within $boot_seconds seconds" >&2
    tail -n 30 "$images/console" >&2
    return 1
}

teardown_file() {
    lab_stop
}

@test "cloud-init takes the seed of a guest that was created unwired" {
    local line report

    report=$(guest_report "$images/console")
    echo "$report"
    for line in 'datasource=DataSourceNoCloud [seed=dmi,/dev/sr0][dsmode=net]' 'errors=[]' \
        "instance-id=$uuid" 'hostname=shim1' 'timezone=Asia/Tokyo' \
        'product_serial=ds=nocloud;dsmode=net'; do
        grep -qxF -e "$line" <<<"$report"
    done
}

@test "nothing of a transient guest that has powered off is left" {
    local round

    for round in {1..100}; do
        [[ -n $(lab_virsh list --all --name) ]] || break
        sleep 0.2
    done
    echo "rounds: $round"
    run -0 lab_run find /run/libvirt/virt-seed -mindepth 1
    [[ $output = "" ]]
}
