#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# readme.bats: a real guest behaves as the README and the guide show.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load common
load ../readme

setup_file() {
    common_start_lab
}

@test "the commands of the README and the guide print what these show, and the guest is what they ask for" {
    guest_overlay "$images" web1
    append=virt_seed_probe=stay guest_xml "$images" web1 4dea22b3-1d52-d8f3-2516-782e98ab3fa0 \
        "$(console web1)" </dev/null | lab_virsh define --validate /dev/stdin
    readme_walk "$boot_seconds"
    wait_until 60 grep -q 'END VIRT-SEED PROBE' "$(console web1)" || :
    assert_reported web1 'hostname=web1' 'timezone=Europe/Vienna' \
        'authorized_keys=debian: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org'
}
