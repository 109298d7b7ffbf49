# shellcheck shell=bash
# domain.bash: the XML of tiny domains for tests; a library to source.
#
# The guests have nothing to boot: QEMU at its firmware's prompt is enough for whatever happens
# around a start. What differs between domains is given as variables before the function's name:
#
#   metadata='<ci:cloud-init …/>' devices="$disk" domain_xml web1
#
#   domain_xml NAME [UUID]     print a domain's XML
#
# Variables, empty by default unless a default is named; a test must not use these names for anything else:
#
#   metadata   XML within <metadata>
#   os         XML within <os>, such as <smbios mode='sysinfo'/>
#   extra      XML at the top level, such as <sysinfo> or <cpu>
#   devices    XML within <devices>
#   machine    q35; pc has an IDE controller where q35 has SATA
#   memory     32, in MiB
#   emulator   a path; libvirt chooses
#   interface  none; user is QEMU's own network, which needs nothing of the host; else a network
#   card       XML within <interface>, such as <mac>
#   console    pty; else the path of a file for what the guest prints

domain_xml() {
    local name=$1 uuid=${2-} interface_xml='' serial="<serial type='pty'/>"

    case ${interface-} in
    '') ;;
    user) interface_xml="<interface type='user'>${card-}</interface>" ;;
    *) interface_xml="<interface type='network'><source network='$interface'/>${card-}</interface>" ;;
    esac
    if [[ ${console:-pty} != pty ]]; then
        serial="<serial type='file'><source path='$console'/></serial>"
    fi
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
    $serial
    $interface_xml
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
END
}
