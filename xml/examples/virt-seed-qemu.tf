# A domain made by Terraform with the provider dmacvicar/libvirt, 0.9 or later. It needs no wiring,
# because its emulator is virt-seed-qemu.

terraform {
  required_providers {
    libvirt = {
      source  = "dmacvicar/libvirt"
      version = ">= 0.9.0"
    }
  }
}

provider "libvirt" {
  uri = "qemu:///system"
}

resource "libvirt_domain" "web1" {
  name        = "web1"
  type        = "kvm"
  memory      = 1024
  memory_unit = "MiB"
  vcpu        = 1
  running     = true

  metadata = {
    xml = <<-EOT
      <ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
        <ci:hostname>web1.example.org</ci:hostname>
        <ci:user-data>
          #cloud-config
          timezone: Europe/Vienna
        </ci:user-data>
      </ci:cloud-init>
    EOT
  }

  os = {
    type         = "hvm"
    type_arch    = "x86_64"
    type_machine = "q35"
  }

  devices = {
    emulator = "/usr/bin/virt-seed-qemu-system-x86_64"

    disks = [
      {
        driver = {
          name = "qemu"
          type = "qcow2"
        }
        source = {
          file = {
            file = "/var/lib/libvirt/images/web1.qcow2"
          }
        }
        target = {
          dev = "vda"
          bus = "virtio"
        }
      }
    ]

    interfaces = [
      {
        model = {
          type = "virtio"
        }
        source = {
          network = {
            network = "default"
          }
        }
      }
    ]
  }
}
