#!/usr/bin/env bats
# imds-units.bats: what systemd is told of the metadata server: its units, its user and its directory.

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
    # What a sanitizer finds, it says at the end.
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

# assert_settings UNIT: the unit has the settings of standard input, and none of these names otherwise.
assert_settings() {
    local expected names

    expected=$(cat)
    names=$(cut -d= -f1 <<<"$expected" | sort -u | paste -sd '|')
    diff <(sort -s -t= -k1,1 <<<"$expected") \
        <(grep -E "^($names)=" "$made/$1" | sort -s -t= -k1,1)
}

# assert_no_setting UNIT NAMES: it has none of these, which are a pattern.
assert_no_setting() {
    run ! grep -E "^($2)=" "$made/$1"
}

@test "systemd finds nothing wrong with the units" {
    make_units
    run systemd-analyze verify "$units"/*
    [[ $status -eq 0 && $output = '' ]]
}

@test "the server's unit leaves it little, as systemd sees it" {
    make_units
    [[ $(systemd-analyze --help) == *--offline* ]] || skip 'systemd-analyze wants a systemd that runs'
    # Tenths: version 252 says 1.6, of 10.
    run -0 systemd-analyze security --offline=true --no-pager --threshold=20 "$units/virt-seed-imds.service"
    # What weighs little there.
    for setting in User=/DynamicUser= NoNewPrivileges= ProtectSystem= ProtectHome= \
        CapabilityBoundingSet=~CAP_SYS_ADMIN SystemCallFilter=~@privileged; do
        assert_said "✓ $setting "
    done
}

@test "the server is a user of its own, without a privilege, who may write nowhere" {
    assert_settings virt-seed-imds.service <<END
User=virt-seed-imds
Group=virt-seed-imds
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
PrivateDevices=yes
PrivateTmp=yes
PrivateIPC=yes
RemoveIPC=yes
InaccessiblePaths=-$confdir -$statedir -${reportdir%/libvirt/virt-seed}
UMask=0077
END
    assert_no_setting virt-seed-imds.service \
        'ReadWritePaths|BindPaths|(State|Cache|Logs|Runtime|Configuration)Directory|SupplementaryGroups|DynamicUser|Exec(Start|Stop)Post|ExecStop|ExecReload|Environment|EnvironmentFile|LoadCredential'
    # As root, with '+', there is the making of the tree alone.
    assert_settings virt-seed-imds.service <<END
ExecStartPre=+systemd-tmpfiles --create virt-seed-imds.conf
ExecStart=$(sed -n 's/^ExecStart=\([^+!@:|-].*\/virt-seed-imds\)$/\1/p' "$made/virt-seed-imds.service")
END
}

@test "the server has few ways into the kernel" {
    assert_settings virt-seed-imds.service <<'END'
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources @ipc @keyring @setuid
SystemCallFilter=prlimit64 setrlimit
SystemCallErrorNumber=EPERM
MemoryDenyWriteExecute=yes
LockPersonality=yes
RestrictRealtime=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
END
    # It would not see whose sockets are whose.
    assert_no_setting virt-seed-imds.service 'Private(Users|Network)|NetworkNamespacePath|JoinsNamespaceOf'
}

@test "the server is started at boot and again, ends when all is answered, and has bounds" {
    assert_settings virt-seed-imds.service <<'END'
Type=notify
Restart=always
RestartSec=200ms
StartLimitIntervalSec=0
TimeoutStopSec=120
LimitNOFILE=16384
MemoryMax=448M
TasksMax=8
Requires=virt-seed-imds.socket
After=virt-seed-imds.socket
WantedBy=multi-user.target
Also=virt-seed-imds.socket
END
    assert_no_setting virt-seed-imds.service 'RestartPreventExitStatus|SuccessExitStatus|KillMode|KillSignal|BindsTo|PartOf'
}

@test "the socket is there before its address, and for all that boot at the same time" {
    assert_settings virt-seed-imds.socket <<'END'
FreeBind=yes
Backlog=4096
Wants=virt-seed-imds-address.service
WantedBy=sockets.target
END
    [[ $(sed -n 's/^ListenStream=//p' "$made/virt-seed-imds.socket") =~ ^[0-9.]+:80$ ]]
    assert_no_setting virt-seed-imds.socket 'Accept|BindToDevice|Mark|TriggerLimit.*|MaxConnections.*|Requires|After|PartOf'
}

@test "what brings the address may do that, and nothing else" {
    assert_settings virt-seed-imds-address.service <<'END'
Type=oneshot
RemainAfterExit=yes
CapabilityBoundingSet=CAP_NET_ADMIN
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
RestrictAddressFamilies=AF_NETLINK
RestrictNamespaces=yes
SystemCallFilter=@system-service
END
    assert_no_setting virt-seed-imds-address.service 'ReadWritePaths|AmbientCapabilities|Exec(Start|Stop)(Pre|Post)'
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

@test "systemd makes the tree root's, open to the server's group and to nobody else" {
    make_user_and_tree
    [[ $(modes) = "755 0 0"$'\n'"711 0 0"$'\n'"750 0 $group" ]]
    # Again, at each start of the server: where the hook was first, too.
    chmod 0700 "$tree"
    chgrp 0 "$tree"
    systemd-tmpfiles --root="$root" --create "$made/virt-seed-imds.tmpfiles"
    [[ $(modes) = "755 0 0"$'\n'"711 0 0"$'\n'"750 0 $group" ]]
}

@test "the user that systemd makes can serve what is published there, and nobody else can read it" {
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
    # It cannot change it, either.
    run ! setpriv --reuid="$user" --regid="$group" --clear-groups touch "$tree/$uuid/user-data"
    run ! setpriv --reuid="$user" --regid="$group" --clear-groups mkdir "$tree/new"
}
