#!/usr/bin/env bats
# doctor.bats: what `virt-seed doctor` says of a host, which is a directory here: so nobody is asked
# who runs. tests/libvirt/doctor.bats asks a real libvirtd and a real server.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

hooks=${VIRT_SEED_HOOKDIR-/etc/libvirt/hooks}
libvirt_confdir=${VIRT_SEED_DEFINITIONS-/etc/libvirt/qemu}
libvirt_confdir=${libvirt_confdir%/*}
sbindir=${VIRT_SEED_SBINDIR-/usr/sbin}
bindir=${VIRT_SEED_BINDIR-/usr/bin}

# A host on which all is as it should be.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    mkdir -p "$root$hooks/qemu.d" "$root$sbindir" "$root$qemu_home" "$root$confdir/files"
    install -m 0755 "$top_builddir/virt-seed-hook" "$top_builddir/virt-seed-maker" "$root$sbindir"
    ln -s "$sbindir/virt-seed-hook" "$root$hooks/qemu.d/50-virt-seed"
    install -d -m 0700 "$root$confdir/secrets"
    mkdir -p "$root/etc"
    echo 'virt-seed:x:990:990::/:/usr/sbin/nologin' >"$root/etc/passwd"
}

doctor() {
    virt-seed --root="$root" doctor "$@"
}

# finds [STATE/SUBJECT]...: these are not as they should be, and nothing else; the exit status is 1 if
# and only if one is a problem. Each says something, and what to do.
finds() {
    local wanted=0

    if [[ $* == *problem/* ]]; then
        wanted=1
    fi
    run "-$wanted" doctor --json
    diff <(printf '%s\n' "$@" | sed '/^$/d' | sort) \
        <(jq -r '.diagnoses[] | select(.state != "ok") | .state + "/" + .subject' <<<"$output" | sort -u)
    jq -e 'all(.diagnoses[]; .message != "" and ((.state == "ok") == (.fix == null)))' <<<"$output"
}

# fix SUBJECT: what is said to fix it, as the last `finds` has found it; its paths are below $root.
fix() {
    jq -r --arg subject "$1" '.diagnoses[] | select(.subject == $subject and .fix) | .fix' <<<"$output" |
        sed -E "s|(^\|[ >])(/[a-z])|\1$root\2|g"
}

# fixes SUBJECT: the command that is said to fix it does.
fixes() {
    local command

    command=$(fix "$1")
    echo "$command"
    bash -c "$command"
    finds
}

# enable_apparmor [LINE]: the kernel has it, and libvirt's profiles of guests are those of Debian 12
# with that last line.
enable_apparmor() {
    local policy=$root/etc/apparmor.d

    mkdir -p "$root/sys/module/apparmor/parameters" "$policy/abstractions"
    echo Y >"$root/sys/module/apparmor/parameters/enabled"
    install -D -m 0644 "$top_builddir/hooks/virt-seed-qemu" "$policy/abstractions/libvirt-qemu.d/virt-seed-qemu"
    printf '%s\n' '  #include <abstractions/base>' '  /etc/pki/** r,' \
        "${1-  #include <local/abstractions/libvirt-qemu>}" >"$policy/abstractions/libvirt-qemu"
}

@test "a correct host has no problems" {
    finds
    run -0 doctor
    [[ $output = 'no problems found' ]]
    run -0 virt-seed --quiet --root="$root" doctor
    [[ -z $output ]]
    run -0 doctor --verbose
    assert_said 'ok: hook: ' 'ok: directories: ' 'ok: secrets: ' $'\nno problems found'
}

@test "a problem has a sentence and a fix" {
    rm "$root$hooks/qemu.d/50-virt-seed"
    run -1 doctor
    [[ ${lines[0]} == "problem: hook: $hooks/qemu.d/50-virt-seed is missing: "* ]]
    [[ ${lines[1]} == '  fix: '* ]]
    [[ ${#lines[@]} -eq 2 ]]
}

@test "finds a missing hook, and the fix creates it" {
    rm -r "$root$hooks"
    finds problem/hook
    # The link's target is a path of the host's, which the link in $root must keep.
    fix hook | sed "s|ln -sf $root|ln -sf |" | bash
    finds
}

@test "a host without virt-seed's hook is told to install it" {
    rm "$root$hooks/qemu.d/50-virt-seed" "$root$sbindir/virt-seed-hook"
    run -1 doctor
    assert_said "$sbindir/virt-seed-hook is missing" 'fix: install virt-seed'
    [[ $output != *'ln -sf'* ]]
}

@test "finds a hook that libvirt would not run" {
    chmod -x "$root$sbindir/virt-seed-hook"
    finds problem/hook
    assert_said 'is not executable' 'chmod 0755'
    ln -sf /nowhere "$root$hooks/qemu.d/50-virt-seed"
    finds problem/hook
    assert_said 'leads nowhere'
    ln -sf "$sbindir/virt-seed-maker" "$root$hooks/qemu.d/50-virt-seed"
    finds problem/hook
    assert_said 'does not lead to virt-seed-hook'
}

@test "finds a hook that others may change or that lacks its other half" {
    chmod o+w "$root$sbindir/virt-seed-hook"
    finds problem/hook
    assert_said 'others may change it'
    chmod o-w "$root$sbindir/virt-seed-hook"
    rm "$root$sbindir/virt-seed-maker"
    finds problem/hook
    assert_said "virt-seed-maker is missing"
}

@test "finds a half of the hook that is not executable or that others may change" {
    chmod 0644 "$root$sbindir/virt-seed-maker"
    finds problem/hook
    assert_said 'virt-seed-maker has mode 0644 and is not executable'
    chmod 0757 "$root$sbindir/virt-seed-maker"
    finds problem/hook
    assert_said 'virt-seed-maker belongs to ' 'others may change it'
    [[ $(jq -r '.diagnoses[] | select(.fix) | .fix' <<<"$output") == *' chmod 0755 '*/virt-seed-maker ]]
}

@test "finds a second hook that would make each seed twice" {
    ln -s "$sbindir/virt-seed-hook" "$root$hooks/qemu.d/50-virt-seed.dpkg-dist"
    finds problem/hook
    assert_said '2 hooks lead to virt-seed-hook'
    rm "$root$hooks/qemu.d/50-virt-seed.dpkg-dist"
    # What libvirt does not run is none.
    touch "$root$hooks/qemu.d/50-virt-seed.orig"
    finds
}

@test "finds directories that belong to others or that others may write to" {
    mkdir -p "$root$rundir" "$root$statedir" "$root$reportdir"
    finds
    chmod 0777 "$root$rundir"
    finds problem/directories
    assert_said "$rundir has mode 0777"
    chmod 0755 "$root$rundir"
    [[ $EUID -eq 0 ]] || return 0
    chown 1 "$root$statedir"
    finds problem/directories
    assert_said "$statedir belongs to user 1, expected 0"
    fixes directories
}

@test "never suggests removing directories with the administrator's own files" {
    local path

    mkdir -p "$root$statedir"
    touch "$root$statedir/kept" "$root$confdir/kept"
    for path in "$confdir" "$confdir/files" "$statedir"; do
        chmod g+w "$root$path"
        finds problem/directories
        [[ $(fix directories) != *remove* ]]
        chmod g-w "$root$path"
    done
    [[ $EUID -eq 0 ]] || return 0
    chmod 0777 "$root$confdir"
    chown 1 "$root$confdir"
    finds problem/directories
    fixes directories
    [[ -e $root$statedir/kept && -e $root$confdir/kept ]]
}

@test "finds directories that QEMU's user cannot pass, and the fix opens them" {
    local path

    mkdir -p "$root$rundir" "$root$reportdir"
    for path in "$rundir" "${rundir%/*}"; do
        chmod 0700 "$root$path"
        finds problem/directories
        assert_said "$path has mode 0700"
        fixes directories
    done
    install -d -m 0700 "$root$statedir"
    finds problem/directories
    assert_said "$statedir has mode 0700: readers of records must be able to pass through"
    fixes directories
    # The shim alone needs that one.
    chmod 0700 "$root${reportdir%/*}"
    finds note/directories
    fixes directories
}

@test "finds a mistake in the configuration" {
    echo 'autowire = perhaps' >"$root$confdir/virt-seed.conf"
    finds problem/configuration
    assert_said 'line 1' "'perhaps'"
}

@test "finds secrets that are open to others, and prints their paths but not their content" {
    make_secret web1 userdata 'hush-hush'
    finds
    chmod 0644 "$root$confdir/secrets/web1/userdata"
    finds problem/secrets
    assert_said "$confdir/secrets/web1/userdata has mode 0644"
    [[ $output != *hush-hush* ]]
    chmod 0600 "$root$confdir/secrets/web1/userdata"
    chmod 0755 "$root$confdir/secrets/web1" "$root$confdir/secrets"
    finds problem/secrets
    assert_said "$confdir/secrets has mode 0755"
    chmod 0700 "$root$confdir/secrets"
    finds problem/secrets
    assert_said "$confdir/secrets/web1 has mode 0755"
}

@test "checks secrets and keys whose names begin with a dot, too" {
    make_secret web1 .key 'hush-hush'
    make_secret .web2 userdata 'hush-hush'
    mkdir -m 0755 "$root$confdir/secrets/web1/..2026"
    finds
    chmod 0644 "$root$confdir/secrets/web1/.key"
    finds problem/secrets
    assert_said "$confdir/secrets/web1/.key has mode 0644"
    chmod 0600 "$root$confdir/secrets/web1/.key"
    chmod 0755 "$root$confdir/secrets/.web2"
    finds problem/secrets
    assert_said "$confdir/secrets/.web2 has mode 0755"
}

@test "tells an ordinary user what only root can see" {
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'only root can make what an ordinary user may not see'
    chmod 0700 "$root$libvirt_confdir"
    run -0 "${as_nobody[@]}" virt-seed --root="$root" doctor
    assert_said 'unknown: root: only root can see ' "$hooks/qemu.d" "$confdir/secrets" \
        $'\n  fix: run it as root' $'\nno problems found, but not everything could be checked'
    chmod 0755 "$root$libvirt_confdir"
    chmod 0711 "$root$hooks/qemu.d"
    run -0 "${as_nobody[@]}" virt-seed --root="$root" doctor
    assert_said "unknown: root: only root can see $hooks/qemu.d"
}

@test "suggests a user of its own for what reads domains' XML" {
    echo 'virt-seed-imds:x:991:991::/:/usr/sbin/nologin' >"$root/etc/passwd"
    finds note/user
    [[ $(fix user) = systemd-sysusers ]]
    rm "$root/etc/passwd"
    finds note/user
    type -P systemd-sysusers >/dev/null || skip 'there is no systemd-sysusers'
    [[ $EUID -eq 0 && -e $top_builddir/scripts/systemd/virt-seed.sysusers ]] || skip 'needs root, and a build with systemd'
    install -D -m 0644 "$top_builddir/scripts/systemd/virt-seed.sysusers" "$root/usr/lib/sysusers.d/virt-seed.conf"
    systemd-sysusers --root="$root"
    finds
}

@test "finds reports of unlimited size" {
    mkdir -p "$root$libvirt_confdir"
    printf '%s\n' '#stdio_handler = "file"' 'stdio_handler = "logd"' >"$root$libvirt_confdir/qemu.conf"
    finds
    echo '  stdio_handler="file"' >>"$root$libvirt_confdir/qemu.conf"
    finds problem/stdio-handler
    [[ $(fix stdio-handler) != *systemctl* ]]
    fix stdio-handler | bash
    finds
}

@test "finds AppArmor rules without the shim, and the fix suits the host's libvirt" {
    enable_apparmor
    finds note/shim
    fixes shim
    # Debian 13's includes all of the directory.
    rm -r "$root/etc/apparmor.d"
    enable_apparmor '  include if exists <abstractions/libvirt-qemu.d>'
    finds
    # The rules count in whatever file they are, but for one that the parser leaves out.
    mv "$root/etc/apparmor.d/abstractions/libvirt-qemu.d/"{virt-seed-qemu,site}
    finds
    mv "$root/etc/apparmor.d/abstractions/libvirt-qemu.d/"{site,virt-seed-qemu.dpkg-new}
    finds note/shim
    assert_said 'reinstall virt-seed'
    echo N >"$root/sys/module/apparmor/parameters/enabled"
    finds
}

@test "needs no AppArmor rules for the shim if libvirt does not use AppArmor" {
    enable_apparmor
    mkdir -p "$root$libvirt_confdir"
    echo 'security_driver = "none"' >"$root$libvirt_confdir/qemu.conf"
    finds
    echo 'security_driver = [ "none" ]' >"$root$libvirt_confdir/qemu.conf"
    finds
    echo 'security_driver = ["apparmor", "dac"]' >"$root$libvirt_confdir/qemu.conf"
    finds note/shim
}

@test "does not say that root can see what root cannot see either" {
    enable_apparmor '  include if exists <abstractions/libvirt-qemu.d>'
    mkdir -p "$root${rundir%/*}"
    touch "$root${rundir%/*}/virtlogd-sock"
    pretend_daemon virtqemud -60
    # Its process has ended since.
    finds
    mkdir -p "$root/proc/77/attr/current"
    finds unknown/apparmor
    assert_said "/proc/77/attr/current: Is a directory"
}

@test "reads an AppArmor policy that includes itself" {
    enable_apparmor '  #include <abstractions/libvirt-qemu>'
    finds note/shim
}

@test "check says first that AppArmor keeps libvirt from the domain's emulator" {
    enable_apparmor
    domain_xml '<ci:user-data>package_update: true</ci:user-data>' |
        sed "s|<devices>|&<emulator>$bindir/virt-seed-qemu-system-x86_64</emulator>|" >shim.xml
    run -1 virt-seed --root="$root" check --no-schema shim.xml
    [[ ${lines[0]} == 'shim.xml: error: AppArmor does not let libvirt run '*'cannot execute binary'*' [apparmor]' ]]
    [[ ${lines[1]} == '  hint: '*local/abstractions/libvirt-qemu ]]
    assert_said '[user-data]'
    # No profile is made for that one, and none is needed for another emulator.
    sed 's|</domain>|<seclabel type="none"/>&|' shim.xml >open.xml
    run virt-seed --root="$root" check --no-schema open.xml
    [[ $output != *'[apparmor]'* ]]
    sed 's|virt-seed-qemu-|qemu-|' shim.xml >plain.xml
    run virt-seed --root="$root" check --no-schema plain.xml
    [[ $output != *'[apparmor]'* ]]
}

# pretend_daemon NAME SECONDS: the process file and the process of libvirt's daemon, which began so
# long ago.
pretend_daemon() {
    local now ticks

    now=$(awk -v ago="$2" '{printf "%d", ($1 - ago) * 100}' /proc/uptime)
    ticks=$((now * $(getconf CLK_TCK) / 100))
    mkdir -p "$root${rundir%/libvirt/*}" "$root/proc/77"
    echo 77 >"$root${rundir%/libvirt/*}/$1.pid"
    echo "77 ($1) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 17 0 $ticks 1 2" >"$root/proc/77/stat"
}

@test "finds a daemon that was started before the hook was installed, and says how to restart it" {
    mkdir -p "$root${rundir%/*}"
    touch "$root${rundir%/*}/virtlogd-sock"
    pretend_daemon virtqemud -60
    run -0 doctor --verbose
    assert_said 'ok: hook-noticed: virtqemud was started after the hook was installed'
    rm "$root${rundir%/libvirt/*}/virtqemud.pid"
    pretend_daemon libvirtd 5
    finds unknown/hook-noticed
    [[ $(fix hook-noticed) = 'kill -HUP 77' ]]
    # A process of another name is not the daemon.
    sed -i 's/(libvirtd)/(sleep)/' "$root/proc/77/stat"
    finds
}

@test "finds no problem if another hook was there at the start, since libvirt notices new ones then" {
    install -m 0755 /dev/null "$root$hooks/qemu"
    sleep 1
    rm "$root$hooks/qemu.d/50-virt-seed"
    ln -s "$sbindir/virt-seed-hook" "$root$hooks/qemu.d/50-virt-seed"
    mkdir -p "$root${rundir%/*}"
    touch "$root${rundir%/*}/virtlogd-sock"
    pretend_daemon libvirtd 0.5
    finds
    chmod -x "$root$hooks/qemu"
    finds unknown/hook-noticed
}

@test "finds no problem if a seed was made since, which shows that libvirt noticed the hook" {
    mkdir -p "$root$rundir"
    touch "$root${rundir%/*}/virtlogd-sock"
    pretend_daemon libvirtd 5
    touch -d '1 minute ago' "$root$rundir/$uuid.iso"
    finds unknown/hook-noticed
    touch "$root$rundir/$uuid.iso"
    finds
}

@test "finds a missing virt-seed policy if SELinux confines libvirt's daemon" {
    mkdir -p "$root/sys/fs/selinux" "$root${rundir%/*}"
    touch "$root${rundir%/*}/virtlogd-sock"
    pretend_daemon virtqemud -60
    mkdir "$root/proc/77/attr"
    echo system_u:system_r:virtqemud_t:s0 >"$root/proc/77/attr/current"
    printf 0 >"$root/sys/fs/selinux/enforce"
    finds
    printf 1 >"$root/sys/fs/selinux/enforce"
    finds problem/selinux
    [[ $(fix selinux) = 'install virt-seed-selinux' ]]
    # Debian has no such package.
    mkdir -p "$root/etc"
    touch "$root/etc/debian_version"
    finds problem/selinux
    [[ $(fix selinux) = *'man virt-seed-selinux' ]]
    # That of EL 9 is not confined, Debian's of the same name is.
    echo system_u:system_r:virtd_t:s0 >"$root/proc/77/attr/current"
    finds problem/selinux
    rm "$root/etc/debian_version"
    finds
}

@test "does not ask this host's server about another root" {
    make_server
    run -0 doctor --json
    jq -e 'all(.diagnoses[]; .subject != "metadata-server")' <<<"$output"
    end_server
}

@test "finds a missing virtlogd" {
    pretend_daemon libvirtd -60
    finds problem/virtlogd
}
