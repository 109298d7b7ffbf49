#!/usr/bin/env bats
# install.bats: virt-seed's packages are installed on a host with libvirt and AppArmor, and removed again.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

setup_file() {
    if ! host_has_selinux; then
        host_start_bare
        tree >"$BATS_FILE_TMPDIR/before"
    fi
}

setup() {
    host_need apparmor
}

# tree: prints the type, mode and owner of each file on the host, or its target; users, groups, and who
# listens. It omits logs and what dpkg, apt, ld.so and the programs of this test write, and a folder of AppArmor's,
# which the purge of any package with a profile removes if it is empty (dh_apparmor).
tree() {
    on_host sh -c 'find / -xdev \( -path /var/log/journal -o -path "/var/log/apt*" \
        -o -path /var/log/dpkg.log -o -path "/var/log/libvirt/qemu/*" -o -path "/var/cache/*" \
        -o -path "/var/lib/dpkg/*" -o -path "/var/lib/apt/*" -o -path "/var/lib/systemd/*" \
        -o -path "/var/lib/libvirt/*" -o -path "/tmp/*" -o -path "/var/tmp/*" -o -path /root \
        -o -path /etc/ld.so.cache -o -path /etc/apparmor.d/disable \) -prune -o -printf "%p %y %m %u:%g %l\n"
        find /run/libvirt /run/systemd /var/lib/systemd /var/lib/libvirt -name "*seed*"
        cat /etc/passwd /etc/group
        ss -Hltn | tr -s " " | cut -d " " -f 4' | sort
}

@test "AppArmor is enforcing and confines libvirtd" {
    run -0 on_host aa-status --json
    jq -e '.profiles | .libvirtd == "enforce" and .["virt-aa-helper"] == "enforce"' <<<"$output"
    jq -e '.processes["/usr/sbin/libvirtd"] | length > 0 and all(.status == "enforce")' <<<"$output"
}

@test "apt installs the packages" {
    host_install_packages "$debs"
    run -0 on_host virt-seed --version
}

@test "no unit is enabled and nothing listens until the administrator says so" {
    run on_host systemctl is-enabled virt-seed-imds.socket virt-seed-imds.service
    [[ $output = disabled$'\n'disabled ]]
    run -0 on_host ss -Hltn 'sport = 80'
    [[ $output = '' ]]
}

@test "libvirtd has noticed its first hook, which refuses and wires an unwired domain" {
    metadata="<ci:cloud-init xmlns:ci='$namespace'/>" tiny_xml first | on_host virsh define /dev/stdin
    run on_host virsh start first
    [[ $status -ne 0 && $output = *"asks for cloud-init but is not wired for it yet"* ]]
    wait_until 300 is_wired first
}

is_wired() {
    grep -q 'ds=nocloud;dsmode=net' <(on_host virsh dumpxml --inactive "$1")
}

@test "doctor finds no problems on the newly installed host" {
    on_host virt-seed doctor
}

@test "a purge restores the host, and libvirtd no longer runs the hook" {
    on_host virsh undefine first
    seconds=300 on_host apt-get purge --yes virt-seed virt-seed-imds
    diff "$BATS_FILE_TMPDIR/before" <(tree)
    metadata="<ci:cloud-init xmlns:ci='$namespace'/>" tiny_xml first | on_host virsh create /dev/stdin
    on_host virsh destroy first
    assert_no_denials
}
