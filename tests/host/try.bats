#!/usr/bin/env bats
# try.bats: virt-seed try on a whole host, where guests are confined. They boot nothing: the test
# writes what they report.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"
load ../libvirt/report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
disk=/var/lib/libvirt/images/web1.qcow2

setup_file() {
    host_start
    on_host qemu-img create -q -f qcow2 $disk 64M
    metadata="<ci:cloud-init xmlns:ci='$namespace'/>" interface=default \
        devices="<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='$disk'/>
            <target dev='vda' bus='virtio'/></disk>" tiny_xml web1 $web1 | on_host virsh define /dev/stdin
    on_host sha256sum $disk >"$BATS_FILE_TMPDIR/digest"
}

# begin_trying: virt-seed try in the background; sets $uuid, the rehearsal's.
begin_trying() {
    on_host systemd-run --unit=trying --collect --property=StandardOutput=file:/root/trying.log \
        virt-seed try --timeout=800 web1
    wait_until 600 runs
    uuid=$(on_host virsh domuuid web1-try | head -n 1)
}

runs() {
    [[ $(on_host virsh domstate web1-try 2>&1) = running* ]]
}

is_over() {
    ! on_host systemctl is-active --quiet trying.service
}

assert_nothing_left() {
    [[ $(on_host virsh list --all --name | xargs) = web1 ]]
    [[ -z $(on_host find /var/lib/libvirt/virt-seed -mindepth 1) ]]
    [[ -z $(on_host find /var/log/libvirt/virt-seed -name '*.report*') ]]
    [[ $(on_host sha256sum $disk) = "$(<"$BATS_FILE_TMPDIR/digest")" ]]
}

@test "a rehearsal boots confined like other guests, and reports" {
    begin_trying
    process=$(on_host cat /run/libvirt/qemu/web1-try.pid)
    assert_confined "$process" "$uuid"
    # shellcheck disable=SC2154  # boot1 is report.bash's
    report_line "$boot1" "$(report_ended)" "$(report_result)" |
        on_host tee -a "/var/log/libvirt/virt-seed/$uuid.report" >/dev/null
    wait_until 300 is_over
    run -0 on_host cat /root/trying.log
    [[ $output = *'web1-try: done' ]]
    assert_nothing_left
    assert_no_denials
}

@test "a kill leaves no guest, and gc removes the files" {
    begin_trying
    on_host systemctl kill --signal=KILL trying.service
    wait_until 300 is_over
    wait_until 300 is_gone
    run -0 on_host virt-seed gc
    [[ $output = *"removed /var/lib/libvirt/virt-seed/$uuid"* ]]
    assert_nothing_left
    assert_no_denials
}

is_gone() {
    ! runs
}
