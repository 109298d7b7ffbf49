#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2034,SC2086,SC2154  # the variables of common.bash and report.bash, and for shells elsewhere
# ssh.bats: virt-seed ssh with a real libvirtd, ssh and sshd. The guests boot nothing: sshd runs in the lab, at the
# address that a guest has reported, or that libvirt has leased to it.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
mac=52:54:00:00:00:01
card="<mac address='$mac'/>"
address=192.0.2.7

setup_file() {
    type -P ssh-keygen /usr/sbin/sshd dnsmasq >/dev/null || skip 'sshd or dnsmasq is not installed'
    common_start_lab
    lab_virsh net-define /dev/stdin <<'END'
<network>
  <name>lan</name>
  <bridge name='virbr7'/>
  <ip address='198.51.100.1' netmask='255.255.255.0'><dhcp><range start='198.51.100.2' end='198.51.100.99'/></dhcp></ip>
</network>
END
    lab_virsh net-start lan
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'for address; do ip address add "$address/32" dev lo; done
        echo "debian:*:64200:64200::/:/bin/sh" >>/etc/passwd
        echo "sam:*:64300:64300::/run/sam:/bin/sh" >>/etc/passwd
        printf "sam:x:64300:\nhelpers:x:64301:sam\n" >>/etc/group
        grep -q "^libvirt:" /etc/group || echo "libvirt:x:64302:" >>/etc/group
        grep -q "^sshd:" /etc/passwd || echo "sshd:x:64400:65534::/:/bin/false" >>/etc/passwd
        mkdir -p /run/sshd' sh $address 198.51.100.7
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
    for name in own host other; do
        ssh-keygen -q -t ed25519 -N '' -f "$name"
    done
}

teardown() {
    end_sshd
    lab_reset
    lab_run sh -c "rm -rf $state_dir/* /var/lib/libvirt/dnsmasq/virbr7.status"
}

# begin_sshd KEY [ADDRESS] [PORT]: runs the guest's sshd.
begin_sshd() {
    install -m 0600 "$1" /tmp/hostkey.$$
    cat >sshd_config <<END
ListenAddress ${2:-$address}
Port ${3:-22}
HostKey $PWD/sshd_key
AuthorizedKeysFile $PWD/own.pub
StrictModes no
UsePAM no
PidFile /run/sshd.pid
END
    mv /tmp/hostkey.$$ sshd_key
    lab_run /usr/sbin/sshd -f "$PWD/sshd_config" -E "$PWD/sshd.log" 3>&- 4>&-
    wait_until 20 lab_run test -e /run/sshd.pid
}

end_sshd() {
    lab_run sh -c 'if [ -e /run/sshd.pid ]; then kill "$(cat /run/sshd.pid)"; rm -f /run/sshd.pid; fi'
}

# start [ATTRIBUTES [CHILDREN]]: starts a wired domain on the network.
start() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${1-}>${2-}</ci:cloud-init>" interface=lan \
        domain_define web1 $web1
    virt_seed --quiet wire web1
    lab_virsh start web1
}

# says [USER [ADDRESS [KEYFILE]]]: the guest reports how to log in.
says() {
    report_say $web1 "$(printf '{"virt-seed":1,"boot":"%s","status":null,"result":{"v1":{"errors":[]}},"login":{"user":"%s",
        "host-keys":["%s"],"addresses":[{"nic":"docker0","mac":"02:42:00:00:00:01","address":"172.17.0.1"},
        {"nic":"ens3","mac":"%s","address":"%s"}]}}' "$boot1" "${1-debian}" \
        "$(cut -d' ' -f 1,2 "${3:-host}.pub")" $mac "${2:-$address}" | tr -d '\n')"
}

# in_guest WORD...: runs a command in it.
in_guest() {
    run --separate-stderr virt_seed ssh web1 -F none -i "$PWD/own" -o BatchMode=yes -- "$@"
    echo "ssh: $status: $output $stderr"
}

# lease ADDRESS: what libvirt's helper writes when its DHCP server has given the address to the guest.
lease() {
    lab_run tee /var/lib/libvirt/dnsmasq/virbr7.status >/dev/null <<END
[{"ip-address": "$1", "mac-address": "$mac", "expiry-time": $(($(date +%s) + 3600))}]
END
}

@test "logs in to a guest at the address, as the user and by the host key that it has reported" {
    start
    says
    begin_sshd host
    in_guest 'id -un; echo "$SSH_CONNECTION"'
    [[ $status -eq 0 && ${lines[0]} = debian && ${lines[1]} = *" $address 22" ]]
    # A command's status is its own, and what follows "--" is all the guest's.
    in_guest exit 7
    [[ $status -eq 7 ]]
    in_guest echo -- --print
    [[ $output = '-- --print' ]]
    # The user's own options come first, but not before what the guest is recognized by.
    run -0 --separate-stderr virt_seed ssh web1 -F none -i "$PWD/own" -l sam -o BatchMode=yes -- id -un
    [[ $output = sam ]]
}

@test "another machine under the same address is refused, whatever the options say" {
    start
    says
    begin_sshd other
    in_guest id
    [[ $status -eq 255 && -z $output && $stderr = *'Host key verification failed'* ]]
    run virt_seed ssh web1 -F none -i "$PWD/own" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -- id
    [[ $status -eq 255 && $output = *'Host key verification failed'* ]]
}

@test "the lease comes before the report, and the generated host key before the reported one" {
    start 'ssh-host-keys="generate"' '<ci:initialization><ci:user_name>debian</ci:user_name></ci:initialization>'
    says eve $address other
    lease 198.51.100.7
    lab_run cat $state_dir/secrets/$web1/ssh_host_ed25519_key >generated
    begin_sshd generated 198.51.100.7
    in_guest 'id -un; echo "$SSH_CONNECTION"'
    [[ $status -eq 0 && ${lines[0]} = debian && ${lines[1]} = *' 198.51.100.7 22' ]]
}

@test "ssh reads what --print prints" {
    start
    says
    begin_sshd host
    virt_seed ssh --print web1 >config
    [[ $(head -n 2 config) = "Host web1
    HostName $address" ]]
    run -0 lab_run ssh -F config -i own -o BatchMode=yes web1 id -un
    [[ $output = debian ]]
    sed "s#$(cut -d' ' -f 2 host.pub)#$(cut -d' ' -f 2 other.pub)#" config >wrong
    run -255 lab_run ssh -F wrong -i own -o BatchMode=yes web1 id -un
}

@test "works for members of the group libvirt, and tells others who may" {
    local as_sam words

    words=("$builddir/virt-seed" -c qemu:///system ssh web1 -F none -i "$PWD/sams" -o BatchMode=yes -- id -un)
    as_sam=(setpriv --reuid=64300 --regid=64300)
    lab_run "${as_sam[@]}" --clear-groups test -x "$builddir/virt-seed" || skip 'the build is closed to others'
    install -m 0600 -o 64300 own sams
    start
    says
    begin_sshd host
    run -0 lab_run "${as_sam[@]}" --groups="$(lab_run sed -n 's/^libvirt:[^:]*:\([0-9]*\):.*/\1/p' /etc/group)" "${words[@]}"
    [[ $output = debian ]]
    lease $address
    run -1 lab_run "${as_sam[@]}" --clear-groups "${words[@]}"
    [[ $output = *'has not reported one that you may read'* ]]
}

@test "status has the address" {
    start
    says
    run -0 virt_seed status -o address web1
    [[ ${lines[1]} = "$address" ]]
    lease 198.51.100.7
    run -0 virt_seed status web1
    [[ $output = *'address      198.51.100.7'* ]]
    lab_virsh destroy web1
    [[ $(virt_seed status --json web1 | jq '.[0].address') = null ]]
}

@test "under sudo, ssh is the caller's" {
    mkdir bin
    printf '#!/bin/sh\nid -u; id -G; echo "$HOME $USER"; sed -n "s/^SigIgn:.*\\(....\\)$/\\1/p" /proc/$$/status\n' >bin/ssh
    chmod +x bin/ssh
    start
    says
    run -0 lab_run PATH="$PWD/bin:$PATH" SUDO_UID=64300 SUDO_GID=64300 "$builddir/virt-seed" ssh web1
    [[ ${lines[0]} = 64300 && ${lines[1]} = '64300 64301' && ${lines[2]} = '/run/sam sam' ]]
    # Bit 12 is SIGPIPE's.
    [[ $((0x${lines[3]} & 0x1000)) -eq 0 ]]
    run -0 lab_run PATH="$PWD/bin:$PATH" SUDO_UID=0 "$builddir/virt-seed" ssh web1
    [[ ${lines[0]} = 0 ]]
    for uid in -1 4294967295 7x ' 7'; do
        run -1 lab_run PATH="$PWD/bin:$PATH" SUDO_UID="$uid" "$builddir/virt-seed" ssh web1
        [[ $output = *'SUDO_UID'* ]]
    done
}

@test "what a hostile guest says is no option, and a guest without a way to it has a message that says what to do" {
    start
    run -1 virt_seed ssh web1
    [[ $output = *"no address of domain 'web1' is known"*'virt-seed wait web1'* ]]
    says '-oProxyCommand=touch /run/hit' '-oProxyCommand=touch /run/hit'
    run -1 virt_seed ssh web1
    [[ $output = *"no address of domain 'web1' is known"* ]]
    lab_run test ! -e /run/hit
    # An address, but no key.
    lease 198.51.100.7
    report_say $web1 '{"virt-seed":1,"boot":"7e0e9d0e-5d0f-4a5e-8a52-6d5b8f1c2b21","status":null}'
    run -1 virt_seed ssh web1
    [[ $output = *"domain 'web1': its host key is not known"*'ssh-host-keys="generate"'* ]]
    run -2 virt_seed ssh web1 -v
    [[ $output = *"'-v' after the domain is an option for ssh"*'ssh --print web1'* ]]
    lab_virsh destroy web1
    run -1 virt_seed ssh web1
    [[ $output = *"domain 'web1' is not running"*'virt-seed start web1'* ]]
    run -1 virt_seed ssh web2
    [[ $output = *"there is no domain 'web2'"* ]]
}

@test "a guest with user networking alone needs a forwarded port" {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ssh-host-keys='generate'/>" interface=user \
        domain_define web1 $web1
    virt_seed --quiet wire web1
    lab_virsh start web1
    says debian 10.0.2.15
    run -1 virt_seed ssh web1
    [[ $output = *'user networking'*"<portForward proto='tcp'"* ]]
}
