#!/usr/bin/env bats
# secrets.bats: what comes from a secret is in the seed, and nowhere else: in no message, in no file
# that is left, in no argument of a program, in no core.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

marker=hunter2
key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx $marker-key"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
}

# every_secret FIELD CONTENT: the host's secrets, all of them right but for FIELD, which has CONTENT.
every_secret() {
    rm -rf "$root$confdir/secrets"
    make_secret s userdata $'#cloud-config\npassword: '"$marker-user"$'\n'
    make_secret s vendordata $'#!/bin/sh\necho '"$marker-vendor"$'\n'
    make_secret s networkdata $'version: 2\nethernets: {'"$marker-net"$': {dhcp4: true}}\n'
    make_secret s root "$marker-root"$'\n'
    make_secret s script $'runcmd: [echo '"$marker-script"$']\n'
    make_secret s file "$marker-file"
    make_secret s user "$marker-alice"
    make_secret keys team "$key"$'\n'
    make_secret data app_name "$marker-data"
    if [[ $# -gt 0 ]]; then
        make_secret "${1%/*}" "${1#*/}" "$2"
    fi
}

request='<ci:user-data secret="s"/><ci:vendor-data secret="s"/><ci:network-config secret="s"/>
  <ci:meta-data secret="data"/><ci:ssh-authorized-keys secret="keys"/>
  <ci:initialization>
    <ci:root_password secret="s" key="root"/>
    <ci:custom_script secret="s" key="script"/>
    <ci:users><ci:user><ci:user_name>alice</ci:user_name><ci:password secret="s" key="user"/></ci:user></ci:users>
    <ci:files><ci:file><ci:name>/etc/app</ci:name><ci:content secret="s" key="file"/></ci:file></ci:files>
  </ci:initialization>'

# no_marker FILE...: no file contains any part of a secret.
no_marker() {
    ! grep -a "$marker" "$@"
}

# no_marker_is_left: nor does any file of the host, except for the secrets themselves and the seed.
no_marker_is_left() {
    local found

    found=$(find "$root" -path "$root$confdir/secrets" -prune -o -type f ! -name "$uuid.iso*" \
        -exec grep -la "$marker" {} +) || true
    [[ -z $found ]] || { echo "found in: $found" && return 1; }
}

@test "each secret is in the seed, and in no message or other file" {
    local word

    every_secret
    wired_xml "$request" >wired.xml
    hook-in-root --root="$root" web1 prepare begin - <wired.xml >out 2>err
    no_marker wired.xml out err
    no_marker_is_left
    virt-seed inspect --extract=documents "$seeds/$uuid.iso" >inspected
    for word in user vendor net root script alice key data; do
        grep -rq "$marker-$word" documents
    done
    grep -rq "$(printf %s "$marker-file" | base64)" documents
    hook-in-root --root="$root" web1 release end - <wired.xml
    run ! compgen -G "$seeds/*"
}

@test "commands print secrets only if told to" {
    local command

    every_secret
    wired_xml "$request" >wired.xml
    for command in 'dump' 'dump --json' 'check' 'check --json' 'wire' 'unset' 'build -o seed.iso'; do
        # shellcheck disable=SC2086  # a command and its options
        virt-seed --root="$root" $command wired.xml >out 2>err
        no_marker out err
    done
    virt-seed --root="$root" dump --show-secrets wired.xml | grep -q "$marker-user"
}

@test "a refusal does not quote the content" {
    local -A wrong=(
        [s/userdata]="$marker: 1"
        [s/vendordata]=$'#cloud-config\n- '"$marker"
        [s/networkdata]="version: $marker"
        [s/root]="$marker"$'\nsecond line'
        [s/user]=$'\t'"$marker"
        [s/script]="$marker"
        [keys/team]="ssh-ed25519 $marker"
        [data/instance-id]="$marker"
    )
    local field

    wired_xml "$request" >wired.xml
    for field in "${!wrong[@]}"; do
        every_secret "$field" "${wrong[$field]}"
        run ! hook-in-root --root="$root" web1 prepare begin - <wired.xml >out
        [[ $output == *'virt-seed: error: '* ]] || return
        [[ $output != *"$marker"* ]] || return
        no_marker_is_left
        for command in dump 'dump --show-secrets' check; do
            # shellcheck disable=SC2086  # a command and its options
            virt-seed --root="$root" $command wired.xml >out 2>err || true
            no_marker err
        done
        run ! compgen -G "$seeds/$uuid*"
    done
}

@test "refuses a secret that is open to others, for every kind of part" {
    local path

    wired_xml "$request" >wired.xml
    for path in s/root s/script s/user s/file keys/team data/app_name s data keys; do
        every_secret
        chmod o+r "$root$confdir/secrets/$path"
        run ! hook-in-root --root="$root" web1 prepare begin - <wired.xml
        assert_said 'others may read' 'chmod go='
    done
}

# open_by_acl PATH: lets another user read the file, which is root's, as "setfacl -m u:65534:r" does.
open_by_acl() {
    python3 - "$1" <<'END'
import os, struct, sys
user, none = 65534, 0xffffffff
entries = [(1, 7, none), (2, 4, user), (4, 0, none), (16, 4, none), (32, 0, none)]
value = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in entries)
try:
    os.setxattr(sys.argv[1], 'system.posix_acl_access', value)
except OSError:
    sys.exit(3)
END
}

@test "refuses a secret that is open to another user by an ACL" {
    local path

    [[ $EUID -eq 0 ]] || skip 'the group must be root'
    wired_xml "$request" >wired.xml
    for path in s/root s ''; do
        every_secret
        open_by_acl "$root$confdir/secrets/$path" || skip 'no ACLs here'
        [[ $(stat -c %A "$root$confdir/secrets/$path") = ????'r--'* ]]
        run ! hook-in-root --root="$root" web1 prepare begin - <wired.xml
        assert_said 'others may read' 'chmod go='
        chmod go= "$root$confdir/secrets/$path"
        hook-in-root --root="$root" web1 prepare begin - <wired.xml
        hook-in-root --root="$root" web1 release end - <wired.xml
    done
}

# Others read a program's arguments while it runs. Ours are names of domains and files, and a
# domain's UUID when the hook starts 'virt-seed wire'.
@test "starts an installed cloud-init without secrets in its arguments or environment" {
    every_secret
    wired_xml "$request<ci:user-data>#cloud-config
</ci:user-data>" >wired.xml
    mkdir bin
    # shellcheck disable=SC2016  # it is for the script
    printf '#!/bin/sh\n{ echo "$0 $*"; env; } >>%q\n' "$PWD/started" >bin/cloud-init
    chmod +x bin/cloud-init
    # For root, check runs it as nobody.
    become_nobody
    : >started
    chmod 0666 started
    PATH=$PWD/bin:$PATH virt-seed --root="$root" check wired.xml >out
    grep -q 'bin/cloud-init ' started
    no_marker started
}

# awaits_input PROCESS PROGRAM: the process has become the program and sleeps. An ordinary user may know
# only the first characters of its name.
awaits_input() {
    [[ $(<"/proc/$1/comm") = "${2:0:15}" ]] && grep -q '^State:.S' "/proc/$1/status"
}

# ends_without_core COMMAND...: while it waits for input, it is killed as by a fault of its own, and leaves
# no core.
ends_without_core() {
    local pid

    mkfifo input
    "$@" <input &
    pid=$!
    exec 9>input
    wait_until 60 awaits_input "$pid" "$1"
    kill -SEGV "$pid"
    exec 9>&-
    wait "$pid" || true
    rm input
    ! compgen -G 'core*'
}

# closed_to_its_user COMMAND...: while it waits for input, another process of its user cannot see its memory or
# environment.
closed_to_its_user() {
    local pid status=0

    mkfifo input
    "${as_nobody[@]}" "$@" <input &
    pid=$!
    exec 9>input
    wait_until 60 awaits_input "$pid" "$1"
    "${as_nobody[@]}" cat "/proc/$pid/environ" >/dev/null 2>&1 || status=$?
    exec 9>&-
    wait "$pid" || true
    rm input
    [[ $status -ne 0 ]]
}

@test "another process of the same user cannot look into a program that reads secrets" {
    ! sanitized || skip 'LeakSanitizer traces its process'
    become_nobody
    # Another program is open.
    run ! closed_to_its_user cat
    closed_to_its_user hook-in-root --root="$root" web1 prepare begin -
    closed_to_its_user virt-seed --root="$root" dump -
}

# bats test_tags=native
@test "no program that reads secrets leaves a core file" {
    if [[ $(</proc/sys/kernel/core_pattern) != core* ]]; then
        skip 'cores go elsewhere on this host'
    fi
    ulimit -c unlimited || skip 'cores are forbidden here'
    # Another program leaves one.
    run ! ends_without_core cat
    rm -f core*
    ends_without_core hook-in-root --root="$root" web1 prepare begin -
    ends_without_core virt-seed --root="$root" dump -
}
