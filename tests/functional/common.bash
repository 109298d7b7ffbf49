# shellcheck shell=bats disable=SC2034,SC2154  # variables for those that source this, and of bats
# common.bash: what the bats files share; each sources it.
#
# `make check` says where everything is, in the variables below. By hand, in the build directory of
# a configuration without --prefix, 'PATH=$PWD:$PATH bats FILE' will do.

top_srcdir=${top_srcdir-$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)}
top_builddir=${top_builddir-$(dirname "$(type -P virt-seed)")}
rundir=${VIRT_SEED_RUNDIR-/run/libvirt/virt-seed}
confdir=${VIRT_SEED_CONFDIR-/etc/virt-seed}
statedir=${VIRT_SEED_STATEDIR-/var/lib/virt-seed}
reportdir=${VIRT_SEED_REPORTDIR-/var/log/libvirt/virt-seed}
qemu_home=${VIRT_SEED_QEMU_HOME-/var/lib/libvirt/qemu}
definitions=${VIRT_SEED_DEFINITIONS-/etc/libvirt/qemu}

uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
other_uuid=0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11
namespace=urn:virt-seed:cloud-init:1

# shellcheck source-path=SCRIPTDIR source=../wait.bash
source "$top_srcdir/tests/wait.bash"

umask 022
export LC_ALL=C.UTF-8
# Nothing here talks to libvirt; if something does by mistake, it fails.
export LIBVIRT_DEFAULT_URI=test:///no-libvirt-in-these-tests

bats_require_minimum_version 1.5.0

# to_build, from_build: filters between the paths of the files in the source, which are those of a
# configuration without --prefix, and the paths of this build.
to_build() {
    sed -e "s|/run/libvirt/virt-seed|$rundir|g" -e "s|/etc/virt-seed|$confdir|g" \
        -e "s|/var/log/libvirt/virt-seed|$reportdir|g"
}

from_build() {
    sed -e "s|$rundir|/run/libvirt/virt-seed|g" -e "s|$confdir|/etc/virt-seed|g" \
        -e "s|$reportdir|/var/log/libvirt/virt-seed|g"
}

# commands: prints virt-seed's subcommands, as help --all lists them.
commands() {
    virt-seed help --all | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# sanitized: whether the programs are built with sanitizers.
sanitized() {
    readelf --dynamic "$top_builddir/virt-seed-maker" | grep -q '\[libasan'
}

# has_sandbox: whether the maker is confined in this build.
has_sandbox() {
    grep -q '^#define ENABLE_SANDBOX 1$' "$top_builddir/config.h"
}

# domain_xml [REQUEST]: prints the unwired domain "web1" that asks for what REQUEST, the content of
# the <cloud-init> element, says.
domain_xml() {
    cat <<END
<domain type='kvm'>
  <name>web1</name>
  <uuid>$uuid</uuid>
  <metadata>
    <ci:cloud-init xmlns:ci='$namespace'>${1-}</ci:cloud-init>
  </metadata>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='/var/lib/libvirt/images/web1.qcow2'/>
      <target dev='vda' bus='virtio'/>
    </disk>
  </devices>
</domain>
END
}

# wired_xml [REQUEST]: the same domain with its wiring.
wired_xml() {
    domain_xml "$@" | virt-seed --quiet wire -
}

# make_root: makes $root, a directory used as the host's "/".
make_root() {
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root$confdir"
}

# make_server: makes the directory of what the metadata server serves in $root, as systemd-tmpfiles
# does, and starts a listener whose address is in $root's configuration and in $imds_address.
make_server() {
    install -d -m 0711 "$root$rundir"
    install -d -m 0750 "$root$rundir/imds"
    # It ends with the test, which has the other end of its standard input.
    coproc listener { exec python3 "$top_srcdir/tests/imds/raw.py" listen 0 192.0.2.1 3>&-; }
    read -r imds_address <&"${listener[0]}"
    imds_address=192.0.2.1:$imds_address
    echo "imds-address = $imds_address" >>"$root$confdir/virt-seed.conf"
}

# end_server: ends the listener.
end_server() {
    local process=$listener_PID

    kill "$process"
    wait "$process" || :
}

# make_case_root: the same with the files of the golden case in the working directory, as
# golden.bats describes them.
make_case_root() {
    local link target

    rm -rf "$BATS_TEST_TMPDIR/root"
    make_root
    if [[ -d etc ]]; then
        cp -R etc/. "$root$confdir"
    fi
    if [[ -e links ]]; then
        while read -r link target; do
            mkdir -p "$(dirname "$root$confdir/$link")"
            ln -s "$target" "$root$confdir/$link"
        done <links
    fi
    if [[ -e etc/virt-seed.conf ]]; then
        to_build <etc/virt-seed.conf >"$root$confdir/virt-seed.conf"
    fi
    chmod -R u+rwX,go= "$root$confdir"
}

# make_secret NAME KEY CONTENT: adds a secret to $root.
make_secret() {
    (
        umask 077
        mkdir -p "$root$confdir/secrets/$1"
        printf '%s' "$3" >"$root$confdir/secrets/$1/$2"
    )
}

# make_password NAME HASH [UUID]: stores the hash of a password in $root, as 'virt-seed set' does.
make_password() {
    (
        umask 077
        mkdir -p "$root$statedir/secrets/${3-$uuid}"
        printf '%s' "$2" >"$root$statedir/secrets/${3-$uuid}/$1"
    )
}

# make_host_of_examples: the same with the secrets and files that xml/examples refer to.
make_host_of_examples() {
    make_root
    make_secret web1 userdata $'#cloud-config\nlocale: C.UTF-8'
    make_secret web1 administrator 'correct horse'
    make_secret web1-meta app_name shop
    make_secret team alice 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx'
    make_secret network web1.yaml 'version: 2'
    # shellcheck disable=SC2016  # a hash's own
    make_password password '$6$salt$user'
    # shellcheck disable=SC2016  # a hash's own
    make_password root-password '$6$salt$root'
    mkdir -p "$root$confdir/files/site" "$root$confdir/files/keys"
    cp "$root$confdir/secrets/team/alice" "$root$confdir/files/keys/site"
    printf '#cloud-config\ntimezone: UTC\n' >"$root$confdir/files/site/base.yaml"
}

# assert_said PATTERN...: the output of the last `run` contains each of them.
assert_said() {
    local pattern

    for pattern; do
        if [[ $output != *"$pattern"* ]]; then
            printf "expected '%s' in:\n%s\n" "$pattern" "$output"
            return 1
        fi
    done
}

# lifecycle FILE OPERATION [SUBOPERATION]: the hook for the domain in FILE, below $root.
# Nothing may ever be printed on standard output: at restore and migrate libvirt takes it for the
# domain's XML.
lifecycle() {
    hook-in-root --root="$root" web1 "$2" "${3-begin}" - <"$1" >printed || return
    [[ ! -s printed ]]
}

# wait_for_alarm PROCESS: waits until the hook has a handler for SIGALRM
# (SigCgt, bit 13). The bash that it was before has one as well.
wait_for_alarm() {
    wait_until 60 grep -qx 'Name:.hook-in-root' "/proc/$1/status"
    wait_until 60 grep -q '^SigCgt:.*[2367abef]...$' "/proc/$1/status"
}

# lifecycle_beside_journal FILE OPERATION: runs the hook on the domain in FILE, below
# $root, where a journal listens; what comes there is in the file "entries".
lifecycle_beside_journal() {
    local journal=$root/run/systemd/journal

    mkdir -p "$journal"
    rm -f "$journal/socket"
    "$top_builddir/tests/functional/journal-socket" "$journal/socket" entries \
        hook-in-root --root="$root" web1 "$2" begin - <"$1"
}

# journal_field NAME: prints the field's values, of each entry in "entries" that has it.
journal_field() {
    sed -n "s/^$1=//p" entries
}

# become_nobody: sets ${as_nobody[@]}, words to put before a command to run it as an ordinary user; none if
# the tests are run by one. That user can read what is open to all in the test's directory.
become_nobody() {
    as_nobody=()
    if [[ $EUID -eq 0 ]]; then
        as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        chmod go+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
        "${as_nobody[@]}" test -r "$BATS_TEST_TMPDIR" -a -x "$top_builddir/virt-seed" ||
            skip 'the directories of the build or of the test are closed to other users'
    fi
}

# only_stderr: the last `run --separate-stderr` printed nothing on standard output; from here on
# $output and ${lines[@]} are what it printed on standard error.
only_stderr() {
    if [[ -n $output ]]; then
        printf 'unexpected on standard output:\n%s\n' "$output"
        return 1
    fi
    output=$stderr
    lines=("${stderr_lines[@]}")
}

# assert_refused STATUS PATTERN...: the last `run` failed with that status and said so in two lines,
# what is wrong and what to do.
assert_refused() {
    if [[ $status -ne $1 || $output != *'virt-seed: error: '* ||
        $output != *$'\nvirt-seed: hint: '* ]]; then
        printf 'expected status %s with error: and hint:, found status %s:\n%s\n' \
            "$1" "$status" "$output"
        return 1
    fi
    shift
    assert_said "$@"
}

# assert_start_refused FILE PATTERN...: prepare fails for the domain in FILE, says so in two lines,
# and prints nothing on standard output.
assert_start_refused() {
    local xml=$1

    shift
    run --separate-stderr hook-in-root --root="$root" web1 prepare begin - <"$xml"
    only_stderr
    assert_refused 1 "$@"
    [[ ${lines[0]} == 'virt-seed: error: '* && ${lines[1]} == 'virt-seed: hint: '* ]]
    [[ ${#lines[@]} -eq 2 ]]
}
