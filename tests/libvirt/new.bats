#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# new.bats: virt-seed new, images and rm with a real libvirtd, virt-install, curl and a web server. The guests boot
# nothing; tests/guest/new.bats has one that does.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

port=8765
key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl cara@desk'

setup_file() {
    type -P virt-install >/dev/null || skip "virt-install is not installed"
    common_start_lab
    lab_run ip link set lo up
    if [[ $scope = system ]]; then
        lab_virsh net-define /dev/stdin <<<"<network><name>default</name><bridge name='vs0'/></network>"
    fi
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'install -d -m 0755 /run/web && qemu-img create -q -f qcow2 /run/web/tiny.qcow2 64M &&
        cd /run/web && sha256sum tiny.qcow2 >SHA256SUMS && sha512sum --tag tiny.qcow2 >CHECKSUM &&
        sed s/tiny/build-7/ SHA256SUMS >tiny.qcow2.sha256 && : >log && exec 3>&- 4>&-
        python3 "$0" /run/web "$1" /run/web/log >server.out 2>&1 &' "$BATS_TEST_DIRNAME/images.py" "$port"
    wait_until 20 lab_run curl --silent --output /dev/null "http://127.0.0.1:$port/plain/SHA256SUMS"
    lab_run sh -c 'echo "cara:x:64200:64200::/run/cara:/bin/sh" >>/etc/passwd'
}

setup() {
    common_make_conf
    as_owner mkdir -p "$conf_dir/images.d"
    pool=$images caller=64200 caller_home=/run/cara
    if [[ $scope = session ]]; then
        pool=$home/.local/share/libvirt/images caller=$ann caller_home=$home
    fi
    give_key
    catalogue tiny plain
    lab_run sh -c ': >/run/web/log'
}

teardown() {
    lab_reset
    lab_run sh -c "rm -rf $conf_dir/* $state_dir/*; [ ! -d $pool ] || find $pool -mindepth 1 -delete"
}

# give_key: who calls virt-seed, in the system's scope by sudo, has a key.
give_key() {
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'install -d -m 0700 -o "$1" "$2" "$2/.ssh" && echo "$3" >"$2/.ssh/id.pub" &&
        chown "$1" "$2/.ssh/id.pub"' sh "$caller" "$caller_home" "$key"
}

# catalogue NAME WAY [CHECKSUMS]: puts the image into the catalogue, served in that way.
catalogue() {
    as_owner tee "$conf_dir/images.d/$1.conf" >/dev/null <<END
url = http://127.0.0.1:$port/$2/tiny.qcow2
checksums = ${3-SHA256SUMS}
osinfo = no-such-system linux2022
user = debian
END
}

# new ARGUMENT...: virt-seed new with little memory, without a start, by somebody who has a key.
new() {
    as_owner SUDO_UID=64200 timeout 300 "${virt_seed[@]}" new --memory=64 --no-start "$@"
}

# fetched: how often the image itself was asked for.
fetched() {
    lab_run grep -c 'tiny.qcow2' /run/web/log
}

# assert_nothing: there is no domain, and no file in the pool but those that are named.
assert_nothing() {
    run -0 lab_virsh list --all --name
    [[ ! $output ]]
    # shellcheck disable=SC2016  # for the shell in the lab
    run -0 lab_run sh -c '[ ! -d "$0" ] || find "$0" -mindepth 1 "$@"' "$pool" "$@"
    echo "$output"
    [[ ! $output ]]
}

xml() {
    lab_virsh dumpxml --inactive "$1" | xmllint --xpath "string($2)" -
}

@test "an image of the catalogue becomes a domain with a layer over it, wired and with the caller's key" {
    run -0 new tiny web1
    echo "$output"
    [[ $output = *"web1: made: $pool/web1.qcow2 (10 GiB), 64 MiB of memory"* ]]
    sum=$(lab_run sha256sum /run/web/tiny.qcow2 | cut -d' ' -f1)
    run -0 lab_run qemu-img info "$pool/web1.qcow2"
    [[ $output = *"virtual size: 10 GiB"*"backing file: $pool/$sum.qcow2"* ]]
    [[ $(lab_run stat -c %a "$pool/$sum.qcow2") = 444 ]]
    [[ $(xml web1 '//*[local-name()="key"]') = ssh-ed25519* ]]
    [[ $(xml web1 '//disk[1]/source/@file') = "$pool/web1.qcow2" ]]
    run -0 virt_seed check web1
    echo "$output"
    # It starts, at once: the hook has nothing to refuse.
    lab_virsh start web1
    run -0 virt_seed images
    echo "$output"
    [[ $output = *"tiny "*" debian "*"/plain/tiny.qcow2"* && $output != *'tiny   -'* ]]
    # The next ones share the image.
    new tiny db1
    [[ $(fetched) -eq 1 ]]
    run -0 virt_seed rm --yes web1 db1
    assert_nothing ! -name "$sum.qcow2" ! -name .tiny.image
}

@test "ten are made at once, each with its own UUID, address and disk" {
    new tiny web{1..10}
    [[ $(fetched) -eq 1 ]]
    for i in {1..10}; do
        xml "web$i" '//domain/uuid'
        xml "web$i" '//interface/mac/@address'
        xml "web$i" '//disk[1]/source/@file'
    done >"$BATS_TEST_TMPDIR/own"
    [[ $(sort -u "$BATS_TEST_TMPDIR/own" | wc -l) -eq 30 || $scope = session ]]
    run -0 virt_seed rm --yes web{1..10}
    assert_nothing ! -name '*.image' ! -name '????????????????????????????????????????????????????????????????.qcow2'
}

@test "what is fetched must be what its checksum says, and a cut transfer goes on where it ended" {
    lab_run sh -c 'printf "%064d  tiny.qcow2\n" 7 >/run/web/wrong'
    catalogue wrong plain wrong
    run -1 new wrong web1
    echo "$output"
    [[ $output = *"is not what its checksum says"* ]]
    assert_nothing
    catalogue none plain absent
    run -1 new none web1
    echo "$output"
    [[ $output = *"could not fetch 'http://127.0.0.1:$port/plain/absent'"* ]]
    run -2 new "http://127.0.0.1:$port/plain/tiny.qcow2" web1
    [[ $output = *"--checksum"* ]]
    assert_nothing

    catalogue cut cut CHECKSUM
    run -1 new cut web1
    echo "$output"
    [[ $output = *"it goes on where this one ended"* ]]
    run -0 new cut web1
    run -0 lab_run tail -n 1 /run/web/log
    [[ $output = "/cut/tiny.qcow2 bytes="* ]]
    virt_seed rm --yes web1
}

@test "a server that has no ranges sends all of it again, and one that redirects is followed" {
    sum=$(lab_run sha256sum /run/web/tiny.qcow2 | cut -d' ' -f1)
    as_owner mkdir -p "$pool"
    as_owner sh -c "head -c 1000 /run/web/tiny.qcow2 >$pool/.$sum.part"
    catalogue old old tiny.qcow2.sha256
    new old web1
    virt_seed rm --yes web1
    lab_run rm "$pool/$sum.qcow2"
    new --checksum="SHA256:$sum" "http://127.0.0.1:$port/redirect/tiny.qcow2" web1
    [[ $(xml web1 '//disk[1]/source/@file') = "$pool/web1.qcow2" ]]
}

@test "a server that is not there does not hide what was fetched before" {
    new tiny web1
    catalogue tiny plain http://127.0.0.1:1/SHA256SUMS
    run -0 new tiny web2
    echo "$output"
    [[ $output = *"is used as it was fetched last"* ]]
}

@test "a FILE is copied, and may be raw" {
    as_owner qemu-img create -q -f qcow2 "$BATS_TEST_TMPDIR/own.qcow2" 20G
    as_owner truncate -s 12M "$BATS_TEST_TMPDIR/own.raw"
    new "$BATS_TEST_TMPDIR/own.qcow2" web1
    run -0 lab_run qemu-img info "$pool/web1.qcow2"
    [[ $output = *"virtual size: 20 GiB"* && $output != *"backing file"* ]]
    new --disk=30 "$BATS_TEST_TMPDIR/own.qcow2" web2
    run -0 lab_run qemu-img info "$pool/web2.qcow2"
    [[ $output = *"virtual size: 30 GiB"* ]]
    new --disk=500M "$BATS_TEST_TMPDIR/own.raw" web3
    [[ $(lab_run stat -c '%s %U' "$pool/web3.raw") = "$((500 * 1024 * 1024)) "* ]]
    [[ $(xml web3 '//disk[1]/driver/@type') = raw ]]
    run -2 new --disk=1 "$BATS_TEST_TMPDIR/own.qcow2" web4
    [[ $output = *"--disk is 1024 MiB, and the image needs 20480 MiB"* ]]
}

@test "an image that leads to other files of the host is refused" {
    cd "$BATS_TEST_TMPDIR"
    as_owner qemu-img create -q -f qcow2 -b /etc/passwd -F raw backed.qcow2
    as_owner qemu-img create -q -f qcow2 -o data_file=data,data_file_raw=on external.qcow2 1M
    as_owner sh -c 'head -c 2M /dev/zero | gzip >packed.img; echo text >text.img'
    run -1 new ./backed.qcow2 web1
    [[ $output = *"needs a backing file, which may be any file of this host"* ]]
    run -1 new ./external.qcow2 web1
    [[ $output = *"needs an external data file"* ]]
    run -1 new ./packed.img web1
    [[ $output = *"gunzip"* ]]
    run -1 new ./text.img web1
    [[ $output = *"is not an image"* ]]
    assert_nothing
    # Nor from a server.
    sum=$(sha256sum backed.qcow2 | cut -d' ' -f1)
    lab_run cp "$PWD/backed.qcow2" /run/web/
    run -1 new --checksum="$sum" "http://127.0.0.1:$port/plain/backed.qcow2" web1
    [[ $output = *"needs a backing file"* ]]
    assert_nothing ! -name ".$sum.part"
}

@test "what cannot work is said before anything is made" {
    run -2 new tiny web1 web1
    [[ $output = *"was named twice"* ]]
    run -2 new tiny ../web1
    [[ $output = *"cannot be the name of a new domain"* ]]
    run -1 new nothing web1
    [[ $output = *"there is no image 'nothing' in the catalogue"* ]]
    run -2 new --hostname=web.example.org tiny web1 web2
    [[ $output = *"several guests cannot all have --hostname='web.example.org'"*hint:* ]]
    run -2 new --ip=192.0.2.7/24 tiny web1 web2 web3
    [[ $output = *"several guests cannot all have --ip='192.0.2.7/24'"* ]]
    run -0 new --dry-run --ip=dhcp tiny web1 web2
    run -2 new --timeout=soon tiny web1
    [[ $output = *"--timeout='soon'"* ]]
    run -2 new --memory=much tiny web1
    [[ $output = *"--memory has 'much'"* ]]
    run -1 new --network=nowhere tiny web1
    [[ $output = *"there is no network 'nowhere'"* ]]
    run -1 new --pool=nowhere tiny web1
    [[ $output = *"there is no storage pool 'nowhere'"* ]]
    lab_run rm "$caller_home/.ssh/id.pub"
    run -1 new tiny web1
    [[ $output = *"nobody could log in"* ]]
    # What is not a key is left out, and an empty file is none.
    lab_run sh -c ": >$caller_home/.ssh/empty.pub; echo text >$caller_home/.ssh/other.pub; chown $caller $caller_home/.ssh/*"
    run -1 new tiny web1
    [[ $output = *"~/.ssh/other.pub is left out"*"nobody could log in"* ]]
    give_key
    run -2 new tiny -- --boot uefi
    [[ $output = *"missing argument: NAME"* ]]
    run -1 new --user-data=/etc/hostname tiny web1
    [[ $(fetched) -eq 0 ]]
    new tiny web1
    run -1 new tiny web1
    [[ $output = *"there is a domain 'web1' already"*"virt-seed rm web1"* ]]
    as_owner touch "$pool/web3.qcow2"
    run -1 new tiny web2 web3
    [[ $output = *"there is a disk $pool/web3.qcow2 already"* ]]
    run -0 lab_virsh list --all --name
    [[ $output = web1 ]]
}

@test "the wait for a guest without cloud-init has an end" {
    # The alarm that a timeout sets ends the command with its status; without one, the command dies of the signal.
    # shellcheck disable=SC2016  # for the shell in the lab
    run -0 as_owner SUDO_UID=64200 timeout 120 sh -c 'said=$(mktemp); "$@" >"$said" 2>&1 3>&- 4>&- & pid=$!
        for i in $(seq 300); do grep "web1: started" "$said" && break; sleep 0.2; done
        kill -s ALRM "$pid"; wait "$pid"; echo "status $?"; rm "$said"' sh "${virt_seed[@]}" new --memory=64 tiny web1
    echo "$output"
    [[ ${lines[-1]} = 'status 124' ]]
    run -0 lab_virsh domstate web1
    [[ $output = running* ]]
}

@test "--dry-run makes nothing, and what follows -- is virt-install's" {
    run -0 new --dry-run tiny web1
    [[ $output = *"web1: would be made:"* ]]
    [[ $(fetched) -eq 0 ]]
    assert_nothing
    new tiny web1 -- --graphics vnc --boot menu=on
    [[ $(xml web1 '//graphics/@type') = vnc && $(xml web1 '//bootmenu/@enable') = yes ]]
    run -1 new tiny web2 -- --no-such-option
    echo "$output"
    [[ $output = *"virt-install could not write the domain's XML"* ]]
    run -0 lab_virsh list --all --name
    [[ $output = web1 ]]
}

@test "a full disk leaves nothing" {
    system_only "the pool of a session is the user's home"
    lab_run sh -c 'mkdir -p /run/small && mount -t tmpfs -o size=128k small /run/small'
    lab_virsh pool-create-as small dir --target /run/small
    run -1 new --pool=small tiny web1
    echo "$output"
    [[ $output = *"No space left on device"* ]]
    assert_nothing
    run -0 lab_run find /run/small -mindepth 1 ! -name '.*.part'
    [[ ! $output ]]
    as_owner truncate -s 2M "$BATS_TEST_TMPDIR/own.raw"
    as_owner dd if=/dev/urandom of="$BATS_TEST_TMPDIR/own.raw" bs=1M count=2 status=none
    run -1 new --pool=small "$BATS_TEST_TMPDIR/own.raw" web1
    [[ $output = *"MiB left, and the new disks need"* ]]
    lab_virsh pool-destroy small
    lab_run umount /run/small
}

@test "whenever it is killed, a disk has its domain or gc removes it" {
    local begin=$EPOCHREALTIME whole step

    new tiny first
    new tiny a b c
    whole=$((${EPOCHREALTIME/./} - ${begin/./}))
    virt_seed rm --yes a b c
    for step in {4..16}; do
        as_owner SUDO_UID=64200 timeout -s KILL "$((whole * step / 16 / 2000))e-3" "${virt_seed[@]}" new --memory=64 \
            --no-start --timezone=Etc/UTC tiny a b c || :
        virt_seed gc --all
        for file in $(lab_run find "$pool" -name '*.qcow2*' ! -name '????????????????????????????????*.qcow2'); do
            name=${file##*/}
            lab_virsh domid "${name%.qcow2}"
        done
        for name in $(lab_virsh list --all --name); do
            [[ $name = first ]] || virt_seed rm --yes "$name" || :
        done
        run -0 lab_virsh list --all --name
        [[ $output = first ]]
    done
    # A transfer that was cut off.
    virt_seed rm --yes first
    lab_run find "$pool" -mindepth 1 -delete
    catalogue slow slow
    # shellcheck disable=SC2016  # for the shell in the lab
    run -0 as_owner SUDO_UID=64200 timeout 60 sh -c 'pool=$0; "$@" 3>&- 4>&- & until find "$pool" | grep "/\..*\.part\$"; do
        sleep 0.1; done; kill -KILL $!; ! wait $!' "$pool" "${virt_seed[@]}" new --no-start slow web1
    [[ $output = *.part* ]]
    run -0 virt_seed gc --dry-run
    [[ $output = "would remove $pool/."*.part ]]
    lab_run test -e "${output#would remove }"
    run -0 virt_seed gc
    [[ $output = "removed $pool/."*.part ]]
    assert_nothing
}

@test "rm asks, keeps what it shall, and leaves what it did not make" {
    new tiny web1 web2
    run -1 virt_seed rm web1 </dev/null
    [[ $output = *"domain 'web1' and its disk $pool/web1.qcow2"*"give --yes"* ]]
    lab_virsh start web1
    run -0 virt_seed rm --yes --keep-disk web1
    [[ $output = $'web1: removed\n'"web1: $pool/web1.qcow2 stays" ]]
    lab_run test -e "$pool/web1.qcow2"
    run -1 lab_virsh dominfo web1
    # No more than the domain's own disks, in a pool.
    lab_virsh dumpxml --inactive web2 | sed "s|made-disk=\"[^\"]*\"|made-disk=\"$pool/web1.qcow2\"|" |
        lab_virsh define /dev/stdin
    virt_seed rm --yes web2
    lab_run test -e "$pool/web1.qcow2"
    # After an external snapshot, the domain has another disk.
    new tiny web3
    lab_virsh snapshot-create-as web3 before --disk-only
    run -1 virt_seed rm web3 </dev/null
    [[ $output = *"domain 'web3' without its disks"* ]]
    run -0 virt_seed rm --yes web3
    echo "$output"
    [[ $output = $'web3: removed\n'"web3: $pool/web3.qcow2 stays"$'\n'"web3: $pool/web3.before stays" ]]
    lab_run test -e "$pool/web3.qcow2" -a -e "$pool/web3.before"
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" domain_define other \
        7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
    virt_seed wire other
    run -0 virt_seed rm --yes other
    [[ $output = *"was not made by 'virt-seed new'"* ]]
    run -0 lab_virsh dumpxml other
    [[ $output != *cloud-init* ]]
    run -1 virt_seed rm --yes nothing other
    [[ $output = *"there is no domain 'nothing'"* ]]
}
