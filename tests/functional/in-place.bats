#!/usr/bin/env bats
# in-place.bats: what wire, unset and set do not change in a file that they write back.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    by_hand >web1.xml
    cp web1.xml before.xml
}

# by_hand [ATTRIBUTES]: a domain as people write them. <os> and <devices> begin and end in lines of
# their own.
by_hand() {
    cat <<END
<?xml version='1.0' encoding='utf-8' standalone='yes'?>
<!-- web1: the "front end" -->
<?editor keep?>

<domain   type = 'kvm'
          id='7' >
	<name>web1</name>	<!-- with a tab -->
  <uuid>$uuid</uuid>
  <title>caf&#xe9; &#38; &quot;bar&quot; > é</title>
	<metadata >
	    <ci:cloud-init
	        xmlns:ci='$namespace' ${1-}datasource='nocloud'
	        ><ci:user-data><![CDATA[#!/bin/sh
echo "<&>"
]]><![CDATA[echo two]]></ci:user-data></ci:cloud-init></metadata>
	<memory unit='MiB' >512</memory >
	<os >
      <type machine='q35' arch="x86_64">hvm</type> <!-- x --></os>
	<devices>
		<!-- the > disk -->
		<disk type='file' device='disk'><source file='/a&amp;b.img' /><target bus='virtio' dev='vda'/></disk>  <!-- last -->
		<input type="tablet"   bus='usb'></input>
	<!-- end --></devices>

</domain  >

<!-- the end -->
END
}

# only_adds FILE: before.xml can be made from the file by removing lines alone. What an element's line
# goes on with, as "</os>" above, moves to the line of what is added.
only_adds() {
    run ! grep '^<' < <(diff before.xml "$1" | tr -d '\r' |
        grep -v -e '<!-- x --></os>$' -e '<!-- end --></devices>$')
}

@test "wire -i adds lines and changes no others" {
    virt-seed --quiet wire -i web1.xml
    only_adds web1.xml
    grep -q 'virt-seed/.*\.iso' web1.xml
    [[ $(diff before.xml web1.xml | grep -c '^[<>]') -gt 20 ]]
}

@test "a file that is wired already keeps its bytes" {
    virt-seed --quiet wire -i web1.xml
    cp web1.xml before.xml
    virt-seed --quiet wire -i web1.xml
    cmp web1.xml before.xml
    printf '%s' "$(<web1.xml)" >no-newline.xml
    virt-seed --quiet wire -o out.xml no-newline.xml
    cmp out.xml no-newline.xml
    { printf '\xef\xbb\xbf' && sed 1d before.xml; } >mark.xml
    virt-seed --quiet wire -o out.xml mark.xml
    cmp out.xml mark.xml
}

@test "unset gives back the bytes of before wire" {
    local attributes

    for attributes in '' 'serial="no" ' "bus='scsi' "; do
        by_hand "$attributes" >web1.xml
        cp web1.xml before.xml
        virt-seed --quiet wire -i web1.xml
        run ! cmp -s web1.xml before.xml
        virt-seed --quiet unset --wiring-only -i web1.xml
        cmp web1.xml before.xml
    done
}

@test "what is added has the line ends of the file" {
    sed -i 's/$/\r/' web1.xml
    cp web1.xml before.xml
    virt-seed --quiet wire -i web1.xml
    only_adds web1.xml
    run ! grep -v $'\r$' web1.xml
    virt-seed --quiet unset --wiring-only -i web1.xml
    cmp web1.xml before.xml
}

@test "an attribute is changed in its place and with its quotes" {
    sed -i "s|<os >|&<smbios  mode='emulate' />|" web1.xml
    cp web1.xml before.xml
    virt-seed --quiet wire -i web1.xml
    grep -qF "<os ><smbios  mode='sysinfo' />" web1.xml
    virt-seed --quiet unset --wiring-only -i web1.xml
    cmp web1.xml before.xml
    virt-seed --quiet set --datasource configdrive -i web1.xml
    grep -qF "	        xmlns:ci='$namespace' datasource='configdrive'" web1.xml
    virt-seed --quiet set --ssh-host-keys generate -i web1.xml
    grep -qF " ssh-host-keys='generate'" web1.xml
    virt-seed --quiet set --ssh-host-keys= -i web1.xml
    virt-seed --quiet set --datasource nocloud -i web1.xml
    virt-seed --quiet unset --wiring-only -i web1.xml
    cmp web1.xml before.xml
}

@test "set -i writes what it sets and leaves the rest" {
    virt-seed --quiet set --hostname one -i web1.xml
    cp web1.xml before.xml
    virt-seed --quiet set --hostname two -i web1.xml
    [[ $(diff before.xml web1.xml | grep -c '^[<>]') -eq 2 ]]
    [[ $(virt-seed dump web1.xml meta-data | jq -r '."local-hostname"') = two ]]
}

@test "standard output and -o get the same bytes" {
    virt-seed --quiet wire web1.xml >out.xml
    virt-seed --quiet wire - <web1.xml | cmp - out.xml
    virt-seed --quiet wire -o other.xml web1.xml
    cmp other.xml out.xml
    cmp web1.xml before.xml
}

# canonical FILE...: the files' canonical form, without white space between elements and what is random
# in it, UUIDs and tokens.
canonical() {
    local file

    for file; do
        printf '\n%s\n' "${file##*/}"
        xmllint --c14n "$file" | sed -z 's|>[[:space:]]*<|><|g' |
            sed -E "s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g; s/[0-9a-f]{32}/TOKEN/g"
    done
}

# A text in another encoding is reformatted, as UTF-8.
@test "each domain of the tests and examples means the same as if it were formatted from scratch" {
    local file name status_of_bytes
    local -a wired=()
    local -i count=0

    mkdir bytes anew
    for file in "$top_srcdir"/tests/golden/*/*/in.xml "$top_srcdir"/xml/examples/*.xml; do
        name=${file#"$top_srcdir"/}
        name=${name//\//-}
        to_build <"$file" | sed 's/<?xml [^>]*?>//' >"bytes/$name"
        if iconv -f UTF-8 -t UTF-16 "bytes/$name" >"anew/$name" 2>/dev/null; then
            count+=1
        else
            rm "bytes/$name" "anew/$name"
        fi
    done
    [[ $count -gt 100 ]]
    # Some are refused, and stay as they are.
    run virt-seed --root="$root" --quiet wire --replace -i bytes/*
    status_of_bytes=$status
    run virt-seed --root="$root" --quiet wire --replace -i anew/*
    [[ $status -eq $status_of_bytes ]]
    for file in bytes/*; do
        grep -q virt-seed "anew/${file##*/}" && wired+=("$file")
    done
    [[ ${#wired[@]} -gt 100 ]]
    diff <(canonical "${wired[@]}") <(canonical "${wired[@]/#bytes/anew}")
}

@test "a file in another encoding becomes UTF-8" {
    sed -i -e 's/ encoding=.utf-8./ encoding="ISO-8859-1"/' -e 's/ é</</' web1.xml
    virt-seed --quiet wire -o ascii.xml web1.xml
    diff before.xml ascii.xml | grep -q '^<.*encoding'
    [[ $(xmllint --xpath 'string(/domain/title)' ascii.xml) = 'café & "bar" >' ]]
    iconv -f UTF-8 -t UTF-16 before.xml | sed 's/x/x/' >utf16.xml
    virt-seed --quiet wire -o out.xml utf16.xml
    [[ $(xmllint --xpath 'string(/domain/title)' out.xml) = 'café & "bar" > é' ]]
}
