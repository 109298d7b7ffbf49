# shellcheck shell=bash disable=SC2034,SC2154  # variables for those that source this, and bats's
# host.bash: a whole host for tests: systemd, AppArmor or SELinux, libvirtd, virt-seed's packages; a library to
# source. Each file has a machine of its own, which runs on from where another one was saved.
#
# A file that defines no setup_file of its own has host_start; all have host_stop and host_show_failure.
#
#   host_start            have $host run, with virt-seed's packages installed
#   host_start_bare       the same, without
#   host_boot [OPTION…]   boot it, with virt-seed's packages installed, and with more options of QEMU's
#   host_stop             switch it off
#   host_show_failure     for teardown: print what its logs have to say, if the test has failed
#   host_upgrade          upgrade virt-seed's packages
#   on_host COMMAND…      run a command there, as root; a quarter of an hour at most, or $seconds
#   tiny_xml NAME [UUID]  print domain_xml's XML (tests/domain.bash), with its console in a file
#   assert_confined PROCESS UUID
#                         this QEMU is confined for the guest with that UUID
#   assert_no_denials     AppArmor has denied nothing to virt-seed and to guests; SELinux, nothing of virt-seed's
#
# build-host --selinux makes a host with SELinux instead of AppArmor, where virt-seed's policy module is loaded after
# its packages are installed:
#
#   host_has_selinux      whether this is one
#   host_need WHAT        skip the test if such a host lacks this: apparmor, initrd, saving or sessions
#   host_load_policy      do what virt-seed-selinux(8) says
#   host_allow_shim       have its boolean on
#
# Besides domain_xml's variables, tiny_xml has mac. Its card has no boot ROM, which would ask the network
# forever.

host=${VIRT_SEED_HOST:?the directory that scripts/build-host made}
debs=${VIRT_SEED_DEBS:?the directory with the packages for that host}
policy=$BATS_TEST_DIRNAME/../../hooks/selinux
installed=${VIRT_SEED_BUILDDIR:?the build directory}/tests/host/installed-$(basename "$host")
namespace=urn:virt-seed:cloud-init:1

# shellcheck source=tests/wait.bash
source "$BATS_TEST_DIRNAME/../wait.bash"
# shellcheck source=tests/domain.bash
source "$BATS_TEST_DIRNAME/../domain.bash"
# shellcheck source=scripts/host/vm.bash
source "$BATS_TEST_DIRNAME/../../scripts/host/vm.bash"

setup_file() {
    host_start
}

teardown_file() {
    host_stop
}

teardown() {
    host_show_failure
}

host_start() {
    _host_begin && _host_install && _host_resume "$installed"
}

host_start_bare() {
    _host_begin && _host_resume "$host"
}

host_boot() {
    _host_begin && _host_install && vm_overlay "$installed/root.qcow2" "$vm/disk.qcow2" &&
        vm_boot "$host" "$vm/disk.qcow2" "$@" && vm_login 1500
}

_host_begin() {
    export vm=$BATS_FILE_TMPDIR/vm BATS_NO_PARALLELIZE_WITHIN_FILE=true
    mkdir "$vm"
}

_host_resume() {
    vm_overlay "$1/root.qcow2" "$vm/disk.qcow2" &&
        vm_resume "$host" "$vm/disk.qcow2" "$1/memory" &&
        vm_login 900
}

# The first file that needs it makes it, for all of them.
_host_install() {
    local vm identity

    identity=$(sha256sum "$host/manifest" "$debs"/*.deb "$policy"/*)
    mkdir -p "${installed%/*}"
    exec {lock}>"$installed.lock"
    flock -w 1200 "$lock" || return
    if [[ ! -e $installed/identity || $(<"$installed/identity") != "$identity" ]]; then
        vm=$(mktemp -d "$installed.XXXXXX")
        if ! vm_overlay "$host/root.qcow2" "$vm/root.qcow2" ||
            ! vm_resume "$host" "$vm/root.qcow2" "$host/memory" || ! vm_login 900 ||
            ! host_install_packages "$debs" || ! { ! host_has_selinux || host_load_policy; } ||
            ! vm_save "$vm/memory"; then
            _host_show
            vm_kill
            return 1
        fi
        rm -rf "$installed"
        echo "$identity" >"$vm/identity"
        mv "$vm" "$installed"
    fi
    exec {lock}>&-
}

# host_install_packages DIR: installs the packages there as a person would.
host_install_packages() {
    on_host rm -rf /root/debs
    on_host mkdir /root/debs
    (cd "$1" && tar -c virt-seed_*.deb virt-seed-imds_*.deb) | on_host tar -x -C /root/debs &&
        seconds=600 on_host sh -c 'apt-get install --yes /root/debs/*.deb'
}

host_has_selinux() {
    grep -q '^release=.* selinux=yes$' "$host/manifest"
}

# What libvirt itself cannot do there is the policy's fault: libvirt_iohelper has the label of a library, and no role of
# an unconfined user's has the guests' domain.
host_need() {
    host_has_selinux || return 0
    case $1 in
    apparmor) skip 'this host has no AppArmor' ;;
    initrd) skip "Debian's policy for SELinux does not let QEMU map an initrd" ;;
    saving) skip "Debian's policy for SELinux does not let libvirt save guests" ;;
    sessions) skip "Debian's policy for SELinux lets no session of libvirt's start guests" ;;
    esac
}

# The Makefile is the part of configure's that is about the module.
host_load_policy() {
    on_host mkdir -p /root/policy/hooks/selinux
    tar -c -C "$policy" . | on_host tar -x --touch -C /root/policy/hooks/selinux
    {
        printf '%s\n' 'MKDIR_P = mkdir -p' 'INSTALL_DATA = install -m 0644' 'srcdir = .' 'bindir = /usr/bin' \
            'sbindir = /usr/sbin' 'sysconfdir = /etc' 'localstatedir = /var'
        sed 's|%D%|hooks/selinux|g' "$policy/local.mk"
    } | on_host tee /root/policy/Makefile >/dev/null
    # As the manual prints it, for Debian's name of the policy.
    sed -n '/^# make install/,/^# systemctl/p' "$policy/../../docs/virt-seed-selinux.8" |
        sed -e 's/^# //' -e 's/\\-/-/g' -e 's/\\e$/\\/' -e s/targeted/default/ |
        on_host sh -c 'cd /root/policy && sh -ex /dev/stdin'
}

host_allow_shim() {
    ! host_has_selinux || on_host setsebool -P virt_seed_emulator on
}

# The new packages have the same content and a later version.
host_upgrade() {
    local name tree=$BATS_TEST_TMPDIR/later

    mkdir "$tree"
    for name in virt-seed virt-seed-imds; do
        dpkg-deb -R "$debs/$name"_*.deb "$tree/$name" &&
            sed -i -E -e 's/^Version: .*/&+later/' -e 's/(virt-seed \(= [^)]*)/\1+later/' \
                "$tree/$name/DEBIAN/control" &&
            dpkg-deb -b "$tree/$name" "$tree/${name}_later.deb" >/dev/null || return
    done
    host_install_packages "$tree"
    # shellcheck disable=SC2016  # dpkg's variable
    [[ $(on_host dpkg-query -W -f '${Version} ' virt-seed virt-seed-imds) = *+later\ *+later\  ]]
}

# If setup_file has started none, there is none.
host_stop() {
    if [[ -n ${vm-} ]]; then
        vm_kill
    fi
}

host_show_failure() {
    [[ ${BATS_TEST_COMPLETED-} ]] || _host_show
}

_host_show() {
    on_host journalctl --no-pager --boot --lines 60 || :
    on_host sh -c 'dmesg | grep -e apparmor=.DENIED -e "avc: .denied"' || :
    tail -n 20 "$vm/console"
}

on_host() {
    vm_run "${seconds:-900}" "$@"
}

# bash drops the byte 0 at the end of a context.
assert_confined() {
    local label

    label=$(on_host cat "/proc/$1/attr/current" | tr -d '\0')
    if host_has_selinux; then
        [[ $label =~ ^system_u:system_r:svirt_t:s0:c[0-9]+,c[0-9]+$ ]]
    else
        [[ $label = "libvirt-$2 (enforce)" ]]
    fi
}

# For SELinux, what concerns virt-seed's domains, types, programs and files: libvirt and QEMU do more than Debian's
# policy allows, also without virt-seed, and so do semodule and setsebool, which are in semanage_t.
assert_no_denials() {
    run on_host sh -c 'dmesg | grep -v "scontext=[^ ]*:semanage_t:" | grep -e "apparmor=.DENIED" \
        -e "avc: .denied.*virt[-_]seed" -e "avc: .denied.*\.\(iso\|report\|log\|shim\)\""'
    echo "$output"
    [[ $output = '' ]]
}

tiny_xml() {
    # shellcheck disable=SC2016  # the quotes are XML's
    card="${mac:+<mac address='$mac'/>}<model type='virtio'/><rom enabled='no'/>" \
        console=/var/log/libvirt/qemu/$1.console domain_xml "$@"
}
