#!/usr/bin/env bats
# import.bats: a guest that is imported stays the instance that it was, for each datasource and importer.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

id=5d307ca9-b3ef-428c-8861-06e72d69f223

# stays ID KIND FILE: what is imported from the file has the instance-id, and is imported again from the
# seed that was made of it.
stays() {
    local element=$BATS_TEST_TMPDIR/element

    virt-seed --quiet --root="$root" import "$2" "$3" >"$element"
    for _ in first again; do
        domain_xml | sed -e "/<ci:cloud-init/{
            r $element
            d
        }" -e "s|</devices>|<interface type='user'><mac address='$mac0'/></interface>&|" >"$element.xml"
        consume --root="$root" <"$element.xml"
        understood_text '.["instance-id"]' "$1"
        virt-seed --quiet --root="$root" import seed "$BATS_TEST_TMPDIR/seed.iso" >"$element"
    done
}

# seed LABEL: an image of the files of another tool.
seed() {
    xorriso -as mkisofs -quiet -J -r -V "$1" -o "$BATS_TEST_TMPDIR/other.iso" "$BATS_TEST_TMPDIR/files" 2>/dev/null
}

@test "a guest of a NoCloud seed" {
    mkdir "$BATS_TEST_TMPDIR/files"
    printf '#cloud-config\n{}\n' >"$BATS_TEST_TMPDIR/files/user-data"
    for name in "$id" i-7; do
        echo "instance-id: $name" >"$BATS_TEST_TMPDIR/files/meta-data"
        seed cidata
        stays "$name" seed "$BATS_TEST_TMPDIR/other.iso"
    done
}

@test "a guest of a ConfigDrive, also one whose uuid is none" {
    mkdir -p "$BATS_TEST_TMPDIR/files/openstack/latest"
    for name in "$id" "${id^^}" a3f1c0de00000000000000000000000000000abc i-7; do
        echo "{\"uuid\": \"$name\", \"instance_id\": \"a.b\", \"hostname\": \"a\"}" \
            >"$BATS_TEST_TMPDIR/files/openstack/latest/meta_data.json"
        seed config-2
        stays "$name" seed "$BATS_TEST_TMPDIR/other.iso"
    done
}

@test "a guest of KubeVirt" {
    local kind

    for kind in cloudInitNoCloud cloudInitConfigDrive; do
        jq -n --arg kind "$kind" --arg uuid "$id" '{apiVersion: "kubevirt.io/v1", kind: "VirtualMachine",
            metadata: {name: "a"}, spec: {template: {spec: {domain: {firmware: {uuid: $uuid}},
            volumes: [{name: "c", ($kind): {userData: "#cloud-config\n{}\n"}}]}}}}' >"$BATS_TEST_TMPDIR/vm.json"
        stays "$id" kubevirt "$BATS_TEST_TMPDIR/vm.json"
    done
}

@test "a guest of oVirt's engine" {
    local label path content

    for label in cidata config-2; do
        path=meta-data content="instance-id: $id"
        if [[ $label = config-2 ]]; then
            path=openstack/latest/meta_data.json content="{\"uuid\": \"$id\"}"
        fi
        cat >"$BATS_TEST_TMPDIR/vm.xml" <<END
<domain type='kvm'><name>a</name><metadata><vm:vm xmlns:vm='http://ovirt.org/vm/1.0'><vm:device devtype='disk'
name='sdb'><vm:payload><vm:volId>$label</vm:volId><vm:file path='$path'>$(base64 -w 0 <<<"$content")</vm:file>
</vm:payload></vm:device></vm:vm></metadata></domain>
END
        stays "$id" ovirt "$BATS_TEST_TMPDIR/vm.xml"
    done
}

@test "a guest of virt-seed's own ConfigDrive" {
    domain_xml | sed 's|<ci:cloud-init |&datasource="configdrive" |' | make_seed "$BATS_TEST_TMPDIR/own"
    stays "$(xorriso -osirrox on -indev "$BATS_TEST_TMPDIR/own/seed.iso" -extract openstack \
        "$BATS_TEST_TMPDIR/own/openstack" 2>/dev/null
        jq -r .uuid "$BATS_TEST_TMPDIR/own/openstack/latest/meta_data.json")" seed "$BATS_TEST_TMPDIR/own/seed.iso"
}
