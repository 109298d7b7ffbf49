#!/usr/bin/env bats
# imds.bats: the metadata server under systemd, on a whole host: its units as they are installed, their
# sandbox, and who gets a seed: a guest with user networking, and one on libvirt's own bridge.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

user1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
bridge1=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
mac=52:54:00:a1:b2:c3
images=/var/lib/libvirt/images

request() {
    echo "<ci:cloud-init xmlns:ci='$namespace' datasource='nocloud-net'>$*</ci:cloud-init>"
}

# define_wired: wires and defines the domain on standard input.
define_wired() {
    on_host sh -c 'virt-seed --quiet wire - >/root/wired.xml && virsh define /root/wired.xml'
}

# url NAME: prints the URL of the domain's seed.
url() {
    on_host virsh dumpxml "$1" | grep -o 'http://[^<]*'
}

server() {
    on_host systemctl show --property=MainPID --value virt-seed-imds.service
}

answers() {
    on_host curl -fsS --max-time 60 http://169.254.169.254/healthz
}

@test "refuses a domain that needs the server until it is enabled, and says so" {
    metadata=$(request) interface=default tiny_xml bridge1 $bridge1 | define_wired
    run on_host virsh start bridge1
    [[ $status -ne 0 && $output = *'virt-seed: error: '*169.254.169.254* ]]
}

@test "the server answers in its unit's sandbox if it is enabled as the manual says" {
    on_host systemctl enable --now virt-seed-imds.socket virt-seed-imds.service
    [[ $(on_host systemctl is-enabled virt-seed-imds.socket virt-seed-imds.service) = enabled$'\n'enabled ]]
    run -0 answers
    [[ $(on_host ps -o user= -p "$(server)") = virt-se* ]]
    on_host virt-seed doctor
}

# field NAME: prints this field of the server's process in /proc.
field() {
    on_host sed -n "s/^$1:[[:space:]]*//p" "/proc/$(server)/status"
}

@test "the server has no privileges and sees neither secrets nor records" {
    local root file

    root=/proc/$(server)/root
    [[ $(field CapBnd) = 0000000000000000 && $(field CapEff) = 0000000000000000 ]]
    [[ $(field NoNewPrivs) = 1 && $(field Seccomp) = 2 ]]
    on_host test -e /etc/virt-seed/secrets -a -e /var/lib/virt-seed
    run ! on_host test -e "$root/etc/virt-seed/secrets" -o -e "$root/var/lib/virt-seed/domains"
    for file in /etc/new /run/libvirt/virt-seed/imds/new /tmp/new /var/tmp/new /dev/shm/new; do
        run ! on_host nsenter --target "$(server)" --mount touch "$file"
    done
}

@test "no guest starts without its seed if the sandbox keeps the server from answering" {
    on_host sh -c 'mkdir -p /run/systemd/system/virt-seed-imds.service.d &&
        printf "[Service]\nRestrictSUIDSGID=yes\n" >/run/systemd/system/virt-seed-imds.service.d/test.conf &&
        systemctl daemon-reload && systemctl restart --no-block virt-seed-imds.service'
    run on_host virsh start bridge1
    [[ $status -ne 0 && $output = *'virt-seed: error: '*169.254.169.254* ]]
    run ! answers
    on_host sh -c 'rm -r /run/systemd/system/virt-seed-imds.service.d && systemctl daemon-reload &&
        systemctl restart virt-seed-imds.service'
    run -0 answers
}

@test "with only the socket enabled, the first request starts the server" {
    on_host systemctl stop virt-seed-imds.service
    [[ $(server) = 0 ]]
    run -0 answers
    [[ $(server) != 0 ]]
}

@test "a killed server comes back, and no request is refused meanwhile" {
    local before

    before=$(server)
    on_host kill -KILL "$before"
    run -0 answers
    [[ $(server) != "$before" ]]
}

# The guest is iPXE, which runs its user-data: a script that ends it.
@test "a guest with user networking fetches its seed" {
    host_need initrd
    on_host sh -c "cp /usr/lib/ipxe/ipxe.lkrn $images"
    metadata=$(request "<ci:user-data>#!ipxe
reboot</ci:user-data>") interface=user memory=128 \
        os="<kernel>$images/ipxe.lkrn</kernel><initrd>$images/boot.ipxe</initrd>" \
        tiny_xml user1 $user1 | sed 's|<devices>|<on_reboot>destroy</on_reboot>&|' | define_wired
    on_host sh -c "cat >$images/boot.ipxe" <<END
#!ipxe
dhcp
chain --replace $(url user1)user-data
END
    on_host virsh start user1
    wait_until 900 is_off user1
    assert_no_denials
}

is_off() {
    [[ $(on_host virsh domstate "$1") = 'shut off'* ]]
}

# with_mac MAC COMMAND…: runs it on libvirt's bridge as a guest with that MAC. The domain's own link is down.
with_mac() {
    on_host ip netns add peer
    on_host ip link add peer-bridge type veth peer name eth0 address "$1" netns peer
    on_host ip link set peer-bridge master virbr0 up
    on_host ip -n peer link set eth0 up
    on_host ip -n peer address add 192.168.122.250/24 dev eth0
    on_host ip -n peer route add default via 192.168.122.1
    run on_host ip netns exec peer "${@:2}"
    on_host ip netns delete peer
    # The next one has to be a new neighbour for the kernel.
    on_host ip neighbour flush dev virbr0
}

@test "a guest on libvirt's bridge gets its seed by its MAC, and by no other" {
    local place

    metadata=$(request) interface=default tiny_xml bridge1 $bridge1 |
        sed "s|<mac [^>]*>|&<link state='down'/>|" | define_wired
    on_host virsh start bridge1
    place=$(url bridge1)
    with_mac $mac curl -sS --max-time 60 -w '%{http_code}' "${place}meta-data"
    [[ $status -eq 0 && $output = *"\"local-hostname\": \"bridge1\""*200 ]]
    with_mac 52:54:00:a1:b2:c4 curl -sS --max-time 60 -w '%{http_code}' "${place}meta-data"
    [[ $status -eq 0 && $output != *bridge1* && $output = *404 ]]
}

@test "an upgrade replaces the server and keeps the guest's seed" {
    local before

    before=$(server)
    host_upgrade
    run -0 answers
    [[ $(server) != "$before" ]]
    with_mac $mac curl -sS --max-time 60 -w '%{http_code}' "$(url bridge1)meta-data"
    [[ $status -eq 0 && $output = *bridge1*200 ]]
}

@test "a guest that ends leaves nothing in the server's tree" {
    on_host virsh destroy bridge1
    run -0 on_host find /run/libvirt/virt-seed/imds -mindepth 1 -type f
    echo "$output"
    [[ $output = '' ]]
    assert_no_denials
}
