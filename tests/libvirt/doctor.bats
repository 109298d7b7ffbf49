#!/usr/bin/env bats
# doctor.bats: what `virt-seed doctor` says of a real libvirtd, and of the metadata server.
# shellcheck disable=SC2016  # what is in single quotes is for a shell in the lab

bats_require_minimum_version 1.5.0

load lab
load domains

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}

# The hook comes later, as on a host that has libvirt already.
setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    lab_start
}

teardown_file() {
    lab_stop
}

setup() {
    daemon=$(lab_daemon_name)
    lab_run mkdir -p /etc/virt-seed
}

teardown() {
    lab_reset
    end_server
    rm -f "$LAB_DIR/root/etc/libvirt/hooks/qemu.d/50-virt-seed"
    lab_restart_libvirtd
}

doctor() {
    lab_run "$builddir/virt-seed" doctor "$@"
}

# finds [STATE/SUBJECT]...: doctor reports exactly these.
finds() {
    run doctor --json
    echo "$output"
    diff <(printf '%s\n' "$@" | sed '/^$/d' | sort) \
        <(jq -r '.diagnoses[] | select(.state != "ok") | .state + "/" + .subject' <<<"$output" | sort -u)
    if [[ $* == *problem/* ]]; then
        [[ $status -eq 1 ]]
    else
        [[ $status -eq 0 ]]
    fi
}

# fix_of SUBJECT: prints the fix that the last `finds` has shown.
fix_of() {
    jq -r --arg subject "$1" '.diagnoses[] | select(.subject == $subject and .fix) | .fix' <<<"$output"
}

# link_hook: links the hook as `make install` does, and does not tell libvirtd.
link_hook() {
    ln -sfn "$builddir/virt-seed-hook" "$LAB_DIR/root/etc/libvirt/hooks/qemu.d/50-virt-seed"
}

define() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${2-}/>" domain_xml "$1" |
        lab_run "$builddir/virt-seed" --quiet wire - | lab_virsh define /dev/stdin
}

# end_daemon NAME: ends it, and waits until it has gone.
end_daemon() {
    lab_run sh -c 'kill "$(cat "/run/$1.pid")"' sh "$1"
    wait_until 60 lab_run test ! -e "/run/$1.pid"
}

# start_server, end_server: the real server, with what its units set up for it.
start_server() {
    [[ -x $builddir/virt-seed-imds ]] || skip 'the metadata server is not built'
    lab_run install -d -m 0711 /run/libvirt/virt-seed
    lab_run install -d -m 0750 /run/libvirt/virt-seed/imds
    lab_run ip address replace 169.254.169.254/32 dev lo
    lab_run sh -c '"$1" >/run/server.log 2>&1 3>&- 4>&- & echo $! >/run/server.pid' sh \
        "$builddir/virt-seed-imds"
    wait_until 60 lab_run grep -q 'listening on' /run/server.log
}

end_server() {
    lab_run sh -c '[ ! -e /run/server.pid ] || { kill -CONT $(cat /run/server.pid)
        kill $(cat /run/server.pid); rm /run/server.pid; }; ip address flush dev lo scope link
        rm -rf /run/libvirt/virt-seed'
}

@test "names a hook that was installed while libvirtd ran, until libvirtd has noticed it" {
    finds problem/hook
    link_hook
    # That is true: nothing makes the seed.
    define web1 'report="no"'
    finds unknown/hook-noticed
    fix=$(fix_of hook-noticed)
    run ! lab_virsh start web1
    [[ $output == *'Cannot access storage file'* ]]
    lab_run sh -c "$fix"
    wait_until 60 lab_virsh start web1
    finds
    [[ $output == *"the hook has made seeds since $daemon was started"* ]]
    lab_virsh destroy web1
    finds unknown/hook-noticed
    lab_restart_libvirtd
    finds
    [[ $output == *"$daemon was started after the hook was installed"* ]]
}

@test "tells an ordinary user the same, and what only root can see" {
    link_hook
    lab_restart_libvirtd
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    lab_run "${as_nobody[@]}" test -x "$builddir/virt-seed" || skip 'the build is closed to others'
    lab_run install -d -m 0700 /etc/virt-seed/secrets
    run -0 lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///system doctor --verbose
    [[ $output == *"ok: libvirt: $daemon answers: libvirt "*', QEMU '* ]]
    [[ $output == *'ok: hook-noticed: '* ]]
    [[ $output == *'unknown: root: only root can see '*/etc/virt-seed/secrets* ]]
}

@test "names a libvirtd that does not run, and checks the rest" {
    [[ -x /usr/sbin/$daemon ]] || skip "$daemon is not where packages have it"
    link_hook
    end_daemon "$daemon"
    finds problem/libvirt
    [[ $output == *'could not reach libvirt (qemu:///system)'* && $output == *"libvirt's hook is"* ]]
    fix=$(fix_of libvirt)
    [[ $fix = "$daemon --daemon" ]]
    lab_run sh -c "$fix" 3>&- 4>&-
    wait_until 60 lab_virsh uri
    finds
}

@test "names a virtlogd that does not run, without which no domain starts" {
    link_hook
    lab_restart_libvirtd
    define web1
    end_daemon virtlogd
    finds problem/virtlogd
    fix=$(fix_of virtlogd)
    run ! lab_virsh start web1
    lab_run sh -c "$fix" 3>&- 4>&-
    lab_virsh start web1
    finds
}

@test "asks the server that domains need whether it answers" {
    link_hook
    lab_restart_libvirtd
    finds
    interface=user define web1 'datasource="nocloud-net"'
    finds problem/metadata-server
    start_server
    finds
    [[ $output == *'the metadata server answers at 169.254.169.254'* ]]
    # It listens but does not answer: the kernel accepts the connection for it.
    lab_run sh -c 'kill -STOP $(cat /run/server.pid)'
    SECONDS=0
    finds problem/metadata-server
    [[ $output == *'the metadata server at 169.254.169.254, port 80 does not answer'* ]]
    ((SECONDS < 20))
    # A server that runs but does not work is reported even if no domain needs it.
    lab_virsh undefine web1
    finds problem/metadata-server
}

@test "names another server at the address of the metadata server, whoever needs ours" {
    link_hook
    lab_restart_libvirtd
    lab_run ip address replace 169.254.169.254/32 dev lo
    lab_run sh -c 'cd /run && python3 -m http.server --bind 169.254.169.254 80 >/dev/null 2>&1 3>&- 4>&- &
        echo $! >/run/server.pid'
    wait_until 60 lab_run curl --silent --output /dev/null http://169.254.169.254/
    finds note/metadata-server
    [[ $output == *'another server is listening at 169.254.169.254, port 80'* ]]
    interface=user define web1 'datasource="nocloud-net"'
    finds problem/metadata-server
    [[ $output == *'another server is listening at 169.254.169.254, port 80'* ]]
    [[ $(fix_of metadata-server) == *"ss -ltnp 'sport = :80'" ]]
}
