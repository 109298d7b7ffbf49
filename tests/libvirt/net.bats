#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# net.bats: a real libvirtd starts, saves, restores and ends domains whose seed is served, not on a disk.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

uuid=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
tree=/run/libvirt/virt-seed/imds

setup_file() {
    common_start_lab
    common_make_server
}

# As systemd-tmpfiles does.
setup() {
    lab_run install -d -m 0750 $tree
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' datasource='nocloud-net'/>" \
        interface=user domain_define web1 $uuid
}

# serial [OPTION...]: prints the serial in the domain's XML.
serial() {
    lab_virsh dumpxml "$@" web1 | xmllint --xpath 'string(//entry[@name="serial"])' -
}

has_a_serial() {
    [[ $(serial --inactive) ]]
}

# published: prints a digest of everything that is published for the domain.
published() {
    lab_run sh -c "cd $tree/$uuid && cat access identity *-data" | sha256sum
}

@test "a refused start wires the definition, and the next one publishes at the URL" {
    run lab_virsh start web1
    [[ $status -ne 0 && $output == *'not wired for it yet'*'run: virsh start web1'* ]]
    wait_until 60 has_a_serial
    lab_virsh start web1
    [[ $(serial) = "ds=nocloud;dsmode=net;s=http://169.254.169.254/$uuid/$(lab_run head -n 1 \
        $tree/$uuid/access)/" ]]
    lab_run grep -qx '52:54:00:..:..:.. user' $tree/$uuid/access
    lab_virsh destroy web1
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
}

@test "a saved and restored guest has the same documents at the same URL" {
    local before url

    lab_run "$builddir/virt-seed" wire web1
    lab_virsh start web1
    before=$(published)
    url=$(serial)
    lab_virsh managedsave web1
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
    lab_virsh start web1
    [[ $(published) = "$before" && $(serial) = "$url" ]]
}

# assert_row CELL...: how status describes the domain: wired, seed, data source, instance-id.
assert_row() {
    local row

    row=$(virt_seed status -o wired,seed,datasource,instance-id web1 | awk 'NR == 2 {print $1, $2, $3, $4}') || return
    [[ $row = "$*" ]] || {
        echo "expected $*, found $row"
        return 1
    }
}

@test "status shows the datasource of a domain that never ran, and its seed when it runs" {
    assert_row no no nocloud-net $uuid
    virt_seed wire web1
    assert_row yes no nocloud-net $uuid
    lab_virsh start web1
    assert_row yes yes nocloud-net $uuid
    lab_virsh destroy web1
    assert_row yes no nocloud-net $uuid
    # The hook would refuse it.
    lab_run sh -c 'mkdir -p /etc/virt-seed; echo "imds-address = 192.0.2.1" >/etc/virt-seed/virt-seed.conf'
    assert_row no no nocloud-net $uuid
    lab_run rm /etc/virt-seed/virt-seed.conf
}

@test "a guest that is reset is still served" {
    local before

    lab_run "$builddir/virt-seed" wire web1
    lab_virsh start web1
    before=$(published)
    lab_virsh reset web1
    [[ $(published) = "$before" ]]
}

@test "refuses a start without the server's directory, and a saved guest comes back" {
    lab_run "$builddir/virt-seed" wire web1
    lab_virsh start web1
    lab_virsh managedsave web1
    lab_run rmdir $tree
    lab_virsh start web1
    lab_virsh destroy web1
    run lab_virsh start web1
    [[ $status -ne 0 && $output == *'there is no metadata server'*'virt-seed-imds.service'* ]]
}

@test "refuses a start if the server does not listen, and a saved guest comes back" {
    lab_run sh -c 'mkdir -p /etc/virt-seed; echo "imds-address = 192.0.2.1:8080" >/etc/virt-seed/virt-seed.conf'
    lab_run "$builddir/virt-seed" wire web1
    run lab_virsh start web1
    [[ $status -ne 0 && $output == *'nothing is listening at 192.0.2.1:8080'*'virt-seed-imds.socket'* ]]
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
    lab_run rm /etc/virt-seed/virt-seed.conf
    lab_run "$builddir/virt-seed" wire web1
    lab_virsh start web1
    lab_virsh managedsave web1
    common_stop_listening
    lab_virsh start web1
    lab_virsh destroy web1
    run lab_virsh start web1
    [[ $status -ne 0 && $output == *'nothing is listening at 169.254.169.254, port 80'* ]]
    common_listen
}

@test "refuses a start within seconds if the server accepts connections but never answers" {
    local begin

    lab_run "$builddir/virt-seed" wire web1
    lab_run ip address add 169.254.169.254/32 dev lo
    begin=$SECONDS
    run lab_virsh start web1
    ((SECONDS - begin < 15))
    [[ $status -ne 0 && $output == *'the metadata server at 169.254.169.254, port 80 does not answer: it accepts the connection but sends nothing: the guest would come up as a new machine'*'journalctl -u virt-seed-imds.service'* ]]
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
    run -1 virt_seed check --no-schema web1
    [[ $output == *'169.254.169.254, port 80 does not answer'* ]]
    lab_run ip address delete 169.254.169.254/32 dev lo
    lab_virsh start web1
}

@test "refuses a start if another user answers where guests look for the server" {
    lab_run ip address add 192.0.2.1/32 dev lo
    lab_run sh -c 'mkdir -p /etc/virt-seed; echo "imds-address = 192.0.2.1:8080" >/etc/virt-seed/virt-seed.conf'
    lab_run "$builddir/virt-seed" wire web1
    lab_run sh -c 'mkdir -p /run/poser && echo OK >/run/poser/healthz && cat >/run/poser/server.py' <<'END'
import http.server
http.server.SimpleHTTPRequestHandler.protocol_version = "HTTP/1.1"
http.server.HTTPServer(("192.0.2.1", 8080), http.server.SimpleHTTPRequestHandler).serve_forever()
END
    # shellcheck disable=SC2016  # the words are the inner shell's, in the lab
    lab_run sh -c 'cd /run/poser && {
        setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 server.py >/dev/null 2>&1 3>&- 4>&- &
        echo $! >/run/poser.pid; }'
    wait_until 60 lab_run curl --silent --fail --output /dev/null http://192.0.2.1:8080/healthz
    run lab_virsh start web1
    # shellcheck disable=SC2016  # the same
    lab_run sh -c 'kill "$(cat /run/poser.pid)"'
    lab_run ip address delete 192.0.2.1/32 dev lo
    lab_run rm /etc/virt-seed/virt-seed.conf
    [[ $status -ne 0 ]]
    [[ $output == *'a program of user 65534 is listening at 192.0.2.1:8080'* ]]
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
}

@test "a domain with a changed datasource keeps nothing of the old one" {
    lab_run "$builddir/virt-seed" wire web1
    lab_run "$builddir/virt-seed" set --datasource=configdrive web1
    [[ -z $(serial --inactive) ]]
    lab_virsh start web1
    lab_run test -e "/run/libvirt/virt-seed/$uuid.iso"
    [[ $(lab_run find $tree -mindepth 1) = '' ]]
}
