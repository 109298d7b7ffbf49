#!/usr/bin/env bats
# imds.bats: the metadata server and guests on a bridge, in network namespaces: a host with a bridge
# and the server, and guests, which are the other ends of its ports. Needs root, and no libvirtd.

# shellcheck source-path=SCRIPTDIR source=../functional/common.bash
source "$BATS_TEST_DIRNAME/../functional/common.bash"
# shellcheck source-path=SCRIPTDIR source=../imds/imds.bash
source "$BATS_TEST_DIRNAME/../imds/imds.bash"

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
server_user=61184
qemu_user=64055
mac1=52:54:00:00:00:01
mac2=52:54:00:00:00:02
mac3=52:54:00:00:00:03
address=169.254.169.254
url=http://$address
base=/$uuid/$token
other_base=/$other_uuid/$other_token

setup() {
    local guest

    type -P "$builddir/virt-seed-imds" >/dev/null || skip 'the metadata server is not built'
    host=vsi-$$-host
    root=$BATS_TEST_TMPDIR/root
    docs=$BATS_TEST_TMPDIR/docs
    log=$BATS_TEST_TMPDIR/log
    ip netns add "$host"
    on_host ip link set lo up
    run_unit ExecStart
    on_host ip link add br0 type bridge
    on_host ip address add 192.168.150.1/24 dev br0
    on_host ip -6 address add fd00:150::1/64 dev br0 nodad
    on_host ip link set br0 up
    # What socket activation is for; here the server listens itself, as a user without rights.
    on_host sysctl -qw net.ipv4.ip_unprivileged_port_start=0
    for guest in 1 2 3; do
        plug "$guest"
    done
    make_tree
    start_server --listen "$address:80" --listen '[fd00:150::1]:80'
}

teardown() {
    local name

    [[ ! -e $log ]] || cat "$log"
    if [[ -n ${server-} ]]; then
        kill "$server" || :
        wait "$server" || :
    fi
    for name in $(ip netns list | cut -d' ' -f1); do
        [[ $name != vsi-$$-* ]] || ip netns del "$name"
    done
}

on_host() {
    ip netns exec "$host" "$@"
}

# run_unit SETTING: runs the command of this setting in the unit that adds the address.
run_unit() {
    local unit=$builddir/scripts/systemd/virt-seed-imds-address.service command

    [[ -e $unit ]] || skip 'built without systemd'
    read -ra command < <(sed -n "s/^$1=//p" "$unit")
    on_host "${command[@]}"
}

# in_guest NUMBER COMMAND...
in_guest() {
    local guest=$1

    shift
    ip netns exec "vsi-$$-$guest" "$@"
}

# plug NUMBER: a guest on the bridge, with the host as its gateway.
plug() {
    local guest=vsi-$$-$1 mac=mac$1

    ip netns add "$guest"
    on_host ip link add "port$1" type veth peer name eth0 address "${!mac}" netns "$guest"
    on_host ip link set "port$1" master br0 up
    in_guest "$1" ip link set lo up
    in_guest "$1" ip link set eth0 up
    in_guest "$1" ip address add "192.168.150.1$1/24" dev eth0
    in_guest "$1" ip -6 address add "fd00:150::1$1/64" dev eth0 nodad
    in_guest "$1" ip route add default via 192.168.150.1
}

# make_tree: publishes two domains, the first of which has a filter. The server does not own the tree.
make_tree() {
    mkdir -p "$root$rundir/imds" "$root$qemu_home" "$docs"
    chown "$qemu_user" "$root$qemu_home"
    chgrp "$server_user" "$root$rundir/imds"
    chmod 0750 "$root$rundir/imds"
    chmod go+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
    publish "$uuid" "$token" "$mac1"
    publish "$other_uuid" "$other_token" "$mac2"
}

publish() {
    echo "of $1" >"$docs/user-data"
    "$builddir/tests/imds/publish" "$root" add "$1" "$2" "$3" "$docs"
}

start_server() {
    ip netns exec "$host" setpriv --reuid="$server_user" --regid="$server_user" --clear-groups \
        "$builddir/virt-seed-imds" --root "$root" "$@" >"$log" 2>&1 3>&- &
    server=$!
    wait_until 60 server_listens 2
}

# server_listens COUNT: the server listens on that many addresses.
server_listens() {
    [[ $(grep -c 'listening on' "$log") -eq $1 ]]
}

# get NUMBER PATH [OPTION...]: sets $status (of HTTP; 000: no answer) and $body.
get() {
    local guest=$1 path=$2

    shift 2
    status=$(in_guest "$guest" curl --silent --globoff --max-time 5 --output "$BATS_TEST_TMPDIR/body" \
        --write-out '%{http_code}' "$@" "$url$path") || :
    body=$(cat "$BATS_TEST_TMPDIR/body" 2>/dev/null) || body=
    rm -f "$BATS_TEST_TMPDIR/body"
}

# assert_stolen_token_is_wrong COMMAND...: run by this command, a request with a right token gets the same
# answer as one with a wrong token.
assert_stolen_token_is_wrong() {
    local wrong

    wrong=$(answer_to "/$uuid/$other_token/user-data" "$@")
    [[ $wrong = 'HTTP/1.1 404 '* ]]
    diff <(echo "$wrong") <(answer_to "$base/user-data" "$@")
}

# expect STATUS [BODY]
expect() {
    if [[ $status != "$1" || ($# -gt 1 && $body != "$2") ]]; then
        printf 'expected %s, found %s: %s\n' "$*" "$status" "$body"
        return 1
    fi
}

# forge NUMBER MAC: the guest takes that MAC; the bridge has no filter.
forge() {
    in_guest "$1" ip link set eth0 down
    in_guest "$1" ip link set eth0 address "$2"
    in_guest "$1" ip link set eth0 up
    in_guest "$1" ip route replace default via 192.168.150.1
}

# filter NUMBER: the bridge takes frames of the guest's own MAC alone from it, as a network filter of
# libvirt's sees to it.
filter() {
    local mac=mac$1

    on_host bridge fdb replace "${!mac}" dev "port$1" master static
    on_host bridge link set dev "port$1" learning off locked on
}

@test "each guest on a bridge reads its own documents through its gateway" {
    get 1 "$base/user-data"
    expect 200 "of $uuid"
    get 2 "$other_base/user-data"
    expect 200 "of $other_uuid"
}

@test "the unit that adds the address accepts one that is already there, and removes it at the end" {
    run_unit ExecStart
    get 1 "$base/user-data"
    expect 200 "of $uuid"
    run_unit ExecStop
    [[ $(on_host ip -oneline address show) != *"$address"* ]]
}

@test "a guest reads its documents over a link-local route, without a gateway" {
    in_guest 1 ip route del default
    get 1 "$base/user-data"
    expect 000
    in_guest 1 ip route add 169.254.0.0/16 dev eth0
    get 1 "$base/user-data"
    expect 200 "of $uuid"
}

@test "a MAC of user networking is not valid on a bridge" {
    publish "$uuid" "$token" "$mac1@"
    get 1 "$base/user-data"
    expect 404
}

@test "a stolen token gives another guest nothing" {
    get 2 "$base/user-data"
    expect 404
    [[ $(<"$log") == *"192.168.150.12 ($mac2): 404 for user-data of domain $uuid: right token, but the domain does not have the peer's MAC"* ]]
    # The answer does not even tell that it is right.
    assert_stolen_token_is_wrong in_guest 2
}

@test "a token is not enough for a client without a MAC" {
    echo "$token" >"$root$rundir/imds/$uuid/access"
    get 1 "$base/user-data"
    expect 404
    run -22 on_host curl --silent --fail "$url$base/user-data"
    run -22 on_host setpriv --reuid="$qemu_user" --regid="$qemu_user" --clear-groups \
        curl --silent --fail "$url$base/user-data"
}

# note STATE: the kernel has an entry with the first guest's MAC in this state.
note() {
    on_host ip neighbour replace 192.168.150.11 lladdr "$mac1" dev br0 nud "$1"
}

@test "believes a neighbour's MAC only if the kernel verifies it or it is pinned" {
    note noarp
    get 1 "$base/user-data"
    expect 404
    note permanent
    get 1 "$base/user-data"
    expect 200 "of $uuid"
}

@test "a guest with a different MAC does not get its documents" {
    forge 1 52:54:00:00:00:77
    get 1 "$base/user-data"
    expect 404
}

@test "a guest with a filter at its port gets no answer with a spoofed MAC" {
    in_guest 1 ip link set eth0 down
    filter 2
    forge 2 "$mac1"
    get 2 "$base/user-data" --max-time 2
    expect 000
    forge 2 "$mac2"
    get 2 "$other_base/user-data"
    expect 200 "of $other_uuid"
    # Without a filter at its port, a guest can be another one: what the manual warns of.
    on_host bridge link set dev port2 learning on locked off
    on_host bridge fdb del "$mac2" dev port2 master
    forge 2 "$mac1"
    get 2 "/$uuid/$other_token/user-data"
    expect 404
    get 2 "$base/user-data"
    expect 200 "of $uuid"
}

@test "serves nobody who comes through a router" {
    local behind=vsi-$$-4

    ip netns add "$behind"
    in_guest 1 ip link add eth1 type veth peer name eth0 netns "$behind"
    in_guest 1 ip address add 192.168.151.1/24 dev eth1
    in_guest 1 ip link set eth1 up
    in_guest 1 sysctl -qw net.ipv4.ip_forward=1
    in_guest 4 ip address add 192.168.151.2/24 dev eth0
    in_guest 4 ip link set eth0 up
    in_guest 4 ip route add default via 192.168.151.1
    on_host ip route add 192.168.151.0/24 via 192.168.150.11
    get 4 /healthz
    expect 200
    get 4 "$base/user-data"
    expect 404
    assert_stolen_token_is_wrong in_guest 4
    [[ $(<"$log") == *"192.168.151.2: 404 for user-data of domain $uuid: not on a link of this host"* ]]
}

# start_with OPTION VALUE: the server with one socket, made with that option, as systemd makes it with
# BindToDevice= or Mark=.
start_with() {
    grep -q 'HAVE_LIBSYSTEMD 1' "$builddir/config.h" || skip 'built without libsystemd'
    kill "$server"
    wait "$server"
    ip netns exec "$host" python3 - "$@" "$address" setpriv --reuid="$server_user" \
        --regid="$server_user" --clear-groups "$builddir/virt-seed-imds" --root "$root" \
        >"$log" 2>&1 3>&- <<'END' &
import os, socket, sys
name, value, address, *command = sys.argv[1:]
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, getattr(socket, name),
                    int(value) if value.isdigit() else value.encode())
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((address, 80))
listener.listen()
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execvp(command[0], command)
END
    server=$!
    wait_until 60 server_listens 1
}

# move_to_other_bridge: moves the second guest, which takes the first one's address there.
move_to_other_bridge() {
    on_host ip link add br1 type bridge
    on_host ip link set br1 up
    on_host sysctl -qw net.ipv4.conf.{all,br1}.rp_filter=0
    on_host ip link set port2 master br1
    in_guest 2 ip address flush dev eth0 scope global
    in_guest 2 ip address add 192.168.150.11/24 dev eth0
    in_guest 2 ip route replace 169.254.0.0/16 dev eth0
    get 1 "$base/user-data"
    expect 200 "of $uuid"
}

# assert_other_bridge_alone: only the other bridge is served, and its guest as the one it is.
assert_other_bridge_alone() {
    get 1 "$base/user-data" --max-time 2
    expect 000
    get 2 "$other_base/user-data"
    expect 200 "of $other_uuid"
    get 2 "$base/user-data"
    expect 404
    [[ $(<"$log") != *'does not tell'* ]]
}

@test "a server bound to a bridge serves that one and trusts no address of another" {
    move_to_other_bridge
    start_with SO_BINDTODEVICE br1
    assert_other_bridge_alone
}

@test "follows the routes of its own packets to find a guest" {
    move_to_other_bridge
    on_host ip rule add fwmark 1 lookup 10
    on_host ip route add 192.168.150.0/24 dev br1 table 10
    start_with SO_MARK 1
    assert_other_bridge_alone
}

@test "does the same with IPv6" {
    url="http://[fd00:150::1]"
    get 1 "$base/user-data"
    expect 200 "of $uuid"
    get 2 "$base/user-data"
    expect 404
}

@test "beginning to connect from a guest's address does not make a process the guest" {
    url="http://[fd00:150::1]"
    coproc other {
        on_host python3 "$BATS_TEST_DIRNAME/../imds/raw.py" begin 80 fd00:150::1 fd00:150::11 40000 3>&-
    }
    read -r _ <&"${other[0]}"
    [[ $(on_host ss -Htn state syn-sent | wc -l) -eq 1 ]]
    get 1 "$base/user-data" --local-port 40000
    expect 200 "of $uuid"
}

@test "on the host itself, serves QEMU's user for user networking, but not root" {
    run -22 on_host setpriv --reuid="$qemu_user" --regid="$qemu_user" --clear-groups \
        curl --silent --fail "http://$address$base/user-data"
    assert_stolen_token_is_wrong on_host setpriv --reuid="$qemu_user" --regid="$qemu_user" --clear-groups
    assert_stolen_token_is_wrong on_host
    publish "$uuid" "$token" "$mac1,$mac3@"
    run -0 on_host setpriv --reuid="$qemu_user" --regid="$qemu_user" --clear-groups \
        curl --silent --fail "http://$address$base/user-data"
    [[ $output = "of $uuid" ]]
    run -22 on_host curl --silent --fail "http://$address$base/user-data"
    # Nor one that has taken a guest's MAC.
    on_host ip link set br0 address "$mac1"
    run -22 on_host curl --silent --fail --interface 192.168.150.1 "http://$address$base/user-data"
}

@test "a guest that opens all connections it can leaves the others theirs" {
    coproc idle {
        exec ip netns exec "vsi-$$-2" python3 -c "
import socket, sys
opened = []
for _ in range(200):
    c = socket.socket()
    c.setblocking(False)
    c.connect_ex(('$address', 80))
    opened.append(c)
print('open', flush=True)
sys.stdin.read()" 3>&-
    }
    read -r -u "${idle[0]}" _
    sleep 0.5
    # Sixteen, and the server has closed the rest.
    [[ $(on_host ss -Htn state established "src $address and dst 192.168.150.12" | wc -l) -eq 16 ]]
    get 2 "$other_base/user-data"
    expect 000
    get 1 "$base/user-data"
    expect 200
    # shellcheck disable=SC2154  # coproc sets it
    kill "$idle_PID"
    grep -Eq '0 connections were ended to make room, and [1-9][0-9]* were refused from peers that had 16' "$log"
}

@test "limits what a guest requests without reading the answers" {
    head -c 30000 /dev/urandom >"$docs/vendor-data"
    publish "$other_uuid" "$other_token" "$mac2"
    coproc idle {
        exec ip netns exec "vsi-$$-2" python3 -c "
import socket, sys, time
opened = []
for _ in range(60):
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    c.connect(('$address', 80))
    try:
        c.sendall(b'GET $other_base/vendor-data HTTP/1.1\r\nHost: x\r\n\r\n')
    except OSError:
        pass
    time.sleep(0.02)
    opened.append(c)
print('open', flush=True)
sys.stdin.read()" 3>&-
    }
    read -r -u "${idle[0]}" _
    sleep 0.5
    [[ $(on_host ss -Htan "src $address and dst 192.168.150.12" | grep -vc TIME-WAIT) -eq 16 ]]
    get 1 "$base/user-data"
    expect 200
    # shellcheck disable=SC2154  # coproc sets it
    kill "$idle_PID"
}
