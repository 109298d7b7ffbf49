#!/usr/bin/env bats
# selinux.bats: virt-seed on a host that enforces SELinux: what fails without the policy module, and what runs in which
# domain when it is loaded. The other files run on such a host, too.
#
# The host is Debian, with the reference policy: libvirtd is confined there (virtd_t), as virtqemud is on Fedora, which
# another policy confines.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"
load ../libvirt/report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso

# As an administrator has it who has just installed the packages.
setup_file() {
    if host_has_selinux; then
        host_start_bare
        host_install_packages "$debs"
    fi
}

setup() {
    host_has_selinux || skip 'this host has no SELinux'
}

# begin_audit: from now on the kernel's log has each start of these programs.
begin_audit() {
    local program

    on_host auditctl -e 1 >/dev/null
    for program in /usr/sbin/virt-seed-{hook,maker,imds} /usr/bin/virt-seed; do
        on_host auditctl -a always,exit -F arch=b64 -S execve,execveat -F "path=$program"
    done
    on_host dmesg --clear
}

# domains_of PROGRAM: the domains that it has run in since then.
domains_of() {
    on_host dmesg | sed -n "s/.* exe=\"[^\"]*\\/$1\" subj=[^:]*:[^:]*:\\([^:]*\\):.*/\\1/p" | sort -u
}

# type_of FILE
type_of() {
    on_host stat -c %C "$1" | cut -d: -f3
}

define() {
    metadata="<ci:cloud-init xmlns:ci='$namespace' ${attributes-}>${1-}</ci:cloud-init>" tiny_xml web1 $web1 |
        on_host virsh define /dev/stdin
}

is_wired() {
    grep -q 'ds=nocloud;dsmode=net' <(on_host virsh dumpxml --inactive web1)
}

@test "SELinux is enforcing, and confines libvirt's daemons" {
    [[ $(on_host getenforce) = Enforcing ]]
    run -0 on_host ps -e -o label=,comm=
    [[ $output =~ :virtd_t:s0\ +libvirtd ]]
    [[ $output =~ :virtlogd_t:s0\ +virtlogd ]]
}

@test "without the module the hook is denied its work, and doctor says what to do" {
    define
    on_host virt-seed wire web1
    run on_host virsh start web1
    [[ $status -ne 0 && $output = *'virt-seed: error: '*'Permission denied'* ]]
    on_host sh -c 'dmesg | grep "avc: .denied.*50-virt-seed.*:virtd_t:"'
    run -1 on_host virt-seed doctor
    [[ $output = *'without virt-seed'*'man virt-seed-selinux'* ]]
}

@test "the module is built and loaded as the manual says, and doctor finds no problems" {
    host_load_policy
    on_host virt-seed doctor
    [[ $(type_of /usr/sbin/virt-seed-hook) = virt_seed_hook_exec_t ]]
    begin_audit
}

@test "a domain starts with its seed: hook and maker each in a domain of their own" {
    on_host virsh start web1
    [[ $(domains_of virt-seed-hook) = virt_seed_hook_t && $(domains_of virt-seed-maker) = virt_seed_maker_t ]]
    assert_confined "$(on_host cat /run/libvirt/qemu/web1.pid)" $web1
    [[ $(type_of $seed) = virt_content_t ]]
    assert_no_denials
}

# The test writes into QEMU's pipes to virtlogd what the guest would send.
@test "virtlogd writes the report and the log, and wait reads the report" {
    # shellcheck disable=SC2016,SC2154  # the variables are the host's; boot1 is report.bash's
    report_line "$boot1" "$(report_ended)" "$(report_result)" | on_host sh -c 'cat >/root/line
        for fd in /proc/$(cat /run/libvirt/qemu/web1.pid)/fd/*; do
            if readlink "$fd" | grep -q ^pipe: && grep -q "flags:.*1$" "${fd%/fd/*}/fdinfo/${fd##*/}"; then
                cat /root/line >"$fd"
            fi
        done'
    run -0 on_host virt-seed wait --timeout=60 web1
    # QEMU has each pipe twice.
    on_host sh -c "head -n 1 /var/log/libvirt/virt-seed/$web1.log | cmp - /root/line"
    [[ $(type_of /var/log/libvirt/virt-seed/$web1.log) = virt_seed_report_t ]]
    assert_no_denials
}

@test "update and a password that is set make files with the labels that the hook's have" {
    on_host virt-seed set web1 --hostname=changed --password-generate
    on_host virt-seed update web1
    run -0 on_host virt-seed inspect $seed
    [[ $output = *'local-hostname changed'* && $(type_of $seed) = virt_content_t ]]
    [[ $(type_of /var/lib/virt-seed/secrets/$web1/password) = virt_seed_host_key_t ]]
    assert_no_denials
}

@test "the end of the domain keeps record and log, closed like secrets" {
    on_host virsh destroy web1
    run ! on_host test -e $seed
    [[ $(type_of /var/lib/virt-seed/$web1.json) = virt_seed_var_lib_t ]]
    run -0 on_host virt-seed logs web1
    assert_no_denials
    on_host virsh undefine web1
    on_host virt-seed gc --all
    [[ -z $(on_host find /var/lib/virt-seed -name "$web1*") ]]
}

@test "a refused start wires the domain in a third domain, which starts then" {
    on_host dmesg --clear
    attributes="ssh-host-keys='generate'" define
    run on_host virsh start web1
    [[ $status -ne 0 && $output = *'not wired for it yet'* ]]
    wait_until 300 is_wired
    [[ $(domains_of virt-seed) = virt_seed_wire_t ]]
    on_host virsh start web1
    [[ $(type_of /var/lib/virt-seed/secrets/$web1/ssh_host_ed25519_key) = virt_seed_host_key_t ]]
    on_host virsh destroy web1
    assert_no_denials
}

@test "the hook reads a secret with its label, and no other file" {
    on_host sh -c 'printf "#cloud-config\n" >/root/moved && chmod 0600 /root/moved &&
        mkdir -m 0700 /etc/virt-seed/secrets/web1 && mv /root/moved /etc/virt-seed/secrets/web1/userdata'
    define "<ci:user-data secret='web1'/>"
    on_host virt-seed wire web1
    run on_host virsh start web1
    echo "$output"
    [[ $status -ne 0 && $output = *'no permission to read'*'restorecon'* ]]
    on_host dmesg --clear
    on_host restorecon -R /etc/virt-seed
    on_host virsh start web1
    on_host virsh destroy web1
    assert_no_denials
}

@test "the metadata server has its domain, and the seed that it serves its type" {
    on_host systemctl enable --now virt-seed-imds.socket virt-seed-imds.service
    on_host curl -fsS --max-time 60 http://169.254.169.254/healthz
    run -0 on_host ps -e -o label=,comm=
    [[ $output =~ :virt_seed_imds_t:s0\ +virt-seed-imds ]]
    on_host virsh undefine web1
    attributes="datasource='nocloud-net'" interface=default define
    on_host virt-seed start --no-wait web1
    [[ $(type_of /run/libvirt/virt-seed/imds/$web1/user-data) = virt_seed_served_t ]]
    on_host virt-seed set web1 --hostname=changed
    on_host virt-seed update web1
    [[ $(type_of /run/libvirt/virt-seed/imds/$web1/user-data) = virt_seed_served_t ]]
    on_host virsh destroy web1
    on_host virsh undefine web1
    assert_no_denials
}

@test "a guest of virt-seed-qemu starts only with the boolean" {
    emulator=/usr/bin/virt-seed-qemu-system-x86_64 define
    run on_host virsh start web1
    [[ $status -ne 0 && $output = *virt_seed_emulator* ]]
    on_host dmesg --clear
    on_host setsebool virt_seed_emulator on
    on_host virsh start web1
    assert_confined "$(on_host cat /run/libvirt/qemu/web1.pid)" $web1
    on_host virsh destroy web1
    assert_no_denials
}
