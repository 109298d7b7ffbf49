#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# shellcheck disable=SC2030,SC2031  # a function called in a test, which runs in a subshell
# recipes.bats: the ways to get a domain with a seed, with the other tools of libvirt.

bats_require_minimum_version 1.5.0

load lab
load hosts
load domains
load report
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seeds=/run/libvirt/virt-seed

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    printf '#cloud-config\nlocale: C.UTF-8\n' >user-data
}

teardown() {
    hosts_stop_destination
    lab_reset
}

need() {
    type -P "$1" >/dev/null || skip "$1 is not installed"
}

# seed_has UUID FILTER: prints what this filter of jq finds in the meta-data of the running domain.
seed_has() {
    local directory

    directory=$(mktemp -d -p "$BATS_TEST_TMPDIR")
    lab_run "$builddir/virt-seed" inspect --extract="$directory" "$seeds/$1.iso" >/dev/null
    jq -r "$2" "$directory/meta-data"
}

@test "virt-install's XML gets its seed on its way to virsh define" {
    local uuid

    need virt-install
    lab_run virt-install --connect qemu:///system --virt-type qemu --name web1 --memory 32 --disk none \
        --import --osinfo detect=off,require=off --network none --graphics none --print-xml |
        virt_seed --quiet set - --user-data user-data | lab_virsh define --validate /dev/stdin
    lab_virsh start web1
    uuid=$(lab_virsh domuuid web1 | head -n1)
    [[ $(seed_has "$uuid" '."local-hostname"') = web1 ]]
    [[ $(virt_seed dump web1 user-data) = "$(<user-data)" ]]
}

@test "virt-install --cloud-init --print-xml is defined with its documents given again" {
    need virt-install
    mkdir -p "$LAB_DIR/root/var/lib/libvirt/boot"
    lab_run HOME="$BATS_TEST_TMPDIR" virt-install --connect qemu:///system --virt-type qemu --name web1 \
        --memory 32 --disk none --import --osinfo detect=off,require=off --network none --graphics none \
        --cloud-init user-data=user-data --print-xml 2 >printed.xml
    [[ $(grep -c "<domain " printed.xml) -eq 1 ]]
    virt_seed set - --user-data user-data <printed.xml | lab_virsh define --validate /dev/stdin
    lab_virsh dumpxml --inactive web1 >definition.xml
    run ! grep -e cloudinit.iso -e '<on_reboot>destroy' definition.xml
    lab_virsh start web1
    [[ $(virt_seed dump web1 user-data) = "$(<user-data)" ]]
}

# The README says so.
@test "virt-install --cloud-init leaves no seed in the definition" {
    local directory=$LAB_DIR/root/var/lib/libvirt/boot

    need virt-install
    mkdir -p "$directory"
    lab_run HOME="$BATS_TEST_TMPDIR" virt-install --connect qemu:///system --virt-type qemu --name web1 \
        --memory 32 --disk "$(domain_disk_image web1),format=raw" --import \
        --osinfo detect=off,require=off --network none --graphics none \
        --cloud-init user-data=user-data --noautoconsole
    lab_virsh dumpxml web1 >running.xml
    lab_virsh dumpxml --inactive web1 >definition.xml
    grep -q cloudinit.iso running.xml
    run -1 grep -e cloudinit.iso -e locale definition.xml
}

@test "virsh create accepts XML that set has made" {
    domain_xml web1 $web1 | virt_seed --quiet set - --hostname one | lab_virsh create /dev/stdin
    [[ $(seed_has $web1 '."local-hostname"') = one ]]
}

@test "virsh edit of a wired domain changes what the guest gets" {
    domain_define web1 $web1
    virt_seed set web1 --hostname first
    lab_run EDITOR='sed -i s/first/second/' virsh -c qemu:///system edit web1
    lab_virsh start web1
    [[ $(seed_has $web1 '."local-hostname"') = second ]]
}

@test "a renamed domain keeps its identity and gets its new name" {
    domain_define web1 $web1
    virt_seed set web1
    lab_virsh domrename web1 web2
    lab_virsh start web2
    [[ $(seed_has $web1 '."instance-id", ."local-hostname"') = $web1$'\nweb2' ]]
}

@test "a clone gets its own seed and identity at its second start" {
    local uuid

    need virt-clone
    devices=$(domain_disk_xml "$(domain_disk_image web1)") domain_define web1 $web1
    virt_seed set web1
    lab_run virt-clone --connect qemu:///system --original web1 --name web2 --auto-clone
    run lab_virsh start web2
    [[ $status -ne 0 && $output = *'run: virsh start web2'* ]]
    wait_until 60 lab_virsh start web2
    uuid=$(lab_virsh domuuid web2 | head -n1)
    [[ $uuid != "$web1" ]]
    [[ $(seed_has "$uuid" '."instance-id", ."local-hostname"') = $uuid$'\nweb2' ]]
}

# The README says so, and that passwords are in the image.
@test "a clone with an image of cloud-localds boots with the original's instance-id" {
    local image=$LAB_DIR/root/var/lib/libvirt/images/seed.img

    need virt-clone
    need cloud-localds
    printf '#cloud-config\npassword: correct-horse\n' >user-data
    cloud-localds "$image" user-data
    devices="$(domain_disk_xml "$(domain_disk_image web1)")
<disk type='file' device='cdrom'><source file='$image'/><target dev='sdb' bus='sata'/><readonly/></disk>" \
        domain_define web1 $web1
    lab_run virt-clone --connect qemu:///system --original web1 --name web2 --auto-clone
    run -0 lab_virsh dumpxml web2
    [[ $output = *"<source file='$image'/>"* ]]
    # Nothing of the domain is in it.
    run -0 "$builddir/virt-seed" inspect "$image"
    [[ $output = *'instance-id iid-local01'* ]]
    grep -qa correct-horse "$image"
}

# The README says this, too.
@test "with cloud-localds a change takes a new image, which has the same instance-id" {
    local image=$LAB_DIR/root/var/lib/libvirt/images/seed.img

    need cloud-localds
    cloud-localds "$image" user-data
    devices="<disk type='file' device='cdrom'><source file='$image'/><target dev='sda' bus='sata'/>
<readonly/></disk>" domain_define web1 $web1
    echo 'timezone: UTC' >>user-data
    lab_virsh start web1
    lab_virsh destroy web1
    run -1 grep -qa 'timezone: UTC' "$image"
    # It stays when the domain is gone: whoever made it deletes it.
    lab_virsh undefine web1
    cloud-localds "$image" user-data
    grep -qa 'timezone: UTC' "$image"
    run -0 "$builddir/virt-seed" inspect "$image"
    [[ $output = *'instance-id iid-local01'* ]]
}

# guest_answers: reports that the guest is set up, as soon as its domain runs.
guest_answers() {
    wait_until 100 lab_run test -e "$report_dir/$web1.report" &&
        report_say $web1 "$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
}

need_ansible() {
    need ansible-playbook
    ansible-doc -t module community.libvirt.virt >/dev/null 2>&1 ||
        skip 'the collection community.libvirt is not installed'
    # What its module needs; newer ones need lxml, too.
    /usr/bin/python3 -c 'import libvirt, lxml' 2>/dev/null ||
        skip 'python3-libvirt or python3-lxml is not installed'
}

@test "Ansible's example defines, wires and starts a domain, and waits for its guest" {
    local guest request

    need_ansible
    request="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:hostname>play</ci:hostname></ci:cloud-init>"
    metadata=$request domain_xml web1 $web1 >web1.xml
    guest_answers 3>&- &
    guest=$!
    play web1.xml
    wait $guest
    [[ $(seed_has $web1 '."local-hostname"') = play ]]
    [[ $output = *'[Wire the domain] '*([*])$'\n'changed:* ]]
    # Again, with the definition as it is now.
    lab_virsh dumpxml --inactive web1 >wired.xml
    play wired.xml
    [[ $output = *'[Wire the domain] '*([*])$'\n'ok:* ]]
}

# play XML: runs the example for the domain web1.
play() {
    run -0 lab_run HOME="$BATS_TEST_TMPDIR" PATH="$builddir:$PATH" LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1 \
        ansible-playbook -i localhost, -e domain=web1 -e "xml=$PWD/$1" \
        "$BATS_TEST_DIRNAME/../../xml/examples/ansible.yml"
    echo "$output"
}

# begin_sshd ADDRESS: root of the lab can log in there with the test's key.
begin_sshd() {
    cat >"sshd-$1" <<END
ListenAddress $1
HostKey $PWD/key
AuthorizedKeysFile $PWD/key.pub
StrictModes no
UsePAM no
SetEnv PATH=$builddir:$PATH LC_ALL=C.UTF-8
PidFile none
END
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'grep -q "^sshd:" /etc/passwd || echo "sshd:x:64400:65534::/:/bin/false" >>/etc/passwd
        mkdir -p /run/sshd && exec /usr/sbin/sshd -f "$1" -E "$1.log"' sh "$PWD/sshd-$1" 3>&- 4>&-
}

# guest_of_host_answers NAME: reports that the guest is set up, as soon as its domain runs.
guest_of_host_answers() {
    local uuid

    wait_until 100 lab_virsh domuuid "$1"
    uuid=$(lab_virsh domuuid "$1" | head -n 1)
    wait_until 100 lab_run test -e "$report_dir/$uuid.report" &&
        report_say "$uuid" "$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
}

# play_guests [OPTION...]: the recipe, but for the packages, on both hosts.
play_guests() {
    run -0 lab_run HOME="$PWD" LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1 ANSIBLE_REMOTE_TMP=/run/ansible \
        ANSIBLE_SSH_ARGS="-F $PWD/ssh_config" sh -c "$play \"\$@\"" sh --skip-tags install "$@" 3>&-
    echo "$output"
}

# tests/packages has the steps that install.
@test "Ansible's recipe sets up a guest on each of two hosts over ssh, and a second run changes nothing" {
    local guests=() play

    need_ansible
    need /usr/sbin/sshd
    hosts_start_destination
    # Saves the files that it shows.
    play=$(python3 "$BATS_TEST_DIRNAME/../transcript.py" --commands "$BATS_TEST_DIRNAME/../../docs/recipes.md")
    domain_xml '{{ guest }}' >guest.xml
    printf '#cloud-config\ntimezone: UTC\n' >web1.yaml
    printf '#cloud-config\ntimezone: Europe/Vienna\n' >web2.yaml
    ssh-keygen -q -t ed25519 -N '' -f key
    printf 'Host kvm1\n  HostName 10.9.0.1\nHost kvm2\n  HostName 10.9.0.2\nHost *\n  IdentityFile %s\n' "$PWD/key" >ssh_config
    printf '  %s\n' StrictHostKeyChecking=no UserKnownHostsFile=/dev/null BatchMode=yes ControlMaster=auto \
        ControlPath=/run/ssh-%h ControlPersist=60 >>ssh_config
    common_make_conf
    on_destination common_make_conf
    begin_sshd 10.9.0.1
    on_destination begin_sshd 10.9.0.2
    guest_of_host_answers web1 3>&- &
    guests+=($!)
    on_destination guest_of_host_answers web2 3>&- &
    guests+=($!)
    play_guests
    wait "${guests[@]}"
    [[ $(grep -c 'changed=3 .*unreachable=0 .*failed=0' <<<"$output") -eq 2 ]]
    [[ $(virt_seed dump web1 user-data) = "$(<web1.yaml)" ]]
    [[ $(on_destination virt_seed dump web2 user-data) = "$(<web2.yaml)" ]]
    play_guests
    [[ $(grep -c 'changed=0 .*unreachable=0 .*failed=0' <<<"$output") -eq 2 ]]
    # As it says, other user-data is set, and is for the next start.
    printf '#cloud-config\ntimezone: Etc/GMT\n' >web2.yaml
    play_guests --limit kvm2
    [[ $output = *'changed=1 '*'failed=0 '* ]]
    run -0 on_destination virt_seed pending web2
    [[ $output = *user-data* ]]
}
