# shellcheck shell=bash
# domains.bash: tiny domains for tests; a library to source, beside lab.bash.
#
# The guests have nothing to boot: QEMU at its firmware's prompt is enough for whatever happens
# around a start. What differs between domains is given as variables before the function's name:
#
#   metadata='<ci:cloud-init …/>' devices="$disk" domain_xml web1
#
#   domain_xml NAME [UUID]     print a domain's XML
#   domain_define NAME [UUID]  the same, defined in the lab; the schema is checked
#   domain_disk_image NAME     make a small empty disk image in the lab, print its path
#   domain_disk_xml IMAGE      print a virtio disk's XML, for devices=
#
# Variables, all empty or as said by default; a test has none of these names for anything else:
#
#   metadata   XML within <metadata>
#   os         XML within <os>, such as <smbios mode='sysinfo'/>
#   extra      XML at the top level, such as <sysinfo> or <cpu>
#   devices    XML within <devices>
#   machine    q35; pc has an IDE controller where q35 has SATA
#   memory     32, in MiB
#   emulator   a path; libvirt chooses
#   interface  none; user is QEMU's own network, which needs nothing of the host
#   console    pty; else the path of a file for what the guest prints

domain_xml() {
    local name=$1 uuid=${2-}
    local interface_xml=${interface:+"<interface type='$interface'/>"}

    cat <<END
<domain type='qemu'>
  <name>$name</name>
  ${uuid:+<uuid>$uuid</uuid>}
  <metadata>${metadata-}</metadata>
  <memory unit='MiB'>${memory:-32}</memory>
  <os>
    <type arch='x86_64' machine='${machine:-q35}'>hvm</type>
    ${os-}
  </os>
  <features><acpi/></features>
  ${extra-}
  <devices>
    ${emulator:+<emulator>$emulator</emulator>}
    ${devices-}
    $(_domain_console_xml "${console:-pty}")
    $interface_xml
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
END
}

domain_define() {
    domain_xml "$@" | lab_virsh define --validate /dev/stdin
}

domain_disk_image() {
    local image=$LAB_DIR/root/var/lib/libvirt/images/$1.raw

    truncate --size=1M "$image" && echo "$image"
}

domain_disk_xml() {
    cat <<END
<disk type='file' device='disk'>
  <driver name='qemu' type='raw'/>
  <source file='$1'/>
  <target dev='vda' bus='virtio'/>
</disk>
END
}

_domain_console_xml() {
    if [[ $1 = pty ]]; then
        echo "<serial type='pty'/>"
    else
        echo "<serial type='file'><source path='$1'/></serial>"
    fi
}
