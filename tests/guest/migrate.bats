#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154  # domain_xml's variables, and those of common.bash and hosts.bash
# migrate.bats: a guest that reads its cdrom again and again moves live between two hosts, and reads the
# same bytes all the time, although each host makes the seed itself.
#
# The guest is the kernel and the initrd of the test guest. It has no disk, and instead of the initrd's init
# it runs a loop that needs nothing else.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../libvirt/hosts
load ../libvirt/domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso
# Each host has its own.
printed=/var/lib/libvirt/images/web1.console

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    hosts_start
    # Both hosts see it, and QEMU's user can come to it.
    export shared=$source_lab/shared
    mkdir -m 0755 "$shared"
    cp "$guest"/{vmlinuz,initrd.img} "$shared"
    install -m 0755 "$builddir/virt-seed-qemu" "$shared/virt-seed-qemu-system-x86_64"
    chmod 0644 "$shared"/{vmlinuz,initrd.img}
}

teardown_file() {
    hosts_stop
}

teardown() {
    on_source lab_run tail -n 20 "$printed"
    on_destination lab_run tail -n 20 "$printed"
    end_guest
}

# What the guest runs, on its kernel's command line: busybox's shell, with a script that has no double quotes
# and nothing of XML. It numbers what it reads, so that a number that is missing, or comes again, tells of a
# restart. The cdrom is mounted all the time, and nothing of it remains in the guest's memory.
loop() {
    cat <<'END'
rdinit=/bin/busybox -- sh -c "
    /bin/busybox mount -t proc proc /proc;
    mount -t devtmpfs dev /dev;
    mount -t sysfs sys /sys;
    for bus in pci virtio scsi; do
        modprobe -qa $(cat /sys/bus/$bus/devices/*/modalias | sort -u) isofs;
    done;
    for attempt in $(seq 100); do
        if mount -t iso9660 -o ro /dev/sr0 /root; then break; fi;
        sleep 0.1;
    done;
    for number in $(seq 10000); do
        echo 3 >/proc/sys/vm/drop_caches;
        echo read $number $(sha256sum /dev/sr0) >/dev/console;
        sleep 0.5;
    done"
END
}

# start_reader: starts it on the source, with virt-seed-qemu.
start_reader() {
    local request='<ci:hostname>web1</ci:hostname>'

    request="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'>$request</ci:cloud-init>"
    # Under emulation the guest's TSC is the host's, and a guest whose clock leaps with it is lost.
    metadata=$request memory=160 console=$printed emulator=$shared/virt-seed-qemu-system-x86_64 \
        os="<kernel>$shared/vmlinuz</kernel><initrd>$shared/initrd.img</initrd>
            <cmdline>$(<"$guest/cmdline") clocksource=hpet $(loop | tr -s '\n ' ' ')</cmdline>" \
        on_source domain_define web1 $web1
    on_source lab_virsh start web1
}

end_guest() {
    on_source lab_reset
    on_destination lab_reset
}

# reads on_source|on_destination: prints how many the guest has made there, whether they succeeded or not.
reads() {
    "$1" lab_run grep -ac '^read ' "$printed" || :
}

# has_read on_source|on_destination COUNT
has_read() {
    [[ $(reads "$1") -ge $2 ]]
}

# is_leaving on_source|on_destination: whether the guest's memory is on its way from there.
is_leaving() {
    [[ $("$1" lab_virsh domjobinfo web1) = *'Memory processed:'* ]]
}

# move MIGRATE FROM TO: the guest reads three times while its memory travels, which would not end by itself
# at this speed, and then at its destination, or is lost. What it has printed at the place that it left goes
# to 'all'.
move() {
    local from=$2 to=$3 job

    "$1" web1 --bandwidth 1 --timeout 120 >migrate.log 2>&1 3>&- 4>&- &
    job=$!
    wait_until 60 is_leaving "$from" || cat migrate.log
    wait_until 60 has_read "$from" $(($(reads "$from") + 3))
    is_leaving "$from"
    "$from" lab_virsh migrate-setspeed web1 1000
    wait "$job"
    wait_until 30 has_read "$to" 3 || lost=yes
    "$from" lab_run cat "$printed" >>all
}

# travel_once: boots the guest, which goes there and back. lost says whether it ended on its way.
travel_once() {
    local sum

    lost=no
    : >all
    start_reader
    wait_until "$boot_seconds" has_read on_source 3
    sum=$(on_source lab_run sha256sum "$seed" | cut -d' ' -f1)
    move migrate on_source on_destination
    if [[ $lost = yes ]]; then
        on_destination lab_run cat "$printed" >>all
    else
        on_source lab_virsh undefine web1
        move migrate_back on_destination on_source
        on_source lab_run cat "$printed" >>all
    fi

    # The last line may be incomplete. A move may divide another, but nothing of it is lost.
    tr -d '\r' <all | grep -ao 'read [0-9]* .*' | sed '$d' >reads
    diff reads <(seq "$(wc -l <reads)" | sed "s|.*|read & $sum /dev/sr0|")
}

# A page that the guest writes just then may travel with what was in it before, if QEMU emulates the
# processor. Then the guest's kernel panics or hangs, whatever it does (seen with QEMU 7.2 on a busy machine,
# in one of fifteen migrations of a guest that hardly pauses, in none of fifty of this one). Such a guest
# reads nothing more, not even something else.
#
# tests/libvirt/migrate.bats does the same with a drive that the domain is wired with.
@test "a guest of virt-seed-qemu reads the same bytes all the time while it migrates there and back" {
    local attempt

    cd "$BATS_TEST_TMPDIR" || return
    for attempt in 1 2 3 4; do
        travel_once
        [[ $lost = yes ]] || return 0
        echo "# the guest was lost on its way, attempt $attempt" >&3
        end_guest
    done
    return 1
}
