#!/usr/bin/env bats
# raw.bats: user-data for guests that read the seed and do not run cloud-init.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    printf 'version: v1alpha1\nmachine: {type: worker}\n' >talos
    printf '{"ignition": {"version": "3.4.0"}}' >ignition
    printf '\n config system global\r\n set hostname fgt1\r\nend \n ' >appliance
    printf '\377\376\0\1' >binary
    printf '#cloud-config\nusers: [' >broken
    mkdir -p "$root$confdir/files"
    printf 'vendor-data = all.yaml\ndefault-user = alice\n' >"$root$confdir/virt-seed.conf"
    printf '#cloud-config\nlocale: C.UTF-8\n' >"$root$confdir/files/all.yaml"
}

@test "the guest gets exactly the bytes, and neither vendor-data nor a reporter" {
    local file datasource

    for file in talos ignition appliance binary broken; do
        for datasource in nocloud configdrive; do
            domain_xml | virt-seed --quiet --root="$root" set --datasource="$datasource" \
                --user-data-raw="$file" - >domain.xml
            run ! grep -q virt-seed-report domain.xml
            rm -rf seed
            virt-seed --quiet --root="$root" build --force -o seed.iso domain.xml
            virt-seed inspect --extract=seed seed.iso >/dev/null || true
            cmp "$file" seed/user-data || cmp "$file" seed/openstack/latest/user_data
            [[ -z $(find seed -name 'vendor*') ]]
        done
    done
}

@test "check says what it means, and leaves the document alone" {
    domain_xml | virt-seed --quiet set --user-data-raw=broken - >domain.xml
    run -0 virt-seed --root="$root" check --no-schema domain.xml
    assert_said 'is for another program than cloud-init' 'sends no report' '[unseen]'
    # Another setting makes it cloud-init's again.
    run virt-seed set --user-data=broken domain.xml
    assert_refused 1 'not YAML'
}

@test "refuses what cloud-init alone would read next to it" {
    local body

    for body in '<ci:user-data>#!/bin/sh</ci:user-data>' '<ci:user-data format="raw">x</ci:user-data>' \
        '<ci:vendor-data>#!/bin/sh</ci:vendor-data>' \
        '<ci:initialization><ci:timezone>UTC</ci:timezone></ci:initialization>'; do
        domain_xml "<ci:user-data format='raw'>x</ci:user-data>$body" >domain.xml
        run virt-seed --root="$root" dump domain.xml
        assert_refused 1 'has <user-data format="raw"> and'
    done
    domain_xml "<ci:user-data format='Raw'>x</ci:user-data>" >domain.xml
    run virt-seed dump domain.xml
    assert_refused 1 'format="Raw"'
}

# kubevirt FILE: a machine with that user-data.
kubevirt() {
    jq -n --rawfile data "$1" '{apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", metadata: {name: "a"},
        spec: {template: {spec: {domain: {}, volumes: [{name: "c", cloudInitConfigDrive:
            {userDataBase64: ($data | @base64)}}]}}}}'
}

@test "import writes it for user-data that cloud-init would ignore" {
    local file

    for file in talos ignition appliance; do
        kubevirt "$file" >vm.json
        run -0 --separate-stderr virt-seed import kubevirt vm.json
        [[ $stderr == *'format="raw"'* ]]
        domain_xml "$(sed '1d;$d' <<<"$output")" >domain.xml
        virt-seed dump domain.xml user-data | cmp - "$file"
    done
    printf '#cloud-config\n{}\n' >plain
    kubevirt plain >vm.json
    run -0 virt-seed import kubevirt vm.json
    [[ $output != *raw* ]]
}

@test "import refuses an Ignition configuration that oVirt's engine would complete" {
    printf '<vm><initialization><host_name>a</host_name><custom_script>%s</custom_script></initialization></vm>' \
        "$(<ignition)" >vm.xml
    run virt-seed import ovirt vm.xml
    assert_refused 1 'custom_script is a configuration for Ignition' '--user-data-raw'
}
