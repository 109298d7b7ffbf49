#!/usr/bin/env bats
# import.bats: 'virt-seed import --set', with libvirt's own definitions.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

golden=$BATS_TEST_DIRNAME/../golden

# The element that libvirt has, as lines without white space around them.
element() {
    lab_virsh dumpxml --inactive "$1" | xmllint --xpath '//*[local-name() = "cloud-init"]' - |
        xmllint --c14n - | sed -z 's|>[[:space:]]*<|><|g'
}

canonical() {
    xmllint --c14n "$1" | sed -z 's|>[[:space:]]*<|><|g'
}

@test "each imported element is the same in libvirt's definition" {
    local case failed=0 count=0 system
    local -a args

    for case in "$golden"/import-{kubevirt,ovirt}/*/; do
        count=$((count + 1))
        system=${case#"$golden"/import-}
        args=()
        if [[ -e $case/args ]]; then
            read -ra args <"$case/args"
        fi
        domain_define web1 >/dev/null
        virt_seed -q import --set=web1 "${args[@]}" "${system%%/*}" "$case"/in.*
        if ! diff <(element web1) <(canonical "$case/out.xml"); then
            echo "differs: $case"
            failed=$((failed + 1))
        fi
        lab_reset
    done
    [[ $count -ge 20 && $failed -eq 0 ]]
}

@test "replaces an existing element only with --replace, and unset removes it again" {
    local manifest=$golden/import-kubevirt/metadata/in.yaml
    local before

    os="<smbios mode='emulate'/>" domain_define web1 >/dev/null
    virt_seed -q import --set=web1 kubevirt "$manifest"
    before=$(lab_virsh dumpxml --inactive web1)
    run -0 virt_seed import --dry-run --replace --set=web1 kubevirt "$golden/import-kubevirt/json/in.yaml"
    [[ $output == *'web1: would be changed'*'<cloud-init> replaced'* ]]
    [[ $(lab_virsh dumpxml --inactive web1) == "$before" ]]
    run virt_seed import --set=web1 kubevirt "$golden/import-kubevirt/json/in.yaml"
    [[ $status -eq 1 && $output == *"domain 'web1' already has a <cloud-init> element"*'--replace'* ]]
    [[ $(lab_virsh dumpxml --inactive web1) == "$before" ]]
    run -0 virt_seed import --replace --set=web1 kubevirt "$golden/import-kubevirt/json/in.yaml"
    [[ $output == *"web1: <cloud-init> replaced"* ]]
    virt_seed wire web1 | grep 'already wired'
    virt_seed unset web1
    run -0 lab_virsh dumpxml --inactive web1
    [[ $output == *"<smbios mode='emulate'/>"* && $output != *virt-seed* ]]
}

@test "the domain starts with the imported seed" {
    domain_define web1 >/dev/null
    virt_seed -q import --set=web1 kubevirt "$golden/import-kubevirt/metadata/in.yaml"
    lab_virsh start web1
    virt_seed dump web1 meta-data | grep '"app_name": "my-application"'
}
