#!/usr/bin/env bats
# forbidden.bats: domains whose devices lead into virt-seed's directories, on a real libvirtd.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

evil=0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11
victim=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seeds=/run/libvirt/virt-seed
images=/var/lib/libvirt/images
seed=$seeds/$victim.iso
qemu=http://libvirt.org/schemas/domain/qemu/1.0

setup() {
    lab_make_secret victim userdata '#cloud-config'
    lab_make_secret victim allow victim
    lab_run install -d -m 0711 "$seeds" /var/lib/virt-seed
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" domain_define victim $victim
    virt_seed wire victim
}

teardown() {
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c '[ ! -e /run/flood.pid ] || { kill "$(cat /run/flood.pid)" || :; rm /run/flood.pid; }'
    lab_reset
    lab_run sh -c "rm -rf /etc/virt-seed/* $seeds/* /etc/libvirt/hooks/qemu.d/60-* $images/*link $images/l[0-9]*"
}

# refused PATTERN...: the domain evil is refused, for each of the reasons.
refused() {
    local pattern

    run ! lab_virsh start evil
    for pattern in "virt-seed: error: domain 'evil': " 'virt-seed: hint: ' "$@"; do
        [[ $output = *"$pattern"* ]]
    done
    run -0 lab_virsh domstate evil
    [[ $output = 'shut off'* ]]
    lab_virsh undefine --nvram evil
}

# define_evil: a domain that asks for nothing, by the variables of domain.bash; other elements than
# those there come with an edit of its XML by sed's SCRIPT.
define_evil() {
    domain_xml evil $evil | sed "${1-}" | lab_virsh define /dev/stdin
}

disk() {
    echo "<disk type='file' device='cdrom'><source file='$1'/><target dev='sdc' bus='sata'/><readonly/></disk>"
}

@test "refuses a file of virt-seed's that virtlogd would write" {
    local path device sum

    lab_virsh start victim
    sum=$(lab_run sha256sum "$seed" /etc/virt-seed/secrets/victim/allow)
    for path in "$seed" /etc/virt-seed/secrets/victim/allow /etc/virt-seed/virt-seed.conf \
        /var/lib/virt-seed/$victim.json /var/lib/virt-seed/secrets/$victim/key \
        /var/log/libvirt/virt-seed/$victim.report /var/log/libvirt/virt-seed/$victim.log \
        /var/lib/virt-seed/$victim.log; do
        for device in "<channel type='file'><source path='$path'/><target type='virtio' name='x'/></channel>" \
            "<parallel type='file'><source path='$path' append='on'/></parallel>" \
            "<parallel type='pty'><log file='$path' append='on'/></parallel>"; do
            devices=$device define_evil
            refused "${path%/*}"
        done
    done
    console=$seed define_evil
    refused "<serial> names '$seed', which leads into $seeds"
    [[ $(lab_run sha256sum "$seed" /etc/virt-seed/secrets/victim/allow) = "$sum" ]]
}

@test "refuses a file of virt-seed's that QEMU would read, in each element" {
    lab_virsh start victim
    devices=$(disk "$seed") define_evil
    refused 'no <cloud-init> in its <metadata>'
    devices="<disk type='file'><driver name='qemu' type='qcow2'/><source file='$images/x'/>
        <backingStore type='file'><format type='raw'/><source file='$seed'/></backingStore>
        <target dev='vda' bus='virtio'/></disk>" define_evil
    refused "<disk> names '$seed'"
    devices="<rng model='virtio'><backend model='random'>$seed</backend></rng>" define_evil \
        "s|/dev/urandom|$seed|"
    refused "<rng> names '$seed'"
    devices="<interface type='user'><rom file='$seed'/></interface>" define_evil
    refused "<interface> names '$seed'"
    devices="<filesystem type='mount'><source dir='$seeds'/><target dir='x'/></filesystem>" define_evil
    refused "<filesystem> names '$seeds'"
    os="<kernel>$seed</kernel>" define_evil
    refused "names '$seed'"
    os="<kernel>$images/x</kernel><initrd>$seed</initrd>" define_evil
    refused "names '$seed'"
    os="<loader type='rom'>$seed</loader>" define_evil
    refused "names '$seed'"
    extra="<sysinfo type='fwcfg'><entry name='opt/x' file='$seed'/></sysinfo>" define_evil
    refused "<sysinfo> names '$seed'"
    define_evil "s|</domain>|<qemu:commandline xmlns:qemu='$qemu'>\\
        <qemu:arg value='-drive'/><qemu:arg value='if=none,id=x,file=$seed'/></qemu:commandline>&|"
    refused '<qemu:arg> names a path'
}

@test "refuses a disk with another's seed, however its path is spelled" {
    local path

    lab_virsh start victim
    lab_run ln -s "$seeds" $images/virt-seed-link
    lab_run ln -s "$seeds" $images/link
    for path in "/$seed" "/run/./libvirt/virt-seed/$victim.iso" "/run/libvirt/qemu/../virt-seed/$victim.iso" \
        "/var$seed" "$images/virt-seed-link/$victim.iso" "/run/libvirt&#x2f;./&#x76;irt-seed/$victim.iso" \
        "/proc/self/root$seed"; do
        devices=$(disk "$path") define_evil
        refused '<disk> names '
    done
    # A link without the name is found in a domain that the hook looks at.
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" \
        console=$images/link/$victim.iso define_evil
    virt_seed wire evil
    refused "<serial> names '$images/link/$victim.iso', which leads into $seeds"
}

@test "refuses to resume a guest that would get such a device, and keeps its saved state" {
    local file=$LAB_DIR/evil.save xml=$BATS_TEST_TMPDIR/evil.xml

    console=$images/evil.log define_evil
    lab_virsh start evil
    lab_virsh save evil "$file"
    lab_virsh save-image-dumpxml "$file" >"$xml"
    sed "s|$images/evil.log|/etc/virt-seed/secrets/victim/allow|" "$xml" >"$xml.changed"
    lab_virsh save-image-define "$file" "$xml.changed"
    run ! lab_virsh restore "$file"
    [[ $output = *"<serial> names '/etc/virt-seed/secrets/victim/allow'"* ]]
    lab_virsh save-image-define "$file" "$xml"
    lab_virsh restore "$file"

    # As libvirt keeps it itself.
    lab_virsh managedsave evil
    lab_virsh managedsave-define evil "$xml.changed"
    run ! lab_virsh start evil
    [[ $output = *"<serial> names '/etc/virt-seed/secrets/victim/allow'"* ]]
    lab_virsh managedsave-define evil "$xml"
    lab_virsh start evil
    [[ $(lab_run cat /etc/virt-seed/secrets/victim/allow) = victim ]]
}

# add_hook COMMAND...: another hook, which runs the shell's COMMAND when libvirt is about to start
# QEMU for the victim; the lab's libvirtd has hooks already, so that it notices.
add_hook() {
    # shellcheck disable=SC2016  # the words are the hook's
    lab_run sh -c 'printf "#!/bin/sh\n[ \"\$1 \$2\" != \"victim start\" ] || { %s; }\n" "$1" \
        >/etc/libvirt/hooks/qemu.d/60-test; chmod +x /etc/libvirt/hooks/qemu.d/60-test' sh "$*"
}

@test "ends a guest whose seed another program changes while it starts" {
    local command

    for command in "echo x >>$seed" "cp -p $seed $seed.1; mv $seed.1 $seed; echo >$seed" \
        "touch $seed"; do
        add_hook "$command"
        run ! lab_virsh start victim
        [[ $output = *'virt-seed: error: another program wrote to the seed, or replaced or removed it'* ]]
        run -0 lab_virsh domstate victim
        [[ $output = 'shut off'* ]]
    done
    # Others may give it another owner, as libvirt does.
    add_hook "chown root $seed; chmod 0644 $seed"
    lab_virsh start victim
    # A reboot and a resumed start are not affected.
    lab_virsh reset victim
    lab_virsh managedsave victim
    add_hook "touch $seed"
    lab_virsh start victim
}

# define_leak [SCRIPT]: the domain evil prints its second disk on its console, an image that names the victim's
# seed as its backing file. The XML is edited by sed's SCRIPT.
define_leak() {
    local root=$LAB_DIR/root$images

    as --32 -o "$BATS_TEST_TMPDIR/leak.o" "$BATS_TEST_DIRNAME/leak.S"
    ld -m elf_i386 --Ttext=0x7c00 --oformat binary -o "$root/leak.raw" "$BATS_TEST_TMPDIR/leak.o"
    truncate -s 1M "$root/leak.raw"
    qemu-img create -q -f qcow2 -u -b "$seed" -F raw "$root/evil.qcow2" 1M
    rm -f "$root/console"
    os="<boot dev='hd'/>" machine=pc console=$images/console devices="
        <disk type='file'><source file='$images/leak.raw'/><target dev='hda' bus='ide'/></disk>
        <disk type='file'><driver name='qemu' type='qcow2'/><source file='$images/evil.qcow2'/>
        <target dev='hdb' bus='ide'/></disk>" define_evil "$@"
}

# nothing_leaked: the guest has not said what is in the victim's seed.
nothing_leaked() {
    local console=$LAB_DIR/root$images/console

    [[ ! -s $console ]] || { strings "$console" | head >&2; return 1; }
}

@test "a guest whose disk's image has another's seed as its backing file never runs" {
    local number

    lab_virsh start victim
    for number in {1..5}; do
        define_leak
        refused "<disk> names '$seed'"
        nothing_leaked
    done
    run -0 lab_virsh domstate victim
    [[ $output = running* ]]
}

@test "neither does one whose XML is too large to be looked at" {
    lab_virsh start victim
    printf '<description>%s</description>' "$(printf '"%.0s' {1..3000000})" >"$BATS_TEST_TMPDIR/description"
    define_leak "/<metadata>/{
        r $BATS_TEST_TMPDIR/description
        N
        }"
    run ! lab_virsh start evil
    [[ $output = *'virt-seed: error: '*'File too large'* ]]
    # What it would say comes within a second.
    sleep 3
    nothing_leaked
}

@test "refuses paths that nobody can follow in time, and a link in a list" {
    local number target sum

    sum=$(lab_run sha256sum /etc/virt-seed/secrets/victim/allow)
    target=$(printf './%.0s' {1..2000})
    for ((number = 0; number < 38; number++)); do
        lab_run ln -s "${target}l$((number + 1))" "$images/l$number"
    done
    lab_run mkdir "$images/l38"
    {
        echo "<sysinfo type='smbios'><oemStrings>"
        target=$(printf '/x%.0s' {1..1900})
        for number in {1..150}; do
            echo "<entry>$images/l0/$number$target</entry>"
        done
        echo "</oemStrings></sysinfo>"
    } >"$BATS_TEST_TMPDIR/strings"
    console=/etc/virt-seed/secrets/victim/allow define_evil "/<features>/{
        r $BATS_TEST_TMPDIR/strings
        N
        }"
    SECONDS=0
    run ! lab_virsh start evil
    [[ $output = *'virt-seed: error: '*'virt-seed: hint: '* ]]
    lab_virsh undefine evil
    [[ $(lab_run sha256sum /etc/virt-seed/secrets/victim/allow) = "$sum" ]]

    lab_run ln -s "$seeds" $images/link
    os="<kernel>$images/x</kernel><initrd>$images/x,$images/link/$victim.iso</initrd>" \
        console=/srv/virt-seed/log define_evil
    refused "names '$images/link/$victim.iso', which leads into $seeds"
    extra="<sysinfo type='fwcfg'><entry name='opt/x'>,file=$seed</entry></sysinfo>" define_evil
    refused "<sysinfo> names '$seed'"
}

# attach_channel PATH: to the running domain evil.
attach_channel() {
    echo "<channel type='file'><source path='$1' append='on'/><target type='virtio' name='x'/></channel>" \
        >"$BATS_TEST_TMPDIR/channel.xml"
    lab_virsh attach-device evil "$BATS_TEST_TMPDIR/channel.xml"
}

# pipes_to_virtlogd PROCESS: prints the descriptors of the QEMU that lead there.
pipes_to_virtlogd() {
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run bash -c 'reads=" $(readlink /proc/"$(cat /run/virtlogd.pid)"/fd/* | tr "\n" " ") "
        for fd in /proc/"$0"/fd/*; do
            link=$(readlink "$fd")
            [[ $link != pipe:* || $reads != *" $link "* ]] || echo "$fd"
        done' "$1"
}

# flood FILE: what the guest of the domain evil could say through a channel, for many minutes; the
# test's guests boot nothing.
flood() {
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run bash -c 'echo $$ >/run/flood.pid
        for i in {1..5000}; do
            yes "the bytes of evil" | head -c 1M && sleep 0.$((RANDOM % 5)) || exit
        done >"$0"' "$1" 3>&- 4>&- &
}

# has_own_seed: what the victim's QEMU reads begins with the bytes of its seed.
has_own_seed() {
    # shellcheck disable=SC2016  # the same
    lab_run bash -c 'found=1
        for fd in /proc/"$(cat /run/libvirt/qemu/victim.pid)"/fd/*; do
            [[ $(readlink "$fd") = "$0"* ]] || continue
            cmp -n "$(stat -c %s "$1")" "$fd" "$1" || exit
            found=0
        done
        exit "$found"' "$seed" $images/expected.iso
}

@test "no start boots what another domain's channel floods into the seed" {
    local before number qemu refused=0

    lab_virsh start victim
    lab_run cp "$seed" $images/expected.iso
    has_own_seed
    lab_virsh destroy victim
    devices="<controller type='virtio-serial'/>" define_evil
    lab_virsh start evil
    qemu=$(lab_run cat /run/libvirt/qemu/evil.pid)
    before=$(pipes_to_virtlogd "$qemu")
    attach_channel "$seed"
    flood "$(pipes_to_virtlogd "$qemu" | grep -vxF "${before:-none}" | tail -n 1)"
    # The first starts wait until virtlogd has replaced the seed. All others meet it at any moment.
    add_hook "inode=\$(stat -c %i $seed); for i in \$(seq 600); do \
        [ \"\$(stat -c %i $seed)\" = \"\$inode\" ] || break; sleep 0.1; done"
    for ((number = 1; number <= 27; number++)); do
        [[ $number -ne 4 ]] || lab_run rm /etc/libvirt/hooks/qemu.d/60-test
        if lab_virsh start victim; then
            has_own_seed
            lab_virsh destroy victim
        else
            refused=$((refused + 1))
        fi
    done
    echo "# $refused of 27 starts were refused" >&3
    [[ $refused -ge 3 ]]
}

# restart_virtlogd PATH...: in namespaces where the PATHs cannot be reached, as systemd makes them.
restart_virtlogd() {
    local pid

    pid=$(lab_run cat /run/virtlogd.pid)
    lab_run kill "$pid"
    wait_until 60 _lab_daemon_is_gone "$pid"
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run unshare --mount sh -c 'mkdir -p -m 0 /run/inaccessible
        for path; do
            mount --bind /run/inaccessible "$path" && mount -o remount,ro,bind "$path" || exit
        done
        exec virtlogd --daemon </dev/null >/dev/null 2>&1 3>&- 4>&-' sh "$@"
}

@test "what virtlogd's unit hides is safe from what is attached later, and reports still work" {
    local hidden path

    # shellcheck disable=SC2154  # common.bash sets builddir
    read -ra hidden < <(sed -n 's/^InaccessiblePaths=-//p' "$builddir/scripts/systemd/virtlogd-virt-seed.conf" |
        sed 's/ -/ /g')
    [[ ${#hidden[@]} = 3 ]]
    restart_virtlogd "${hidden[@]}"
    lab_virsh start victim
    lab_run test -e /var/log/libvirt/virt-seed/$victim.report
    devices="<controller type='virtio-serial'/>" define_evil
    lab_virsh start evil
    for path in /etc/virt-seed/secrets/victim/allow /var/lib/virt-seed/$victim.json "$seed"; do
        run ! attach_channel "$path"
    done
    [[ $(lab_run cat /etc/virt-seed/secrets/victim/allow) = victim ]]
    attach_channel $images/evil.log
    lab_reset
    restart_virtlogd
}

@test "a running guest outlives a restart of libvirtd, whatever its devices are" {
    console=$images/evil.log define_evil
    lab_virsh start evil
    # What somebody attaches while the guest runs is not seen by a hook.
    lab_run sed -i "s|$images/evil.log|/etc/virt-seed/x|" /run/libvirt/qemu/evil.xml
    lab_restart_libvirtd
    lab_virsh dumpxml evil | grep "'/etc/virt-seed/x'"
    run -0 lab_virsh domstate evil
    [[ $output = running* ]]
}
