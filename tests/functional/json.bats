#!/usr/bin/env bats
# json.bats: virt-seed-json(7) is what commands print with --json; the libvirt tests of wait and status have what
# needs a guest.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=../manual.bash
source "$BATS_TEST_DIRNAME/../manual.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    wired_xml "<ci:user-data>#cloud-config
locale: 5
</ci:user-data><ci:vendor-data encoding='base64'>$(echo '#cloud-config' | gzip | base64)</ci:vendor-data>" >web1.xml
}

# seed ARGUMENT...: runs virt-seed; that it finds something is no failure here.
seed() {
    virt-seed --root="$root" "$@" || [[ $? -eq 1 ]]
}

@test "each object that a command prints has the members that the page gives it, and their types" {
    seed check --json web1.xml >check.json
    matches_manual check <check.json
    matches_manual finding '.findings[]' <check.json
    jq -e '[.findings[] | select(.part == "user-data")] != []' check.json

    seed pending --json web1.xml >pending.json
    matches_manual pending <pending.json
    matches_manual 'document of pending' '.documents[]' <pending.json

    xmllint --xpath "//*[local-name() = 'cloud-init']" web1.xml >element
    seed set web1.xml --element=element --hostname=a --dry-run --json >set.json
    matches_manual 'set --element' <set.json
    seed set web1.xml --hostname=a --dry-run --json >set.json
    matches_manual 'set, wire, unset' <set.json
    seed wire web1.xml --dry-run --json | matches_manual 'set, wire, unset'
    seed unset web1.xml --dry-run --json | matches_manual 'set, wire, unset'

    seed dump --json web1.xml >dump.json
    matches_manual dump <dump.json
    matches_manual 'document of dump' '.documents[]' <dump.json

    seed build --force -o seed.iso web1.xml
    seed inspect --json seed.iso >inspect.json
    matches_manual inspect <inspect.json
    matches_manual 'document of inspect' '.documents[]' <inspect.json

    seed -c test:///default doctor --json >doctor.json
    matches_manual doctor <doctor.json
    matches_manual diagnosis '.diagnoses[]' <doctor.json

    seed -c test:///default status --json >status.json
    jq -e 'type == "array"' status.json
    matches_manual status <status.json
}

@test "a member that the page lacks, has too much, or gives another type is noticed" {
    local page=$manual_json

    seed check --json web1.xml >check.json
    manual_json=planted.7
    grep -v '^\.BR part ' "$page" >planted.7
    run -1 matches_manual finding '.findings[]' <check.json
    assert_said 'finding: part is not in the page'
    sed 's/^\.BR severity .*/&\n.BR other " (string)"/' "$page" >planted.7
    run -1 matches_manual finding '.findings[]' <check.json
    assert_said 'finding: other was not printed'
    sed 's/^\.BR severity .*/.BR severity " (number)"/' "$page" >planted.7
    run -1 matches_manual finding '.findings[]' <check.json
    assert_said 'finding: severity is string'
    run -1 matches_manual check < <(jq 'del(.version)' check.json)
    assert_said 'check has no version'
}

@test "each object of the page is compared with what a command prints" {
    diff <(manual_objects | sort) \
        <(grep -ohE "matches_manual ('[^']+'|[a-z-]+)" "$top_srcdir"/tests/{functional/json,libvirt/wait}.bats |
            sed -e 's/^matches_manual //' | tr -d "'" | sort -u)
}
