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
    [[ $output = *'it is none, or is cut off or damaged'* ]]
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
