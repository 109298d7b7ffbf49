#!/usr/bin/env bats
# imds-units.bats: what systemd knows of the metadata server: its units, its user and its directory; and of the
# hook's user.
# tests/host/imds.bats tests the server as it runs in its unit.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR/../imds source=../imds/imds.bash
source "$top_srcdir/tests/imds/imds.bash"

setup() {
    imds=
    made=$top_builddir/scripts/systemd
    [[ -e $made/virt-seed-imds.service ]] || skip 'built without systemd'
    imds_setup
}

teardown() {
    # Sanitizers report at the end.
    imds_stop || { cat "$log" && return 1; }
}

# make_units: sets $units, a directory with the units as systemd can look at them where nothing is
# installed.
make_units() {
    units=$BATS_TEST_TMPDIR/units
    type -P systemd-analyze >/dev/null || skip 'there is no systemd-analyze'
    mkdir "$units"
    cp "$made"/*.{service,socket} "$units"
    sed -i -e "s|^ExecStart=.*/virt-seed-imds\$|ExecStart=$(type -P virt-seed-imds)|" \
        -e '/^Documentation=/d' "$units"/*
}

@test "systemd finds no mistakes in the units" {
    make_units
    run systemd-analyze verify "$units"/*
    [[ $status -eq 0 && $output = '' ]]
}

@test "systemd rates the sandbox of the server's unit as tight" {
    make_units
    [[ $(systemd-analyze --help) == *--offline* ]] || skip 'systemd-analyze wants a systemd that runs'
    # Tenths: version 252 says 1.6, of 10.
    run -0 systemd-analyze security --offline=true --no-pager --threshold=20 "$units/virt-seed-imds.service"
    # These have little weight there.
    for setting in User=/DynamicUser= NoNewPrivileges= ProtectSystem= ProtectHome= \
        CapabilityBoundingSet=~CAP_SYS_ADMIN SystemCallFilter=~@privileged; do
        assert_said "✓ $setting "
    done
}

# make_user_and_tree: in $root, as at boot; sets $user and $group, the server's numbers.
make_user_and_tree() {
    type -P systemd-sysusers >/dev/null || skip 'there is no systemd-sysusers'
    type -P systemd-tmpfiles >/dev/null || skip 'there is no systemd-tmpfiles'
    [[ $EUID -eq 0 ]] || skip 'needs root, to give files to a group'
    mkdir -p "$root/etc"
    systemd-sysusers --root="$root" "$made/virt-seed-imds.sysusers"
    systemd-tmpfiles --root="$root" --create "$made/virt-seed-imds.tmpfiles"
    IFS=: read -r _ _ user group _ _ shell < <(grep '^virt-seed-imds:' "$root/etc/passwd")
    [[ $(grep '^virt-seed-imds:' "$root/etc/group") = "virt-seed-imds:x:$group:" ]]
    [[ $user -ne 0 && $group -ne 0 && $shell = */nologin ]]
}

# modes: prints mode, owner and group of each directory on the way to the tree that is ours.
modes() {
    stat --format='%a %u %g' "$root${rundir%/*}" "$root$rundir" "$tree"
}

@test "systemd creates the tree for root, readable only by the server's group" {
    make_user_and_tree
    [[ $(modes) = "755 0 0"$'\n'"711 0 0"$'\n'"750 0 $group" ]]
    # Again, as at each start of the server, and if the hook came first.
    chmod 0700 "$tree"
    chgrp 0 "$tree"
    systemd-tmpfiles --root="$root" --create "$made/virt-seed-imds.tmpfiles"
    [[ $(modes) = "755 0 0"$'\n'"711 0 0"$'\n'"750 0 $group" ]]
}

@test "systemd creates two users, each with a number and a group of its own and without a shell" {
    local name uid gid shell

    make_user_and_tree
    systemd-sysusers --root="$root" "$made/virt-seed.sysusers"
    for name in virt-seed virt-seed-imds; do
        IFS=: read -r _ _ uid gid _ _ shell < <(grep "^$name:" "$root/etc/passwd")
        [[ $(grep "^$name:" "$root/etc/group") = "$name:x:$gid:" ]]
        [[ $uid -gt 0 && $uid -lt 1000 && $shell = */nologin ]]
    done
    [[ $(cut -d : -f 3 "$root/etc/passwd" | sort | uniq -d) = '' ]]
}

@test "the user that systemd creates can serve what is published, and nobody else can read it" {
    make_user_and_tree
    become_nobody
    imds_publish
    : >"$log"
    setpriv --reuid="$user" --regid="$group" --clear-groups virt-seed-imds --listen 127.0.0.1:0 \
        --root "$root" >"$log" 2>&1 3>&- &
    imds=$!
    imds_wait_for_port
    fetch "/$uuid/$token/user-data"
    expect 200
    cmp "$BATS_TEST_TMPDIR/body" "$docs/user-data"
    [[ $(find "$tree" -perm /027) = '' ]]
    [[ $(find "$tree" ! -uid 0 -o ! -gid "$group") = '' ]]
    run ! "${as_nobody[@]}" ls "$tree"
    run ! "${as_nobody[@]}" cat "$tree/$uuid/access"
    # Nor can it change anything.
    run ! setpriv --reuid="$user" --regid="$group" --clear-groups touch "$tree/$uuid/user-data"
    run ! setpriv --reuid="$user" --regid="$group" --clear-groups mkdir "$tree/new"
}
