# shellcheck shell=bash disable=SC2154  # the variables of common.bash
# domains.bash: tiny domains in the lab; a library to source, with lab.bash. tests/domain.bash says
# what may differ between them.
#
#   domain_define NAME [UUID]  define domain_xml's domain in the lab; the schema is checked
#   domain_disk_image NAME     make a small empty disk image in the lab, print its path
#   domain_disk_xml IMAGE      print a virtio disk's XML, for devices=

# shellcheck source-path=SCRIPTDIR source=../domain.bash
source "${BASH_SOURCE[0]%/*}/../domain.bash"

domain_define() {
    domain_xml "$@" | lab_virsh define --validate /dev/stdin
}

domain_disk_image() {
    local image=$LAB_DIR/root/var/lib/libvirt/images/$1.raw

    [[ ${scope-} != session ]] || image=$images/$1.raw
    truncate --size=1M "$image" && chown "${owner-root}" "$image" && echo "$image"
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
