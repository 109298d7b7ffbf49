#!/usr/bin/env bats
# in-place.bats: what wire, unset and set do not change in a file that they write back.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
}

# dumpxml [ELEMENT]: what virsh prints of a domain that has everything that is escaped, or kept as it is.
# libvirt's driver for tests knows one type of domains only.
dumpxml() {
    cat >defined.xml <<END
<domain type='test'>
  <name>web1</name>
  <uuid>$uuid</uuid>
  <title>it's "café" &lt;&amp;&gt;</title>
  <description>two
    lines	and a tab </description>
  <metadata>
    ${1-}
    <o:note xmlns:o='urn:o' by="it's &quot;me&quot;&#10;">'a' &gt; "b"<o:empty/></o:note><!-- 'x' -->
  </metadata>
  <memory unit='MiB'>512</memory>
  <os>
    <type arch='i686'>hvm</type>
    <smbios mode='sysinfo'/>
  </os>
  <sysinfo type='smbios'><bios><entry name='vendor'>it's &lt;"me"&gt;</entry></bios></sysinfo>
  <devices>
    <disk type='file' device='disk'>
      <source file="/it's &amp; mine.img"/>
      <target dev='vda' bus='virtio'/>
    </disk>
  </devices>
</domain>
END
    virsh -q -c test:///default "define defined.xml; dumpxml $uuid" | sed "1s/.*<domain type='test'/<domain type='kvm'/"
}

# only_adds BEFORE AFTER: AFTER is BEFORE with more lines.
only_adds() {
    diff "$1" "$2" >changes && return 1
    run ! grep '^<' changes
}

@test "wire -i adds lines to what virsh dumpxml printed, and unset gives it back" {
    local attributes

    for attributes in '' 'serial="no"' 'bus="sata"' 'datasource="configdrive"'; do
        dumpxml "<ci:cloud-init xmlns:ci='$namespace' $attributes/>" >before.xml
        cp before.xml web1.xml
        virt-seed --quiet wire -i web1.xml
        only_adds before.xml web1.xml
        grep -q 'virt-seed/.*\.iso' changes
        virt-seed --quiet unset --wiring-only -i web1.xml
        cmp web1.xml before.xml
    done
}

@test "set -i adds lines to what virsh dumpxml printed, and unset gives it back" {
    dumpxml >before.xml
    cp before.xml web1.xml
    virt-seed --quiet set --hostname one -i web1.xml
    only_adds before.xml web1.xml
    cp web1.xml one.xml
    virt-seed --quiet set --hostname two -i web1.xml
    [[ $(diff one.xml web1.xml | grep '^[<>]') = '<'*'>one</'*$'\n>'*'>two</'* ]]
    virt-seed --quiet unset -i web1.xml
    cmp web1.xml before.xml
}

@test "standard output and -o get the same bytes" {
    domain_xml >web1.xml
    cp web1.xml before.xml
    virt-seed --quiet wire web1.xml >out.xml
    virt-seed --quiet wire - <web1.xml | cmp - out.xml
    virt-seed --quiet wire -o other.xml web1.xml
    cmp other.xml out.xml
    cmp web1.xml before.xml
}

@test "a file in another encoding becomes UTF-8" {
    local encoding

    for encoding in ISO-8859-1 UTF-16; do
        { echo "<?xml version='1.0' encoding='$encoding'?>" && domain_xml; } |
            sed 's|</name>|&<title>café</title>|' | iconv -t "$encoding" >web1.xml
        virt-seed --quiet wire -i web1.xml
        [[ $(head -n 1 web1.xml) = '<?xml version="1.0" encoding="UTF-8"?>' ]]
        grep -q '<title>café</title>' web1.xml
    done
}
