#!/usr/bin/env bats
# import-seed.bats: other tools' seeds become <cloud-init>: images, disks of domains, and what
# virt-install prints.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    mkdir files
    printf '#cloud-config\nlocale: C.UTF-8\n' >files/user-data
    printf 'instance-id: i-1\nlocal-hostname: one\npublic-keys: [ssh-ed25519 AAAA]\nrole: front\n' >files/meta-data
    printf 'version: 2\nethernets: {}\n' >files/network-config
}

needs() {
    type -P "$1" >/dev/null || skip "$1 is not installed"
}

# make_image FILE [LABEL]: an image of the files.
make_image() {
    needs xorriso
    xorriso -as mkisofs -quiet -J -r -V "${2-cidata}" -o "$1" files 2>/dev/null
}

# seeded_domain IMAGE: a domain that asks for nothing and has the image as its seed.
seeded_domain() {
    domain_xml | sed -e '/<metadata>/,/<\/metadata>/d' -e "s|<devices>|<devices><disk type='file' device='cdrom'><driver name='qemu' type='raw'/>\
<source file='$1'/><target dev='sdb' bus='sata'/></disk>|"
}

@test "import makes the element of an image, and the guest gets the same documents" {
    make_image seed.iso
    run -0 --separate-stderr virt-seed import seed.iso
    [[ -z $stderr ]]
    domain_xml "$(sed '1d;$d' <<<"$output")" >domain.xml
    virt-seed dump domain.xml meta-data | jq -e '."instance-id" == "i-1" and ."local-hostname" == "one" and
        ."public-keys" == ["ssh-ed25519 AAAA"] and .role == "front"'
    virt-seed dump domain.xml user-data | cmp - files/user-data
    virt-seed dump domain.xml network-config | cmp - files/network-config
    virt-seed import seed - <seed.iso >again
    [[ $(<again) = "$output" ]]
}

@test "import reads an image of more than 4 MiB, as mkisofs pads them" {
    make_image seed.iso
    run -0 virt-seed import seed.iso
    cp seed.iso padded.iso
    truncate -s 5M padded.iso
    diff <(virt-seed import padded.iso) <(echo "$output")
}

@test "import seed says that a file is neither an image nor a domain's XML" {
    : >empty
    for file in files/user-data empty; do
        run virt-seed import seed $file
        assert_refused 1 "$file: this is neither an image nor a domain's XML" 'virsh dumpxml'
    done
}

@test "import leaves virt-seed's own reporter out, and the seed gets it again" {
    domain_xml "<ci:user-data>$(<files/user-data)</ci:user-data>" | virt-seed --quiet build -o seed.iso -
    run -0 virt-seed import seed.iso
    [[ $output != *vendor-data* && $output = *user-data* ]]
    domain_xml "$(sed '1d;$d' <<<"$output")" | virt-seed dump - vendor-data >again
    [[ $(grep -c '^report &' again) -eq 1 ]]
}

@test "import keeps the vendor-data that has a header of its own, and finds a message that was cut off" {
    printf '%s\n' 'Content-Type: text/cloud-config; charset="utf-8"' 'MIME-Version: 1.0' \
        'Merge-Type: list(append)' 'Content-Transfer-Encoding: quoted-printable' '' '#cloud-config' 'a: "=3D"' >own
    domain_xml "<ci:vendor-data encoding='base64'>$(base64 -w 0 own)</ci:vendor-data>" |
        sed 's/<ci:cloud-init /&cache="keep" /' >one.xml
    virt-seed --quiet build -o seed.iso one.xml
    run -0 virt-seed import seed.iso
    [[ $output = *'cache="keep"'* ]]
    domain_xml "$(sed '1d;$d' <<<"$output")" >two.xml
    xmllint --xpath 'string(//*[local-name()="vendor-data"])' two.xml | base64 -d | diff own -

    rm -r files
    virt-seed inspect --extract=files seed.iso >/dev/null
    sed -i '/^--==virt-seed-.*--$/d' files/vendor-data
    make_image cut.iso
    run virt-seed import cut.iso
    assert_refused 1 'has a damaged part'
}

@test "import reads the seed of a ConfigDrive" {
    mkdir -p drive/openstack/latest
    echo '{"uuid": "i-1", "hostname": "one"}' >drive/openstack/latest/meta_data.json
    mv files/user-data drive/openstack/latest/user_data
    rm -r files
    mv drive files
    make_image seed.iso config-2
    run -0 virt-seed import seed.iso
    assert_said 'datasource="configdrive"' 'locale: C.UTF-8' '>one<'
}

@test "import refuses a ConfigDrive's files that are not a list" {
    rm -r files
    mkdir -p files/openstack/latest
    echo '{"uuid": "i-1", "files": "/etc/motd"}' >files/openstack/latest/meta_data.json
    make_image seed.iso config-2
    run virt-seed import seed.iso
    assert_refused 1 'meta_data.json' "key 'files' is not a list"
}

# make_configdrive FILE: makes a ConfigDrive with that network, in the form of interfaces(5).
make_configdrive() {
    rm -rf files
    mkdir -p files/openstack/latest files/openstack/content
    echo '{"uuid": "i-1", "network_config": {"content_path": "/content/0000"}}' \
        >files/openstack/latest/meta_data.json
    cp "$1" files/openstack/content/0000
    make_image seed.iso config-2
}

@test "import translates a ConfigDrive's network in the form of interfaces(5)" {
    cat >interfaces <<'END'
auto lo
iface lo inet loopback

        dns_nameservers 192.0.2.53 192.0.2.54
        dns_search example.org
auto eth0
iface eth0 inet static
        address 192.0.2.20
        netmask 255.255.255.0
        gateway 192.0.2.1
# the second one
allow-hotplug eth1
iface eth1 inet dhcp
iface eth1 inet6 static
        address fd00::2/64
END
    make_configdrive interfaces
    run -0 virt-seed import seed.iso
    domain_xml "$(sed '1d;$d' <<<"$output")" | sed 's|<ci:cloud-init |&datasource="configdrive" |' >domain.xml
    virt-seed dump domain.xml openstack/latest/network_data.json >network
    jq -e '[.networks[] | [.link, .type, .ip_address, .netmask]] == [
        ["nic0", "ipv4", "192.0.2.20", "255.255.255.0"], ["nic1", "ipv4_dhcp", null, null],
        ["nic1", "ipv6", "fd00::2", "ffff:ffff:ffff:ffff::"]] and
        .networks[0].routes[0].gateway == "192.0.2.1"' network
    jq -e '[.links[].name] == ["eth0", "eth1"] and .networks[0].dns_search == ["example.org"] and
        .networks[0].dns_nameservers == ["192.0.2.53", "192.0.2.54"]' network
}

@test "import says which line of interfaces(5) no element can express" {
    local line words

    while IFS='|' read -r line words; do
        printf 'iface eth0 inet static\n  address 192.0.2.2/24\n%b\n' "$line" >interfaces
        make_configdrive interfaces
        run virt-seed import seed.iso
        assert_refused 1 'openstack/content/0000' 'line 3' "$words"
    done <<'END'
mtu 9000|the option 'mtu'
iface eth1 inet ppp|the method 'ppp'
iface eth0 inet dhcp|a second address of 'eth0'
iface eth1|without a name, a family and a method
address 192.0.2.3/24|the option 'address'
END
    printf 'auto eth0\ngateway 192.0.2.1\n' >interfaces
    make_configdrive interfaces
    run virt-seed import seed.iso
    assert_refused 1 'line 2' "the option 'gateway'"
}

@test "import and wire --replace read the seed of a domain's disk" {
    make_image 'my seed.iso'
    seeded_domain "$PWD/my seed.iso" >domain.xml
    [[ $(virt-seed import domain.xml) = "$(virt-seed import 'my seed.iso')" ]]
    run virt-seed wire domain.xml
    assert_refused 1 'does not ask for cloud-init'
    run -0 virt-seed wire --verbose --replace -i domain.xml
    assert_said "<cloud-init> made from the seed '$PWD/my seed.iso'" "foreign seed 'sdb'"
    run ! grep -q 'my seed' domain.xml
    virt-seed dump domain.xml user-data | cmp - files/user-data
    # The domain's own request counts.
    seeded_domain "$PWD/my seed.iso" | virt-seed --quiet set --replace --hostname two -o domain.xml -
    run -0 virt-seed dump --full domain.xml
    [[ $output == *two* && $output != *'locale: C.UTF-8'* ]]
    run virt-seed import domain.xml
    assert_refused 1 'has no disk with a seed'
}

@test "makes no element of a seed of virt-seed's, however a domain names it" {
    local path command

    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    install -d -m 0711 "$root$rundir"
    domain_xml '<ci:user-data secret="web1"/>' >web1.xml
    virt-seed --quiet --root="$root" build -o "$root$rundir/$uuid.iso" web1.xml
    ln -s "$root$rundir" link
    for path in "$root$rundir" "$root/$rundir/." "$PWD/link"; do
        seeded_domain "$path/$uuid.iso" | sed "s|$uuid</uuid>|$other_uuid</uuid>|" >other.xml
        for command in import 'wire --replace'; do
            # shellcheck disable=SC2086  # a command and its option
            run virt-seed --root="$root" $command other.xml
            assert_refused 1 "in a directory of virt-seed's"
            [[ $output != *hunter2* ]]
        done
    done
}

@test "a seed in virt-seed's directories is refused wherever they are mounted" {
    # shellcheck disable=SC2016  # the inner shell's
    local -r in_a_mount='mount --bind "$1" mnt && exec virt-seed --root="$1" import other.xml'

    unshare --map-root-user --mount true || skip "no user namespaces"
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    install -d -m 0711 "$root$rundir"
    domain_xml '<ci:user-data secret="web1"/>' >web1.xml
    virt-seed --quiet --root="$root" build -o "$root$rundir/$uuid.iso" web1.xml
    mkdir mnt
    seeded_domain "$PWD/mnt$rundir/$uuid.iso" | sed "s|$uuid</uuid>|$other_uuid</uuid>|" >other.xml
    run unshare --map-root-user --mount bash -c "$in_a_mount" - "$root"
    assert_refused 1 "in a directory of virt-seed's"
    [[ $output != *hunter2* ]]
}

@test "wire --replace keeps the payload and the shim of a domain without an element" {
    local payload="<vm:vm xmlns:vm='http://ovirt.org/vm/1.0'><vm:device devtype='disk' name='hdc'><vm:payload>\
<vm:volId>cidata</vm:volId><vm:file path='meta-data'>aW5zdGFuY2UtaWQ6IGktMgo=</vm:file></vm:payload></vm:device></vm:vm>"

    make_image seed.iso
    seeded_domain "$PWD/seed.iso" | sed "s|<os>|<metadata>$payload</metadata><os>|" >payload.xml
    virt-seed --quiet wire --replace -i payload.xml
    run -0 virt-seed dump --full payload.xml
    [[ $output == *i-2* && $output != *'locale: C.UTF-8'* ]]
    seeded_domain "$PWD/seed.iso" |
        sed 's|<devices>|&<emulator>/usr/bin/virt-seed-qemu-system-x86_64</emulator>|' >shim.xml
    virt-seed --quiet wire --replace -i shim.xml
    run -0 virt-seed dump --full shim.xml
    [[ $output != *'locale: C.UTF-8'* ]]
}

@test "import says that a seed has no instance-id" {
    : >files/meta-data
    make_image seed.iso
    run -0 --separate-stderr virt-seed import seed.iso
    [[ $stderr == *'note: the seed has no instance-id'* && $output != *instance-id* ]]
    printf '# nothing\n' >files/meta-data
    make_image seed.iso
    run -0 virt-seed --quiet import seed.iso
    [[ $output != *note* ]]
}

@test "import refuses a seed that no element can express" {
    printf 'nested: {a: b}\n' >>files/meta-data
    make_image seed.iso
    run virt-seed import seed.iso
    assert_refused 1 "file 'meta-data': key 'nested'"
    sed -i '$d' files/meta-data
    touch files/other
    make_image seed.iso
    run virt-seed import seed.iso
    assert_refused 1 "file 'other': no element can give the guest this file"
    rm files/other
    make_image seed.iso data
    run virt-seed import seed.iso
    assert_refused 1 "the label is 'data'"
    rm files/user-data
    ln -s meta-data files/user-data
    make_image seed.iso
    run virt-seed import seed.iso
    assert_refused 1 "file 'user-data': is not a regular file"
    head -c 100000 /dev/zero >zero.iso
    run virt-seed import zero.iso
    assert_refused 1
    run virt-seed import --name web1 seed seed.iso
    assert_refused 2 --name
}

@test "refuses two domains in a stream" {
    domain_xml >one.xml
    cat one.xml one.xml >two.xml
    cp two.xml before.xml
    run virt-seed wire -i two.xml
    assert_refused 1 'two.xml is not well-formed XML' '--print-xml 2'
    cmp two.xml before.xml
    run virt-seed import seed two.xml
    assert_refused 1 "the domain's XML is not well-formed XML"
}

# --- virt-install -------------------------------------------------------------------------------

# prints_xml OPTION...: what the real virt-install prints for a domain of libvirt's test driver, as
# if it were one of QEMU's. It keeps its seeds in kept/.
prints_xml() {
    needs virt-install
    mkdir -p kept bin
    cat >bin/xorrisofs <<END
#!/bin/bash
# This keeps a copy of the image that it makes.
$(type -P xorrisofs) "\$@" || exit
while [[ \$# -gt 1 && \$1 != -o ]]; do
    shift
done
cp "\$2" '$PWD/kept'
END
    chmod +x bin/xorrisofs
    PATH=$PWD/bin:$PATH HOME=$PWD virt-install --connect test:///default --name web1 --memory 32 \
        --disk none --import --osinfo detect=off,require=off --network none --graphics none \
        --print-xml "$@" | sed "s/<domain type=.test./<domain type='kvm'/"
}

@test "what virt-install --cloud-init prints is wired with the documents given again" {
    prints_xml 2 --cloud-init user-data=files/user-data >printed.xml
    virt-seed --quiet set --user-data files/user-data printed.xml >web1.xml
    virt-seed dump web1.xml user-data | cmp - files/user-data
    run ! grep -q cloudinit.iso web1.xml
}

@test "virt-install's first boot is wired with its own seed if that still exists" {
    local seed

    prints_xml 1 --cloud-init user-data=files/user-data,meta-data=files/meta-data,network-config=files/network-config >printed.xml
    seed=$(compgen -G 'kept/*.iso')
    sed -i "s|[^\"']*/$(basename "$seed")|$PWD/$seed|" printed.xml
    virt-seed --quiet wire --replace printed.xml >web1.xml
    virt-seed dump web1.xml user-data | cmp - files/user-data
    virt-seed dump web1.xml network-config | cmp - files/network-config
    [[ $(virt-seed dump web1.xml meta-data | jq -r '."instance-id"') = i-1 ]]
    rm "$seed"
    run virt-seed wire --replace printed.xml
    assert_refused 1 "could not read another tool's seed, '$PWD/$seed'" 'virt-seed set --user-data'
}

# --- virt-seed's own ----------------------------------------------------------------------------

@test "a seed of virt-seed's own becomes the same documents again" {
    local datasource

    for datasource in nocloud configdrive; do
        domain_xml "<ci:user-data>#!/bin/sh</ci:user-data><ci:vendor-data>#cloud-config
locale: C.UTF-8</ci:vendor-data><ci:network-config from='interfaces'/><ci:initialization><ci:files><ci:file>
<ci:name>/etc/motd</ci:name><ci:content>hi</ci:content></ci:file></ci:files></ci:initialization>" |
            sed -e "s|<ci:cloud-init |&datasource='$datasource' cache='keep' machine-id='per-instance' |" \
                -e "s|</devices>|<interface type='user'><mac address='52:54:00:00:00:0a'/></interface>&|" >first.xml
        virt-seed --quiet build --force -o first.iso first.xml
        virt-seed inspect first.iso >inspected
        run ! grep 'not read by' inspected
        virt-seed --quiet import seed first.iso >element
        sed -e '/<ci:cloud-init/,/<\/ci:cloud-init>/{
            /<\/ci:cloud-init>/r element
            d
        }' first.xml >again.xml
        virt-seed --quiet build --force -o again.iso again.xml
        rm -rf first again
        virt-seed inspect --extract=first first.iso >/dev/null
        virt-seed inspect --extract=again again.iso >/dev/null
        diff -r first again
    done
}

@test "inspect says that a file that the meta-data names is missing" {
    mkdir -p drive/openstack/latest
    echo '{"uuid": "i-1", "network_config": {"content_path": "/content/0000"}}' \
        >drive/openstack/latest/meta_data.json
    rm -r files
    mv drive files
    make_image seed.iso config-2
    run -1 virt-seed inspect seed.iso
    assert_said 'openstack/content/0000: 0 bytes: is missing'
}
