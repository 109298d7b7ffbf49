#!/usr/bin/env bats
# examples.bats: the schema allows the examples, and the programs take them.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

# valid FILE: its request is one that the schema allows.
valid() {
    xmllint --xpath "//*[namespace-uri() = '$namespace' and local-name() = 'cloud-init']" "$1" |
        xmllint --noout --relaxng "$top_srcdir/xml/cloud-init.rng" -
}

@test "every example is valid by the schema" {
    for example in "$top_srcdir"/xml/examples/*.xml; do
        run -0 valid "$example"
    done
}

@test "every example makes a seed, can be wired, and then has no findings" {
    make_host_of_examples
    make_server
    for example in "$top_srcdir"/xml/examples/*.xml; do
        run -0 virt-seed --root="$root" dump "$example"
        virt-seed --quiet --root="$root" wire -o "$BATS_TEST_TMPDIR/wired.xml" "$example"
        run -0 virt-seed --root="$root" check --no-schema "$BATS_TEST_TMPDIR/wired.xml"
        # oVirt's own example has its password in the XML.
        if [[ $example == */ovirt.xml ]]; then
            [[ ${lines[0]} == *'[inline-secret]' && ${#lines[@]} -eq 2 ]]
        elif [[ $example == */raw.xml ]]; then
            [[ ${lines[0]} == *'[unseen]' && ${#lines[@]} -eq 2 ]]
        else
            assert_said 'no problems found'
        fi
    done
}

# The provider, which makes the domain's XML of it, is not available: these tests check the syntax, and what
# concerns virt-seed.
@test "Terraform's example is in canonical form" {
    local example=$top_srcdir/xml/examples/virt-seed-qemu.tf

    type -P terraform >/dev/null || skip "terraform is not installed"
    TF_CLI_CONFIG_FILE=/dev/null CHECKPOINT_DISABLE=1 HOME=$BATS_TEST_TMPDIR terraform fmt - \
        <"$example" >"$BATS_TEST_TMPDIR/canonical.tf"
    diff "$example" "$BATS_TEST_TMPDIR/canonical.tf"
}

@test "Terraform's example gets a seed without findings from the emulator shim" {
    local example=$top_srcdir/xml/examples/virt-seed-qemu.tf element emulator

    element=$(sed -n '/<<-EOT$/,/^ *EOT$/p' "$example" | sed '1d;$d')
    emulator=$(sed -n 's/^ *emulator = "\(.*\)"$/\1/p' "$example")
    [[ ${emulator##*/} = virt-seed-qemu-system-x86_64 ]]
    make_root
    cd "$BATS_TEST_TMPDIR"
    cat >domain.xml <<END
<domain type='kvm'>
  <name>web1</name>
  <uuid>$uuid</uuid>
  <metadata>
$element
  </metadata>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices>
    <emulator>$emulator</emulator>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2'/>
      <source file='/var/lib/libvirt/images/web1.qcow2'/>
      <target dev='vda' bus='virtio'/>
    </disk>
  </devices>
</domain>
END
    run -0 valid domain.xml
    run -0 virt-seed --root="$root" check --no-schema domain.xml
    assert_said 'no problems found'
    run -0 virt-seed --root="$root" dump domain.xml user-data
    assert_said 'timezone: Europe/Vienna'
}

@test "the schema accepts what the programs accept, wired and unwired" {
    for case in "$top_srcdir"/tests/golden/{wire,dump}/*/; do
        # oVirt's payload needs no element of ours.
        if ! grep -q "$namespace" "$case/in.xml"; then
            continue
        fi
        run -0 valid "$case/in.xml"
        if [[ -e $case/out.xml ]]; then
            run -0 valid "$case/out.xml"
        fi
    done
}

@test "the schema refuses what the programs refuse for its form" {
    for case in admin-password-inline instance-type-empty element-unknown element-without-namespace element-twice encoding-unknown \
        hostname-malformed instance-id-policy-unknown instance-id-content-with-text \
        instance-id-covers-unknown instance-id-covers-nothing instance-id-covers-without-content \
        key-without-secret markup-in-text \
        network-address-without-prefix network-attribute-unknown network-dhcp-not-yes \
        network-from-unknown network-mac-malformed network-mtu-too-large \
        network-nameserver-malformed network-not-named network-route-default network-text \
        ssh-host-keys-attribute-unknown secret-key-upwards secret-name-with-slash text-and-file text-and-secret file-and-secret; do
        run ! valid "$top_srcdir/tests/golden/dump-errors/$case/in.xml"
        [[ $output == *'fails to validate'* ]]
    done
    for case in element-twice element-unknown file-relative file-type-unknown \
        file-without-content host-twice password-and-secret regenerate-unknown ssh-key-missing \
        text user-name-malformed user-without-name; do
        run ! valid "$top_srcdir/tests/golden/dump-errors/initialization-$case/in.xml"
        [[ $output == *'fails to validate'* ]]
    done
    for case in unknown-attribute unknown-bus unknown-datasource; do
        run ! valid "$top_srcdir/tests/golden/wire-errors/$case/in.xml"
        [[ $output == *'fails to validate'* ]]
    done
}
