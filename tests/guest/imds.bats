#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# imds.bats: real guests without a disk for their seed get it over HTTP, from the real metadata server,
# by QEMU's user networking.
#
# Two guests boot side by side. "plain" is reset, as by a watchdog, after the server was killed and
# started again. "keeper", with cache="keep", is started again when no server is there.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

plain_uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
keeper_uuid=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx alice@example.org'

# request ATTRIBUTES: what both ask for. The files count all boots, and first boots.
request() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1" datasource="nocloud-net" $1>
  <ci:ssh-authorized-keys><ci:key>$key</ci:key></ci:ssh-authorized-keys>
  <ci:meta-data><ci:entry name="environment">production</ci:entry></ci:meta-data>
  <ci:user-data>#cloud-config
users:
  - default
  - name: alice
    shell: /bin/bash
write_files:
  - {path: /etc/virt-seed-probe/file, content: over HTTP}
bootcmd: [[sh, -c, "mkdir -p /etc/virt-seed-probe; echo boot &gt;&gt;/etc/virt-seed-probe/boots"]]
  </ci:user-data>
  <ci:vendor-data>#cloud-config
runcmd: [[sh, -c, "echo first &gt;&gt;/etc/virt-seed-probe/first; sync"]]
  </ci:vendor-data>
</ci:cloud-init>
END
}

# What systemd-tmpfiles and the server's units do on a host.
setup_file() {
    [[ -x $builddir/virt-seed-imds ]] || skip 'the metadata server is not built'
    grep -q 'HAVE_LIBSYSTEMD 1' "$builddir/config.h" || skip 'built without libsystemd'
    common_start_lab
    lab_run install -d -m 0711 /run/libvirt/virt-seed
    lab_run install -d -m 0750 -g nogroup /run/libvirt/virt-seed/imds
    lab_run ip address add 169.254.169.254/32 dev lo
    start_server
    start_guest plain $plain_uuid ''
    start_guest keeper $keeper_uuid 'cache="keep"'
    wait_for_report plain
    wait_for_report keeper
}

# As systemd does: root listens, and an ordinary user without capabilities serves. Keeps the process id
# that it has in the lab.
start_server() {
    lab_run python3 - setpriv --reuid=nobody --regid=nogroup --clear-groups --bounding-set=-all \
        --inh-caps=-all --no-new-privs "$builddir/virt-seed-imds" --verbose \
        >>"$LAB_DIR/imds.log" 2>&1 3>&- 4>&- <<'END' &
import os, socket, sys
listener = socket.create_server(("169.254.169.254", 80), backlog=1024)
if listener.fileno() != 3:
    os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
with open("/run/server.pid", "w") as file:
    print(os.getpid(), file=file)
os.execvp(sys.argv[1], sys.argv[1:])
END
    disown
    wait_until 60 lab_run bash -c 'exec 9<>/dev/tcp/169.254.169.254/80'
}

kill_server() {
    # shellcheck disable=SC2016  # the same
    lab_run bash -c 'kill -KILL "$(</run/server.pid)"'
}

# start_guest NAME UUID ATTRIBUTES
start_guest() {
    guest_overlay "$images" "$1"
    request "$3" | append=virt_seed_probe=stay guest_xml "$images" "$1" "$2" "$(console "$1")" |
        virt_seed --quiet wire - >"$images/$1.xml"
    lab_virsh define --validate "$images/$1.xml"
    lab_virsh start "$1"
}

# assert_boots NAME COUNT: it has booted that often, and once for the first time.
assert_boots() {
    local found

    found=$(last_report "$1")
    [[ $(grep -cxF 'text=/etc/virt-seed-probe/boots: boot' <<<"$found") -eq $2 &&
        $(grep -cxF 'text=/etc/virt-seed-probe/first: first' <<<"$found") -eq 1 ]] || {
        echo "$found"
        return 1
    }
}

@test "the guest has no seed disk, and the URL is in its serial" {
    run -0 lab_virsh domblklist plain
    [[ $output != *.iso* ]]
    run -0 lab_run find /run/libvirt/virt-seed -name '*.iso'
    [[ $output = '' ]]
    run -0 last_report plain
    [[ $output == *"product_serial=ds=nocloud;dsmode=net;s=http://169.254.169.254/$plain_uuid/"* ]]
}

@test "the guest gets its seed from the host's loopback address over user networking" {
    assert_reported plain 'errors=[]' "instance-id=$plain_uuid" 'hostname=plain'
    run -0 last_report plain
    [[ $output == *'datasource=DataSourceNoCloudNet [seed=dmi,http://169.254.169.254/'* ]]
}

@test "the guest has the user, keys and files of user-data, and vendor-data" {
    assert_reported plain 'user=alice:1000:/home/alice:/bin/bash' \
        "authorized_keys=debian: $key" 'text=/etc/virt-seed-probe/file: over HTTP' \
        'text=/etc/virt-seed-probe/first: first'
}

@test "the guest has the metadata entries" {
    run -0 last_report plain
    [[ $output == *'"environment":"production"'* ]]
}

@test "the guest reports over its channel" {
    run -0 lab_run cat "/var/log/libvirt/virt-seed/$plain_uuid.report"
    [[ $output == *'"result"'*DataSourceNoCloudNet* ]]
}

@test "a guest that is restored and reset keeps its identity, even if the server was killed" {
    # The other guest boots faster without it.
    lab_virsh destroy keeper
    kill_server
    start_server
    # Once saved and restored, it is in a new QEMU. In the old one, under software emulation, each write to
    # memory that held code of the first boot takes milliseconds, and the reset guest needs a quarter of an hour.
    lab_virsh managedsave plain
    rm "$(console plain)"
    lab_virsh start plain
    lab_virsh reset plain
    wait_for_report plain
    assert_reported plain 'errors=[]' "instance-id=$plain_uuid"
    assert_boots plain 2
    [[ $(grep -c "200 for meta-data of domain $plain_uuid" "$LAB_DIR/imds.log") -ge 2 ]]
}

@test "a guest that ends leaves nothing in the server's tree" {
    lab_virsh destroy plain
    run ! lab_run test -e "/run/libvirt/virt-seed/imds/$plain_uuid"
    run -0 lab_run find /run/libvirt/virt-seed/imds -mindepth 1 -type f
    [[ $output = '' ]]
}

@test "a guest with cache=\"keep\" keeps its identity without a server" {
    kill_server
    rm "$(console keeper)"
    lab_virsh start keeper
    wait_for_report keeper
    assert_reported keeper 'errors=[]' "instance-id=$keeper_uuid" 'hostname=keeper'
    assert_boots keeper 2
}
