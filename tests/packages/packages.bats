#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# packages.bats: Debian's packages on a host of their own, from installation to purge.
#
# scripts/test-packages runs this as root in a root file system that has libvirt and QEMU, but no
# virt-seed and no init system. Each test continues where the one before has ended.

bats_require_minimum_version 1.5.0

debs=${VIRT_SEED_DEBS:?}
newer=${VIRT_SEED_NEWER_DEBS:?}
package_tests=${VIRT_SEED_PACKAGE_TESTS:?}
export LIBVIRT_DEFAULT_URI=qemu:///system DEBIAN_FRONTEND=noninteractive

uuid=0d7ff1d9-5f0c-4b3c-a1d6-6c6f0f2e8d11
seed=/run/libvirt/virt-seed/$uuid.iso
hook=/etc/libvirt/hooks/qemu.d/50-virt-seed
local_rules=/etc/apparmor.d/local/abstractions/libvirt-qemu

setup_file() {
    start_daemons
    define_domain plain ''
    virsh start plain
    virsh destroy plain
    # An administrator's own line stays, even if it has no end of line.
    mkdir -p "${local_rules%/*}"
    printf '%s' 'deny /srv/private r,' >>"$local_rules"
    stop_daemons
    list_files >"$BATS_FILE_TMPDIR/before"
}

teardown_file() {
    virsh destroy web1 || :
    stop_daemons
}

start_daemons() {
    virtlogd --daemon 3>&- 4>&-
    libvirtd --daemon 3>&- 4>&-
    wait_until virsh uri
}

stop_daemons() {
    local name pid

    for name in libvirtd virtlogd; do
        if [[ -e /run/$name.pid ]]; then
            pid=$(</run/"$name.pid")
            kill "$pid"
            wait_until is_gone "$pid"
        fi
    done
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

# wait_until COMMAND…: waits at most half a minute.
wait_until() {
    for _ in {1..300}; do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    echo "this did not come true: $*" >&2
    return 1
}

# define_domain NAME METADATA [DEVICES]
define_domain() {
    cat >"$BATS_FILE_TMPDIR/$1.xml" <<END
<domain type='qemu'>
  <name>$1</name>
  $([[ $1 != web1 ]] || echo "<uuid>$uuid</uuid>")
  <metadata>$2</metadata>
  <memory unit='MiB'>32</memory>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices><controller type='usb' model='none'/><memballoon model='none'/>${3-}</devices>
</domain>
END
    virsh define "$BATS_FILE_TMPDIR/$1.xml"
}

# Prints every file with its type, mode, owner and target, and the content of those in /etc. It omits the
# files of dpkg and apt, and libvirt's logs of each domain and what it remembers of QEMU, which are not
# virt-seed's; and a folder of AppArmor's, which the purge of any package with a profile removes if it is empty
# (dh_apparmor).
list_files() {
    find / \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root -o -path /debs \
        -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache/apt -o -path /var/cache/debconf \
        -o -path /var/cache/man -o -path /var/log/apt -o -path /var/log/dpkg.log \
        -o -path /var/log/alternatives.log -o -path /var/log/libvirt/qemu \
        -o -path /var/cache/libvirt/qemu -o -path /etc/apparmor.d/disable \) -prune \
        -o -printf '%p %y %m %u %g %l\n' | sort
    # useradd and userdel keep the previous versions of their files, such as passwd-.
    find /etc -type f ! -name '*-' ! -path "$local_rules" -exec sha256sum {} + | sort -k 2
}

# guest_answers: once web1 runs, says in its place what a guest says that is set up; the domain boots nothing.
guest_answers() {
    # shellcheck source=tests/libvirt/report.bash
    source "$BATS_TEST_DIRNAME/../libvirt/report.bash"
    LAB_DIR=$BATS_TEST_TMPDIR
    ln -s / "$LAB_DIR/root"
    wait_until test -e "$report_dir/$uuid.report" &&
        wait_until virt-seed inspect --extract="$LAB_DIR/taken" "/run/libvirt/virt-seed/$uuid.iso" &&
        report_say "$uuid" "$(report_line "$boot1" "$(report_runs)")" \
            "$(report_line "$boot1" "$(report_ended)" "$(report_result)" "$(report_taken "$uuid" "$LAB_DIR/taken")")"
}

is_wired() {
    virsh dumpxml --inactive web1 | grep -qF "$seed"
}

runs() {
    [[ $(virsh domstate web1) = running ]]
}

# tests/libvirt/recipes.bats has the other steps. This host has no ssh.
@test "Ansible's recipe installs the package, and a second run changes nothing" {
    cd "$BATS_TEST_TMPDIR"
    play=$(python3 "$BATS_TEST_DIRNAME/../transcript.py" --commands "$BATS_TEST_DIRNAME/../../docs/recipes.md")
    cp "$debs"/virt-seed_*.deb virt-seed.deb
    for changed in 2 0; do
        run -0 sh -c "$play --extra-vars ansible_connection=local --limit kvm1 --tags install"
        echo "$output"
        [[ $output = *"ok=3 "*"changed=$changed "* ]]
    done
    virt-seed --version
    apt-get purge --yes virt-seed
    rm /root/virt-seed.deb
}

@test "the packages install" {
    apt-get install --yes --no-install-recommends "$debs"/virt-seed*.deb
    virt-seed --version
    # No library that reads other people's text is linked statically: a security update would not reach it. These
    # make host keys.
    [[ $(virt-seed-maker --version | sed -n 's/^virt-seed-maker includes //p') =~ ^hogweed\ [0-9.]+,\ gmp\ [^,]+$ ]]
    [[ -e /etc/apparmor.d/virt-seed-maker && -e /etc/apparmor.d/local/virt-seed-maker ]]
    [[ $(stat -c '%a %U' /etc/virt-seed/secrets) = "700 root" ]]
    [[ $(stat -c '%a %U' /etc/virt-seed/conf.d) = "755 root" ]]
}

@test "Cockpit finds its page" {
    run -0 cockpit-bridge --packages
    [[ $output = *"virt-seed"*"/usr/share/cockpit/virt-seed"* ]]
}

@test "each of the two users has a number of its own, no rights and no shell" {
    local name user shell

    for name in virt-seed virt-seed-imds; do
        IFS=: read -r _ _ user _ _ _ shell < <(getent passwd $name)
        [[ $user -ne 0 && $user -lt 1000 && $shell = */nologin ]]
        [[ $(id --groups --name $name) = "$name" ]]
        [[ $(find / -xdev -user $name) = '' ]]
    done
    [[ $(id --user virt-seed) != "$(id --user virt-seed-imds)" ]]
}

@test "nothing of the metadata server's is enabled, and its directory is its own" {
    run systemctl is-enabled virt-seed-imds.socket virt-seed-imds.service
    [[ $output = disabled$'\n'disabled ]]
    run ! pgrep virt-seed-imds
    [[ $(stat -c '%a %U %G' /run/libvirt/virt-seed/imds) = "750 root virt-seed-imds" ]]
}

@test "virtlogd's unit hides virt-seed's files, and the directories are there before it starts" {
    run -0 systemd-delta --no-pager --type=extended
    [[ $output = *virtlogd.service*virtlogd.service.d/virt-seed.conf* ]]
    [[ $(stat -c '%a %U' /run/libvirt/virt-seed /var/lib/virt-seed) = $'711 root\n711 root' ]]
}

@test "AppArmor lets a guest run the emulator, by the rules that libvirt includes" {
    cat >"$BATS_TEST_TMPDIR/profile" <<END
#include <tunables/global>
profile libvirt-$uuid flags=(attach_disconnected) {
  #include <abstractions/libvirt-qemu>
}
END
    run -0 apparmor_parser -Q -K -D rule-exprs "$BATS_TEST_TMPDIR/profile"
    [[ $output = */usr/bin/virt-seed-qemu* ]]
}

@test "the packages' own tests pass" {
    "$package_tests/seed"
    "$package_tests/domain"
}

# As a reader does who has just installed the packages; the files that are shown are written first.
@test "what the README and the guide show is what their commands print" {
    local home=$BATS_TEST_TMPDIR/home disk=/var/lib/libvirt/images/web1.raw guest

    # The README's host has one domain.
    virsh dumpxml --inactive plain >"$BATS_TEST_TMPDIR/plain.xml"
    virsh undefine plain
    mkdir -p "$home/.ssh"
    echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org' \
        >"$home/.ssh/id_ed25519.pub"
    truncate --size=1M "$disk"
    define_domain web1 '' "<disk type='file' device='disk'><driver name='qemu' type='raw'/>
        <source file='$disk'/><target dev='vda' bus='virtio'/></disk>"
    guest_answers 3>&- 4>&- &
    guest=$!
    cd "$home"
    HOME=$home python3 "$BATS_TEST_DIRNAME/../transcript.py" \
        "$BATS_TEST_DIRNAME"/../../{README.md,docs/guide.md}
    wait $guest
    virsh undefine web1
    virsh define "$BATS_TEST_TMPDIR/plain.xml"
    rm -r /etc/virt-seed/secrets/web1 "$disk"
    virt-seed gc --all
}

@test "a domain that runs goes on through an upgrade, and its seed goes when it ends" {
    define_domain web1 "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>"
    virt-seed wire web1
    virsh start web1
    apt-get install --yes --no-install-recommends "$newer"/virt-seed*.deb
    runs
    [[ -e $seed ]]
    [[ $(grep -c virt-seed-qemu "$local_rules") -le 1 ]]
    virsh destroy web1
    [[ ! -e $seed ]]
}

@test "removing the packages leaves a running domain and its seed, but no hook" {
    virsh start web1
    run -0 apt-get remove --yes virt-seed
    [[ $output = *"still wired, and will not start: web1"* ]]
    runs
    [[ -e $seed && -e /etc/virt-seed/virt-seed.conf ]]
    [[ ! -e $hook && ! -L $hook ]]
    # libvirtd finds the domain again, and there is no hook that could prevent it.
    stop_daemons
    start_daemons
    runs
}

@test "a purge keeps what the administrator wrote, says so, and leaves the domain running" {
    install -d -m 0700 /etc/virt-seed/secrets
    echo secret >/etc/virt-seed/secrets/web1
    install -d -m 0711 /var/lib/libvirt/virt-seed/$uuid
    run -0 dpkg --purge virt-seed-cockpit virt-seed-imds virt-seed-vdsm virt-seed
    [[ ! -e /var/lib/libvirt/virt-seed ]]
    [[ $output = *"your secrets and files are still in /etc/virt-seed"* ]]
    [[ -e /etc/virt-seed/secrets/web1 && ! -e /etc/virt-seed/virt-seed.conf ]]
    rm -r /etc/virt-seed
    stop_daemons
    start_daemons
    runs
    virsh destroy web1
    # README.Debian says why.
    run virsh start web1
    [[ $status -ne 0 && $output = *"No such file or directory"* ]]
    virsh undefine web1
}

@test "after the purge the host is as it was before" {
    stop_daemons
    list_files >"$BATS_FILE_TMPDIR/after"
    diff -u "$BATS_FILE_TMPDIR/before" "$BATS_FILE_TMPDIR/after"
    [[ $(<"$local_rules") = "deny /srv/private r," ]]
}

@test "a purge ends well while a process of each user is left" {
    local user pids=()

    apt-get install --yes --no-install-recommends "$debs"/virt-seed*.deb
    for user in virt-seed virt-seed-imds; do
        setpriv --reuid $user --clear-groups --regid nogroup sleep 300 3>&- 4>&- &
        pids+=($!)
        wait_until pgrep --uid $user
    done
    run dpkg --purge virt-seed-cockpit virt-seed-imds virt-seed-vdsm virt-seed
    kill "${pids[@]}"
    [[ $status -eq 0 ]]
}
