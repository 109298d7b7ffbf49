#!/usr/bin/env bats
# watch.bats: virt-seed-watch.service on a whole host, with the privileges that its unit leaves it.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

@test "the unit starts, and wires a domain before its first start" {
    on_host systemctl enable --now virt-seed-watch.service
    metadata="<ci:cloud-init xmlns:ci='$namespace' ssh-host-keys='generate'/>" tiny_xml web1 $web1 |
        on_host virsh define /dev/stdin
    wait_until 120 was_wired
    on_host virsh start web1
    on_host test -e /var/lib/virt-seed/secrets/$web1
}

was_wired() {
    [[ $(on_host journalctl --no-pager -u virt-seed-watch.service) = *"domain 'web1' was wired"* ]]
}

@test "it connects again when libvirtd was restarted" {
    on_host systemctl restart libvirtd.service
    wait_until 120 looked_again
}

looked_again() {
    [[ $(on_host journalctl --no-pager -u virt-seed-watch.service | grep -c 'looked at') -ge 2 ]]
}

@test "its sandbox lets it remove what is kept of a domain" {
    on_host virsh destroy web1
    on_host virsh undefine web1
    wait_until 180 nothing_is_left
    run on_host journalctl --no-pager -u virt-seed-watch.service -p err
    [[ $output != *virt-seed* ]]
    assert_no_denials
}

nothing_is_left() {
    [[ $(on_host find /var/lib/virt-seed /var/log/libvirt/virt-seed /run/libvirt/virt-seed -name "$web1*") = '' ]]
}

# writable DIRECTORY: whether the unit's sandbox lets root write there.
writable() {
    on_host nsenter --target "$(on_host systemctl show -P MainPID virt-seed-watch.service)" --mount \
        sh -c "touch $1/new && rm $1/new"
}

@test "its sandbox lets it write to virt-seed's directories, and to no others" {
    local directory

    for directory in /var/lib/virt-seed /var/log/libvirt/virt-seed /run/libvirt/virt-seed; do
        writable $directory
    done
    for directory in /etc /var/lib /run /run/libvirt /run/systemd/system; do
        run ! writable $directory
    done
}

@test "it ends cleanly when it is stopped" {
    on_host systemctl stop virt-seed-watch.service
    [[ $(on_host systemctl show -P Result virt-seed-watch.service) = success ]]
}
