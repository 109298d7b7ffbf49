#!/usr/bin/env bats
# findings.bats: what check says of a document, and what the cloud-inits of all releases of Debian make of it:
# what check calls dropped or cancelled is, and what it does not complain of is applied.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# cases: a line of JSON each, with the document in base64.
cases() {
    cloud_init_python -c 'import base64, json, sys, yaml
for name, case in yaml.safe_load(sys.stdin).items():
    case["document"] = base64.b64encode(case["document"].encode()).decode()
    print(json.dumps({"name": name, "request": "", "check": [], "filter": ".config.timezone",
                      "value": "UTC", **case}))' <"$BATS_TEST_DIRNAME/findings.yaml"
}

# What virt-seed refuses gets into the seed of a domain without it.
make_case() {
    local folder=$1 request document

    request=$(jq -r .request <<<"$2")
    document=$(jq -r .document <<<"$2")
    if [[ $2 != *error/* ]]; then
        request+="<ci:user-data encoding='base64'>$document</ci:user-data>"
    fi
    domain_xml "$request" | sed "s|<ci:cloud-init |&report='no' |" | make_seed "$folder" || return
    if [[ $2 == *error/* ]]; then
        base64 -d <<<"$document" | replace_user_data "$folder"
    fi
}

# What check says of it; the domain's wiring is not the subject.
findings() {
    domain_xml "$(jq -r '.request + "<ci:user-data encoding=\"base64\">" + .document + "</ci:user-data>"' <<<"$1")" |
        sed "s|<ci:cloud-init |&report='no' |" | virt-seed --quiet wire - |
        virt-seed check --json --no-schema - | jq -c '[.findings[] | .severity + "/" + .id] | unique'
}

@test "check finds these, and nothing else" {
    while read -r case; do
        jq -r .name <<<"$case"
        diff -u --label expected --label found <(jq -c '.check | unique' <<<"$case") <(findings "$case")
    done < <(cases)
}

@test "cloud-init drops what check says, and applies the rest" {
    local name failed=0 folder

    while read -r case; do
        make_case "$BATS_TEST_TMPDIR/seeds/$(jq -r .name <<<"$case")" "$case"
    done < <(cases)
    for name in bullseye bookworm trixie sid; do
        [[ -e $consumer/$name/manifest ]] || continue
        "$consumer/$name/python3" -B "$BATS_TEST_DIRNAME/read-seed.py" "$consumer/$name/root" \
            "$name.json" "$BATS_TEST_TMPDIR/seeds"/*
        while read -r case; do
            folder=$BATS_TEST_TMPDIR/seeds/$(jq -r .name <<<"$case")
            if ! diff -u --label expected --label "$name: ${folder##*/}" <(jq -S .value <<<"$case") \
                <(jq -S "$(jq -r .filter <<<"$case")" "$folder/$name.json"); then
                jq -c '[.aborted, .warnings]' "$folder/$name.json"
                failed=1
            fi
        done < <(cases)
    done
    [[ $failed -eq 0 ]]
}
