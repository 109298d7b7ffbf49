#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# clone.bats: copies of a disk that a guest has booted from become guests of their own, either with
# machine-id="per-instance" or because the disk was cleaned as docs/recipes.md says.
#
# The original boots once and powers off. Two domains over its disk boot side by side: the DHCP client of
# "by-mac" identifies itself by its MAC address, that of "by-duid" by the machine-id. Then by-duid boots
# again. All are on one bridge, with one DHCP server. In "golden" the recipe's commands run once it is set
# up; "web1" and "web2" boot from the disk that it leaves.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common

per_instance='machine-id="per-instance"'

# request [ATTRIBUTE [ELEMENT [LINES]]]: what each of the domains asks for, with lines of its own in the
# cloud-config. The file in D-Bus's folder is not a link to /etc/machine-id, as on older systems.
request() {
    cat <<END
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1" ${1-}>
  ${2-}
  <ci:user-data>#cloud-config
write_files:
  - path: /var/lib/cloud/scripts/per-boot/record
    permissions: "0755"
    content: |
      #!/bin/sh
      mkdir -p /etc/virt-seed-probe /var/lib/dbus
      cd /etc/virt-seed-probe || exit
      if [ ! -f /var/lib/dbus/machine-id ] || [ -L /var/lib/dbus/machine-id ]; then
          rm -f /var/lib/dbus/machine-id
          cat /etc/machine-id >/var/lib/dbus/machine-id
      fi
      cat /etc/machine-id >machine-id
      cat /var/lib/dbus/machine-id >dbus
      cut -d ' ' -f 2 /etc/ssh/ssh_host_ed25519_key.pub >host-key
      grep '^virt-seed: .*machine-id' /var/log/cloud-init-output.log >log
      for _ in \$(seq 120); do
          if grep -h ^CLIENTID= /run/systemd/netif/leases/* >lease; then break; fi
          sleep 1
      done
${3-}
  </ci:user-data>
</ci:cloud-init>
END
}

# define NAME NUMBER [ATTRIBUTE [ELEMENT [LINES]]]
define() {
    local mac=52:54:00:00:00:0$2

    request "${@:3}" |
        interfaces="<interface type='bridge'><source bridge='lan'/><mac address='$mac'/>
            <model type='virtio'/></interface>" \
            guest_xml "$images" "$1" "00000000-0000-4000-8000-00000000000$2" "$(console "$1")" |
        virt_seed --quiet wire - >"$images/$1.xml"
    lab_virsh define --validate "$images/$1.xml"
}

clone_disk() {
    qemu-img create -q -f qcow2 -F qcow2 -b "$images/original.qcow2" "$images/$1.qcow2"
}

# recipe NUMBER: prints one of the blocks of commands for a golden image.
recipe() {
    awk -v wanted="$1" '
        /^## / { inside = $0 == "## A golden image" }
        /^```$/ { wanted_block = 0 }
        wanted_block
        inside && /^```sh$/ { wanted_block = ++count == wanted }' "$BATS_TEST_DIRNAME/../../docs/recipes.md"
}

# cleaning: the lines of cloud-config with which a guest types what the recipe says, once it has reported.
cleaning() {
    cat <<END
  - path: /root/typed
    content: |
$(recipe 1 | sed 's/^/      /')
runcmd: [[systemd-run, --no-block, --property=After=virt-seed-probe.service, sh, -ex, /root/typed]]
END
}

is_off() {
    [[ $(lab_virsh domstate "$1") = 'shut off' ]]
}

# recorded NAME FILE: what the guest has written to the file in its last boot.
recorded() {
    last_report "$1" | sed -n "s,^text=/etc/virt-seed-probe/$2: ,,p"
}

# start_network: a bridge of the lab's, and what gives its guests their addresses.
start_network() {
    lab_run ip link add lan type bridge
    lab_run ip address add 192.0.2.1/24 dev lan
    lab_run ip link set lan up
    lab_run dnsmasq --conf-file=/dev/null --port=0 --interface=lan --bind-interfaces --user=root --pid-file= \
        --dhcp-authoritative --dhcp-range=192.0.2.10,192.0.2.200,1h --no-ping \
        --dhcp-leasefile="$images/leases" --log-dhcp --log-facility="$images/dhcp"
}

# address NAME: the address that the DHCP server gave to the guest last.
address() {
    local mac

    mac=$(lab_run sed -n "s/.*<mac address='\([^']*\)'.*/\1/p" "$images/$1.xml")
    lab_run sed -n "s/.*DHCPACK(lan) \([0-9.]*\) $mac.*/\1/p" "$images/dhcp" | tail -n 1
}

setup_file() {
    common_start_lab
    start_network
    guest_overlay "$images" original
    guest_overlay "$images" golden
    define original 1 "$per_instance"
    append=virt_seed_probe=stay define golden 4 '' '' "$(cleaning)"
    boot_both original golden
    wait_until 120 is_off original
    wait_until "$boot_seconds" is_off golden

    clone_disk by-mac
    clone_disk by-duid
    recipe 2 >"$images/recipe"
    lab_run sh -ex "$images/recipe"
    sed s/web1/web2/ "$images/recipe" | lab_run sh -ex
    define by-mac 2 "$per_instance" '<ci:network-config from="interfaces"/>'
    define by-duid 3 "$per_instance"
    define web1 5
    define web2 6
    boot_both by-mac by-duid
    boot_both web1 web2
}

boot_both() {
    lab_virsh start "$1"
    lab_virsh start "$2"
    wait_for_report "$1"
    wait_for_report "$2"
}

# all_differ FILE NAME...: whether each of the guests has recorded something else there.
all_differ() {
    local name file=$1

    shift
    for name; do
        recorded "$name" "$file" | tee "$BATS_TEST_TMPDIR/$name"
        [[ -s $BATS_TEST_TMPDIR/$name ]] || return
    done
    [[ $(sort -u "${@/#/$BATS_TEST_TMPDIR/}" | wc -l) -eq $# ]]
}

@test "copies of a disk cleaned by the recipe have their own machine-id, lease and host keys" {
    local name

    all_differ machine-id golden web1 web2
    all_differ lease golden web1 web2
    all_differ host-key golden web1 web2
    # So their leases on one network differ, too.
    for name in golden web1 web2; do address "$name"; done | tee "$BATS_TEST_TMPDIR/addresses"
    [[ $(sort -u "$BATS_TEST_TMPDIR/addresses" | grep -c '^192\.0\.2\.') -eq 3 ]]
    [[ $(recorded web1 dbus) = "$(recorded web1 machine-id)" ]]
    assert_reported web1 'instance-id=00000000-0000-4000-8000-000000000005' 'hostname=web1' 'errors=[]'
    assert_reported web2 'instance-id=00000000-0000-4000-8000-000000000006' 'hostname=web2' 'errors=[]'
}

# What the recipe and from="interfaces" are for.
@test "a clone that is neither cleaned nor identified by its MAC gets the original's address at its first boot" {
    local name

    for name in original by-duid by-mac; do echo "$name: $(address "$name") $(recorded "$name" lease)"; done
    [[ -n $(address original) && $(address by-duid) = "$(address original)" ]]
    [[ $(address by-mac) != "$(address original)" ]]
}

@test "the machine-id that systemd makes for a prepared disk stays" {
    [[ $(recorded original machine-id) =~ ^[0-9a-f]{32}$ ]]
    run -0 recorded original log
    echo "$output"
    [[ $output = *'made at this boot, and stays'* ]]
}

@test "each clone is a new instance with a machine-id of its own" {
    local name
    local -a ids=()

    for name in original by-mac by-duid; do
        ids+=("$(recorded "$name" machine-id)")
        [[ ${ids[-1]} =~ ^[0-9a-f]{32}$ ]]
    done
    printf '%s\n' "${ids[@]}"
    [[ $(printf '%s\n' "${ids[@]}" | sort -u | wc -l) -eq 3 ]]
    assert_reported by-mac 'instance-id=00000000-0000-4000-8000-000000000002' 'errors=[]'
    assert_reported by-duid 'instance-id=00000000-0000-4000-8000-000000000003' 'errors=[]'
}

@test "D-Bus's own file has the same machine-id" {
    [[ $(recorded by-mac dbus) = "$(recorded by-mac machine-id)" ]]
    [[ $(recorded by-duid dbus) = "$(recorded by-duid machine-id)" ]]
}

@test "cloud-init's log says what happened" {
    run -0 recorded by-mac log
    echo "$output"
    [[ $output = *'new machine-id for a new instance'* ]]
}

@test "with from=\"interfaces\" a clone has a DHCP identity of its own at its first boot" {
    run -0 recorded by-mac lease
    echo "$output"
    [[ $output = CLIENTID=01525400000002 ]]
}

@test "a clone's second boot keeps the machine-id, and its DHCP client identifies itself by it" {
    local id original_duid first_duid

    id=$(recorded by-duid machine-id)
    original_duid=$(recorded original lease)
    first_duid=$(recorded by-duid lease)
    wait_until 120 is_off by-duid
    # QEMU begins the file of the console again.
    lab_virsh start by-duid
    wait_for_report by-duid
    [[ $(recorded by-duid machine-id) = "$id" ]]
    run -0 recorded by-duid lease
    echo "original $original_duid, first boot $first_duid, second boot $output"
    # The end of a DUID is the digest of the machine-id.
    [[ $output = CLIENTID=ff* && ${output: -16} != "${original_duid: -16}" ]]
}
