# shellcheck shell=bash
# guest.bash: domains that boot the guest of build-guest; a library to source.
#
#   guest_provide GUEST DIR         copy the guest's kernel and disk to DIR, readable for QEMU
#   guest_overlay DIR NAME          make a disk of its own for a domain, over the guest's
#   guest_xml DIR NAME UUID CONSOLE print the domain's XML; its <metadata> is read from stdin
#   guest_has_reported CONSOLE [COUNT]
#                                   whether the guest has printed what cloud-init did there, COUNT
#                                   times (1)
#   guest_report CONSOLE            print that, one key=value a line
#   guest_reset NAME                reset a guest of the tests' lab, as its button would
#
# Variables for guest_xml: machine (q35), root_bus (virtio), interfaces (XML; one), append (to the
# kernel's command line).

guest_provide() {
    local guest=$1 dir=$2

    mkdir -p "$dir" &&
        cp --reflink=auto "$guest"/{vmlinuz,initrd.img,root.qcow2,cmdline} "$dir" &&
        chmod 0644 "$dir"/{vmlinuz,initrd.img,root.qcow2,cmdline}
}

guest_overlay() {
    qemu-img create -q -f qcow2 -F qcow2 -b "$1/root.qcow2" "$1/$2.qcow2"
}

# Software emulation and hardware virtualisation alike: type='kvm' only where libvirt says so.
guest_xml() {
    local dir=$1 name=$2 uuid=$3 console=$4
    local target=vda bus=${root_bus:-virtio} clock='' processors=2

    # Under emulation the guest's TSC is the host's, and a guest whose clock leaps with it is lost.
    # QEMU's memory map may change under a second processor, which ends QEMU: "iotlb_to_section:
    # Assertion `section_index < d->map.sections_nb' failed" (QEMU's issue 1921, seen with QEMU 10.0).
    if [[ ${virt_type:-qemu} = qemu ]]; then
        clock=clocksource=hpet
        processors=1
    fi
    if [[ $bus = ide ]]; then
        target=hda
    fi
    cat <<END
<domain type='${virt_type:-qemu}'>
  <name>$name</name>
  <uuid>$uuid</uuid>
  <metadata>
$(cat)
  </metadata>
  <memory unit='MiB'>768</memory>
  <vcpu>$processors</vcpu>
  <os>
    <type arch='x86_64' machine='${machine:-q35}'>hvm</type>
    <kernel>$dir/vmlinuz</kernel>
    <initrd>$dir/initrd.img</initrd>
    <cmdline>$(<"$dir/cmdline") $clock ${append-}</cmdline>
  </os>
  <features><acpi/></features>
  <cpu mode='maximum'/>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2' cache='unsafe'/>
      <source file='$dir/$name.qcow2'/>
      <target dev='$target' bus='$bus'/>
    </disk>
    ${interfaces:-<interface type='user'><model type='virtio'/></interface>}
    <serial type='file'><source path='$console'/></serial>
    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
END
}

guest_has_reported() {
    [[ $(grep -ac -e '-----END VIRT-SEED PROBE-----' "$1" 2>/dev/null) -ge ${2:-1} ]]
}

guest_report() {
    tr -d '\r' <"$1" |
        sed -n '/-----BEGIN VIRT-SEED PROBE-----/,/-----END VIRT-SEED PROBE-----/p' |
        sed '1d;$d'
}

# Under software emulation each write to memory that held code of the boot before is slow, and the next
# boot takes twice the time, or many times that. A QEMU that reads its memory back forgets that code.
guest_reset() {
    local command

    for command in 'savevm reset' 'loadvm reset' 'delvm reset'; do
        lab_virsh qemu-monitor-command "$1" --hmp "$command" || return
    done
    lab_virsh reset "$1"
}
