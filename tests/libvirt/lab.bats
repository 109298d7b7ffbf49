#!/usr/bin/env bats
# lab.bats: the lab itself, and the facts about libvirt on which virt-seed relies.

bats_require_minimum_version 1.5.0

load lab
load domains

uri=urn:virt-seed:cloud-init:1

setup_file() {
    # The tests share one libvirtd and one hook.
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true

    lab_start
    write_recording_hook "$LAB_DIR/hook"
    lab_install_hook "$LAB_DIR/hook"
}

teardown_file() {
    lab_stop
}

setup() {
    rm -f "$LAB_DIR"/{calls,stdin.*,refuse.*}
    logged_before=$(lab_daemon_log | wc -l)
}

teardown() {
    # bats shows this only if the test fails.
    lab_daemon_log | tail -n "+$((logged_before + 1))"
    lab_reset
}

# Notes every call in 'calls' and its input in 'stdin.OPERATION'; refuses an operation for which
# there is a 'refuse.OPERATION', with its content.
write_recording_hook() {
    cat >"$1" <<END
#!/usr/bin/env bash
cd '$LAB_DIR'
echo "\$*" >>calls
cat >"stdin.\$2"
if [[ -e refuse.\$2 ]]; then
    cat "refuse.\$2" >&2
    exit 1
fi
END
    chmod +x "$1"
}

calls() {
    cat "$LAB_DIR/calls"
}

forget_calls() {
    rm "$LAB_DIR/calls"
}

# The attribute that binds a prefix (or none) to virt-seed's namespace, as the hook read it.
namespace_at_prepare() {
    grep -Eo "xmlns(:[a-z]+)?=[\"']${uri}[\"']" "$LAB_DIR/stdin.prepare"
}

@test "libvirtd answers under the lab's host name" {
    [[ $(lab_virsh uri) = qemu:///system ]]
    [[ $(lab_virsh hostname) = virt-seed-lab ]]
    [[ $(lab_virsh list --all --name) = '' ]]
}

@test "files of libvirt and virt-seed in the lab are not on the host" {
    local dir

    for dir in /etc/libvirt /etc/virt-seed /run /run/libvirt /var/lib/libvirt /var/lib/virt-seed \
        /var/cache/libvirt /var/log/libvirt; do
        lab_run touch "$dir/only-in-the-lab"
        [[ ! -e $dir/only-in-the-lab ]]
    done
}

@test "libvirtd does not see KVM" {
    lab_virsh domcapabilities --virttype qemu --arch x86_64
    run ! lab_virsh domcapabilities --virttype kvm --arch x86_64
}

@test "a domain with everything that domain_xml offers is valid and starts" {
    metadata='<a:b xmlns:a="urn:example"/>' os="<smbios mode='sysinfo'/>" \
        extra="<sysinfo type='smbios'><system><entry name='serial'>1</entry></system></sysinfo>" \
        devices=$(domain_disk_xml "$(domain_disk_image web1)") machine=pc memory=64 \
        emulator=$(type -P qemu-system-x86_64) interface=user console=$LAB_DIR/console \
        domain_define web1
    lab_virsh start web1

    [[ -e $LAB_DIR/console ]]
}

@test "a started guest runs as an unprivileged user who owns its disk" {
    local image pid

    image=$(domain_disk_image web1)
    devices=$(domain_disk_xml "$image") domain_define web1
    lab_virsh start web1

    pid=$(lab_run cat /run/libvirt/qemu/web1.pid)
    [[ $(lab_run stat -c %u "/proc/$pid") -ne 0 ]]
    [[ $(stat -c %u "$image") = "$(lab_run stat -c %u "/proc/$pid")" ]]
}

@test "the hook is called for prepare, start and started when a domain starts" {
    domain_define web1
    lab_virsh start web1

    diff - <(calls) <<'END'
web1 prepare begin -
web1 start begin -
web1 started begin -
END
}

@test "the hook is called for stopped and release when a domain is destroyed" {
    domain_define web1
    lab_virsh start web1
    forget_calls
    lab_virsh destroy web1

    # Since libvirt 10.5 the last argument of release is the reason.
    diff - <(calls | sed 's/ destroyed$/ -/') <<'END'
web1 stopped end -
web1 release end -
END
}

@test "the hook reads the domain's XML with its metadata" {
    metadata="<ci:cloud-init xmlns:ci='$uri'><ci:hostname>a &amp; b</ci:hostname></ci:cloud-init>" \
        domain_define web1 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b
    lab_virsh start web1

    grep -F '<name>web1</name>' "$LAB_DIR/stdin.prepare"
    grep -F '<uuid>1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b</uuid>' "$LAB_DIR/stdin.prepare"
    grep -F '<ci:hostname>a &amp; b</ci:hostname>' "$LAB_DIR/stdin.prepare"
}

@test "the message of a refusing hook reaches the user of virsh start" {
    printf 'error: no seed today\nhint: come back tomorrow\n' >"$LAB_DIR/refuse.prepare"
    domain_define web1
    run -1 lab_virsh start web1

    [[ $output = *'error: no seed today'$'\n''hint: come back tomorrow'* ]]
    [[ $(lab_virsh domstate web1) = 'shut off' ]]
}

@test "stopped and release follow a refused start" {
    echo no >"$LAB_DIR/refuse.prepare"
    domain_define web1
    run -1 lab_virsh start web1

    [[ $(calls | cut -d ' ' -f 2 | xargs) = 'prepare stopped release' ]]
}

# A hook may look for the namespace with a plain search of the bytes: however it was written,
# libvirt spells it out.

@test "a namespace written with character references reaches the hook spelled out" {
    metadata='<ci:cloud-init xmlns:ci="urn:virt&#45;seed:cloud&#x2d;init&#58;1"/>' \
        domain_define web1
    lab_virsh start web1

    [[ $(namespace_at_prepare) = "xmlns:ci=\"$uri\"" ]]
}

# libvirt 9.0 accepts the definition, but not its own copy of it, which has lost the entity.
@test "a namespace written as an entity never reaches the hook as an entity" {
    {
        echo '<!DOCTYPE domain [<!ENTITY seed "urn:virt-seed">]>'
        metadata='<ci:cloud-init xmlns:ci="&seed;:cloud-init:1"/>' domain_xml web1
    } >"$LAB_DIR/web1.xml"

    if lab_virsh define "$LAB_DIR/web1.xml" && lab_virsh start web1; then
        [[ $(namespace_at_prepare) = "xmlns:ci=\"$uri\"" ]]
    else
        [[ ! -e $LAB_DIR/calls ]]
    fi
}

@test "a default namespace reaches the hook spelled out" {
    metadata='<cloud-init xmlns="urn:virt&#45;seed:cloud-init:1"/>' domain_define web1
    lab_virsh start web1

    [[ $(namespace_at_prepare) = "xmlns=\"$uri\"" ]]
}

@test "a namespace set by virsh metadata reaches the hook spelled out" {
    domain_define web1
    lab_virsh metadata web1 --config --key ci --uri "$uri" --set '<cloud-init/>'
    lab_virsh start web1

    [[ $(namespace_at_prepare) = "xmlns:ci=\"$uri\"" ]]
}

@test "a start from a managed save calls restore, prepare, start and started, in this order" {
    domain_define web1
    lab_virsh start web1
    lab_virsh managedsave web1
    forget_calls
    lab_virsh start web1

    [[ $(calls | cut -d ' ' -f 2 | xargs) = 'restore prepare start started' ]]
    [[ $(lab_virsh domstate web1) = running ]]
}

@test "a restart of libvirtd keeps its guests and calls reconnect for each" {
    domain_define web1
    lab_virsh start web1
    forget_calls
    lab_restart_libvirtd

    # The state is known only after libvirtd has reconnected to the domain.
    [[ $(lab_virsh domstate web1) = running ]]
    [[ $(calls) = 'web1 reconnect begin -' ]]
}

@test "a replaced hook is called without a restart" {
    write_recording_hook "$LAB_DIR/second-hook"
    echo "echo second >>calls" >>"$LAB_DIR/second-hook"
    domain_define web1
    lab_install_hook "$LAB_DIR/second-hook"
    lab_virsh start web1
    lab_install_hook "$LAB_DIR/hook"

    [[ $(calls | grep -c second) -eq 3 ]]
}

@test "a second lab has its own host name, hook and domains, and leaves nothing" {
    local first=$LAB_DIR

    (
        LAB_HOOK=$first/hook lab_start second-host
        trap lab_stop EXIT
        echo "$LAB_DIR" >"$first/second-lab"
        domain_define on-second-host
        lab_virsh start on-second-host
        [[ $(lab_virsh hostname) = second-host ]]
        [[ $(LAB_DIR=$first lab_virsh list --name) = '' ]]
        pgrep -f guest=on-second-host
    )
    [[ ! -e $(<"$LAB_DIR/second-lab") ]]
    run ! pgrep -f guest=on-second-host
    [[ $(calls | head -n 1) = 'on-second-host prepare begin -' ]]
    [[ $(lab_virsh hostname) = virt-seed-lab ]]
}

@test "lab_stop leaves no lab, and may be called again" {
    (
        lab_start third-host
        lab_stop
        lab_stop
        run -125 lab_run true
    )
}
