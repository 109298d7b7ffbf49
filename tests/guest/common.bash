# shellcheck shell=bash
# common.bash: what the files here begin with; loaded after lab.bash and guest.bash.
#
# A file has one lab, with the hook. A file that needs more defines functions of bats's by the same
# names after the load.
#
#   common_start_lab              start it; $images gets the guest's kernel and disk
#   virt_seed ARGUMENT...         run virt-seed in the lab
#   console NAME                  print the path of the file that has what the guest printed
#   last_report NAME              print what the guest has last reported there, a line each
#   wait_for_report NAME [COUNT]  until it has reported that often, once by default
#   assert_reported NAME LINE...  its last report has these lines

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
guest=${VIRT_SEED_GUEST:?the directory that scripts/build-guest made}

# A boot takes half a minute, but a quarter of an hour under software emulation on a very busy machine.
boot_seconds=1800

teardown_file() {
    lab_stop
}

common_start_lab() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    LAB_HOOK=$builddir/virt-seed-hook lab_start
    export images=$LAB_DIR/root/var/lib/libvirt/images

    guest_provide "$guest" "$images"
}

virt_seed() {
    lab_run LC_ALL=C.UTF-8 "$builddir/virt-seed" "$@"
}

console() {
    echo "$images/$1.console"
}

last_report() {
    guest_report <(tac "$(console "$1")" | sed '/-----BEGIN VIRT-SEED PROBE-----/q' | tac)
}

wait_for_report() {
    local console

    console=$(console "$1")
    wait_until "$boot_seconds" has_reported_or_crashed "$@" || :
    if ! guest_has_reported "$console" "${2:-1}"; then
        tail -n 30 "$console" "$LAB_DIR/root/var/log/libvirt/qemu/$1.log" >&2
        return 1
    fi
}

has_reported_or_crashed() {
    guest_has_reported "$(console "$1")" "${2:-1}" || [[ $(lab_virsh domstate --reason "$1") = *crashed* ]]
}

assert_reported() {
    local line report

    report=$(last_report "$1")
    shift
    for line; do
        if ! grep -qxF -e "$line" <<<"$report"; then
            printf 'missing: %s\n%s\n' "$line" "$report"
            return 1
        fi
    done
}
