#!/usr/bin/env bats
# image.bats: other programs read our image, and virt-seed reads images of other programs.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

documents=(meta-data user-data vendor-data network-config)

# needs PROGRAM: one of the independent readers and writers.
needs() {
    PATH=$PATH:/usr/sbin:/sbin
    type -P "$1" >/dev/null || skip "$1 is not installed"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    wired_xml "<ci:user-data>#cloud-config
package_update: true
</ci:user-data><ci:vendor-data encoding='base64'>H4sIAAAAAAAAAwEAAP//AAAAAAAAAAA=</ci:vendor-data>
<ci:network-config>version: 2</ci:network-config>" >web1.xml
    virt-seed --quiet build --force -o seed.iso web1.xml
    mkdir dumped
    for document in "${documents[@]}"; do
        virt-seed dump web1.xml "$document" >"dumped/$document"
    done
}

# --- our image, read by others ----------------------------------------------------------------

@test "blkid finds the label that cloud-init looks for" {
    needs blkid
    [[ $(blkid -p -s LABEL -o value seed.iso) = cidata ]]
    [[ $(blkid -p -s TYPE -o value seed.iso) = iso9660 ]]
}

@test "xorriso reads the same documents from Rock Ridge" {
    needs xorriso
    diff <(printf "'/%s'\n" "${documents[@]}" | sort) \
        <(xorriso -indev seed.iso -find / -type f 2>/dev/null | sort)
    xorriso -osirrox on -indev seed.iso -extract / extracted 2>/dev/null
    chmod -R u+rwX extracted
    diff -r dumped extracted
}

@test "isoinfo reads the same documents from Rock Ridge and Joliet" {
    needs isoinfo
    for names in -R -J; do
        diff <(printf '/%s\n' "${documents[@]}" | sort) <(isoinfo -f "$names" -i seed.iso | sort)
        for document in "${documents[@]}"; do
            isoinfo "$names" -x "/$document" -i seed.iso | cmp - "dumped/$document"
        done
    done
}

@test "the documents belong to root, are readable by root only, and have a fixed time" {
    needs xorriso
    [[ $(xorriso -indev seed.iso -lsl / 2>/dev/null |
        grep -c '^-r-------- .* 0 .* 0 .* Jan  *1  *2020 ') -eq 4 ]]
}

# --- images of others, read by us -------------------------------------------------------------

# make_image OPTION…: as genisoimage does, which has the same options and is not in every distribution.
make_image() {
    needs xorriso
    xorriso -as mkisofs -quiet "$@" 2>/dev/null
}

# inspects IMAGE: virt-seed reads from it what is in dumped/.
inspects() {
    virt-seed inspect --json "$1" |
        jq -e '.valid and .datasource == "nocloud" and (.label | ascii_downcase) == "cidata"'
    virt-seed inspect --extract="extracted-$1" "$1"
    diff -r dumped "extracted-$1"
}

@test "inspect reads what build wrote" {
    inspects seed.iso
    run -0 virt-seed inspect seed.iso
    [[ ${lines[0]} = 'label: cidata' ]]
}

@test "inspect reads what virt-install, cloud-localds and VDSM write" {
    make_image -J -r -V cidata -o virt-install.iso dumped
    inspects virt-install.iso
    make_image -volid cidata -joliet -rock -o cloud-localds.iso dumped
    inspects cloud-localds.iso
    make_image -R -J -V CIDATA -o vdsm.iso dumped
    inspects vdsm.iso
}

# vfat IMAGE: makes a vfat image of what is in dumped/, as cloud-localds --filesystem=vfat does.
vfat() {
    needs mcopy
    mformat -C -f 1440 -v CIDATA -i "$1" ::
    mcopy -i "$1" dumped/* ::
}

@test "inspect reads a vfat image, as an ordinary user as well" {
    vfat seed.img
    inspects seed.img
    chmod 0444 seed.img
    become_nobody
    run -0 "${as_nobody[@]}" "$top_builddir/virt-seed" inspect seed.img
    assert_said 'label: CIDATA' 'user-data: '
}

@test "inspect reads what is hidden in a vfat image or in its directories, and takes no name for a pattern" {
    echo one >dumped/one.txt
    vfat seed.img
    mmd -i seed.img ::openstack ::openstack/latest
    echo deep | mcopy -i seed.img - ::openstack/latest/file
    echo odd | mcopy -i seed.img - '::[o]ne.txt'
    mattrib +h +s -i seed.img ::user-data
    run -0 virt-seed inspect --extract=extracted seed.img
    assert_said 'openstack/latest/file: 5 bytes: ' '[o]ne.txt: 0 bytes: not read'
    cmp dumped/user-data extracted/user-data
    [[ $(<extracted/openstack/latest/file) = deep ]]
    [[ ! -e 'extracted/[o]ne.txt' ]]
}

# bats test_tags=native
@test "root reads a vfat image without root's rights, and from a copy that nobody can change" {
    local program

    [[ $EUID -eq 0 ]] || skip 'needs root'
    vfat seed.img
    mkdir fake
    for program in mdir mtype; do
        # The second argument is the image.
        # shellcheck disable=SC2016  # they are for the script
        printf '#!/bin/sh\n[ "$(id -u)" -ne 0 ] && ! (: >>"$2") 2>/dev/null && exec %s "$@"\n' \
            "$(type -P $program)" >"fake/$program"
    done
    chmod -R a+rX . && chmod 0755 fake/*
    become_nobody
    PATH="$PWD/fake:$PATH" run -0 virt-seed inspect seed.img
    assert_said 'label: CIDATA' 'user-data: '
}

# bats test_tags=native
@test "inspect refuses a damaged vfat image, and needs mtools for one" {
    vfat seed.img
    mmd -i seed.img ::a ::a/b
    # This makes a/b the directory a itself.
    python3 - <<'END'
image = bytearray(open('seed.img', 'rb').read())
entry = image.index(b'B          \x10')
above = image.index(b'A          \x10')
image[entry + 26:entry + 28] = image[above + 26:above + 28]
open('loop.img', 'wb').write(image)
END
    run timeout 60 virt-seed inspect loop.img
    assert_refused 1 'loop.img: mtools could not read the vfat image'
    truncate -s 100K seed.img
    run timeout 60 virt-seed inspect seed.img
    [[ $status -le 1 ]]
    vfat whole.img
    mkdir empty
    run env PATH="$PWD/empty" "$top_builddir/virt-seed" inspect whole.img
    assert_refused 1 "a vfat image with the label 'CIDATA'" 'install the package mtools'
}


@test "inspect exits 1 if an image is not a seed" {
    make_image -volid backup -joliet -rock -o other.iso dumped
    run -1 virt-seed inspect --json other.iso
    [[ $(jq -r '.datasource, .valid' <<<"$output") = $'null\nfalse' ]]
    rm dumped/meta-data
    make_image -volid cidata -joliet -rock -o half.iso dumped
    run -1 virt-seed inspect half.iso
    assert_said meta-data 'is missing'
}

@test "inspect refuses a file that is not an image" {
    head -c 100000 /dev/zero >zeroes
    head -c 40000 seed.iso >half.iso
    : >empty
    mkfifo fifo
    for image in zeroes half.iso empty fifo . none; do
        run timeout 10 virt-seed inspect "$image"
        assert_refused 1 "$image"
    done
}

@test "inspect says why a file cannot be read, in its own words" {
    : >empty.iso
    run ! virt-seed inspect empty.iso
    [[ $output = *'it is empty'* ]]
    run ! virt-seed inspect .
    [[ $output = *'it is a directory'* ]]
    head -c 100000 /dev/zero >zeros.iso
    run ! virt-seed inspect zeros.iso
    [[ $output = *'it has no volume descriptor'* ]]
    wired_xml | virt-seed --quiet build --output=whole.iso -
    head -c 40000 whole.iso >half.iso
    run ! virt-seed inspect half.iso
    [[ $output = *'it is cut off or damaged'* ]]
}

@test "inspect --extract overwrites nothing" {
    mkdir there
    echo old >there/user-data
    run -1 virt-seed inspect --extract=there seed.iso
    [[ $(<there/user-data) = old ]]
    ln -s "$PWD/dumped" link
    ln -s "$PWD/victim" dumped/link
    run virt-seed inspect --extract=link seed.iso
    [[ ! -e victim ]]
}
