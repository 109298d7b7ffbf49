#!/usr/bin/env bats
# identity.bats: who the guest is, as cloud-init understands it: host name, instance-id, ssh keys,
# metadata.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# has_entries NAME VALUE...: the guest finds these strings in its metadata.
has_entries() {
    while [[ $# -gt 0 ]]; do
        understood_text ".[\"meta-data\"][\"$1\"]" "$2" || return
        shift 2
    done
}

@test "cloud-init finds a seed by serial and label, and uses it after the network is up" {
    consume_request
    understood .identified '["NoCloud", "None"]'
    understood_text .datasource 'DataSourceNoCloud [seed=dmi,/dev/sr0]'
    understood_text .dsmode net
    no_complaint
}

@test "cloud-init finds a seed by its label without the serial" {
    consume_request '' 'serial="no"'
    understood .identified '["NoCloud", "None"]'
    understood_text .datasource 'DataSourceNoCloud [seed=/dev/sr0]'
    understood_text .dsmode net
    no_complaint
}

@test "the host name is the first label, and the whole is the qualified name" {
    consume_request '<ci:hostname>web1.example.org</ci:hostname>'
    understood_text .hostname web1
    understood_text .fqdn web1.example.org
}

@test "the host name is the domain's name by default" {
    consume_request
    understood_text .hostname web1
}

@test "a host name that YAML would read as something else stays text" {
    for name in 010 1e3 yes null 0x1f 2026-01-01; do
        consume_request "<ci:hostname>$name</ci:hostname>"
        understood_text .hostname "$name"
        no_complaint
    done
}

@test "the instance-id is the domain's UUID" {
    consume_request '<ci:instance-id policy="domain"/>'
    understood_text '.["instance-id"]' "$uuid"
}

@test "cloud-init takes the instance-id with policy=\"content\"" {
    local body="<ci:instance-id policy='content'/><ci:user-data>#!/bin/sh</ci:user-data>"

    consume_request "$body"
    first=$(jq -r '.["instance-id"]' "$answer")
    [[ $first =~ ^$uuid-[0-9a-f]{16}$ ]]
    no_complaint
    consume_request "${body/sh</true<}"
    [[ $(jq -r '.["instance-id"]' "$answer") != "$first" ]]
    consume_request "$body" 'datasource="configdrive"'
    [[ $(jq -r '.["instance-id"]' "$answer") =~ ^[0-9a-f]{8}-[0-9a-f-]{27}$ ]]
    no_complaint
}

@test "a fixed instance-id is unchanged, whatever YAML would read" {
    for id in i-web1-7 010 1_000 1.0 true '~' 12:30:45; do
        consume_request "<ci:instance-id policy='fixed'>$id</ci:instance-id>"
        understood_text '.["instance-id"]' "$id"
    done
}

@test "each ssh key arrives with its options and its comment" {
    local second="from=\"192.0.2.0/24\",command=\"echo 'x: y' # no\" ${key/alice/b: ob}"

    consume_request "<ci:ssh-authorized-keys><ci:key>$key</ci:key>
        <ci:key>$second</ci:key></ci:ssh-authorized-keys>"
    understood '.["public-keys"]' "$(jq -n '$ARGS.positional' --args "$key" "$second")"
}

@test "metadata stays text where YAML would read a number, a boolean, a date or nothing" {
    local value body='' pairs=()

    for value in 010 yes no on null '~' 1.5 0o17 1e3 12:30:45 2026-01-01 .inf '=' '<<' '' ' '; do
        body+="<ci:entry name='k${#pairs[@]}'><![CDATA[$value]]></ci:entry>"
        pairs+=("k${#pairs[@]}" "$value")
    done
    consume_request "<ci:meta-data>$body</ci:meta-data>"
    has_entries "${pairs[@]}"
    no_complaint
}

# shellcheck disable=SC2016  # nothing in these is for the shell
@test "metadata is unchanged with quotes, backslashes, YAML, jinja and percent signs" {
    local value body='' pairs=()

    for value in '"' "'" "it's \"both\"" 'C:\new\table' '# no comment' 'a # b' '- item' '? key' \
        '{a: b}' '[1, 2]' '&anchor' '*alias' '!!python/object:os.system x' '| literal' '> folded' \
        '%YAML 1.1' '@at' '`tick`' 'key: value' 'trailing: ' '{{ v1.instance_id }}' '%s' '${HOME}'; do
        body+="<ci:entry name='k${#pairs[@]}'><![CDATA[$value]]></ci:entry>"
        pairs+=("k${#pairs[@]}" "$value")
    done
    consume_request "<ci:meta-data>$body</ci:meta-data>"
    has_entries "${pairs[@]}"
    no_complaint
}

@test "metadata is unchanged with several lines, tabs, white space and Unicode" {
    local text=$'first\n  second\n\nthird\n'

    consume_request "<ci:meta-data><ci:entry name='lines'>$text</ci:entry>
        <ci:entry name='tab'>a&#9;b</ci:entry><ci:entry name='return'>a&#13;b</ci:entry>
        <ci:entry name='space'>  a  </ci:entry><ci:entry name='unicode'>grüße 日本 😀</ci:entry>
        <ci:entry name='nel'>a&#x85;b&#x2028;c&#xfeff;d&#x7f;e</ci:entry></ci:meta-data>"
    has_entries lines "$text" tab $'a\tb' return $'a\rb' space '  a  ' unicode 'grüße 日本 😀' \
        nel $'a\u0085b\u2028c\ufeffd\u007fe'
    no_complaint
}

@test "an entry may have any name except virt-seed's own keys" {
    consume_request '<ci:meta-data><ci:entry name="yes">1</ci:entry>
        <ci:entry name="010">2</ci:entry><ci:entry name="a b: c">3</ci:entry>
        <ci:entry name="ключ">4</ci:entry></ci:meta-data>'
    has_entries yes 1 010 2 'a b: c' 3 ключ 4
    no_complaint
}

@test "a secret's keys follow those of the element, one for each line" {
    make_secret keys alice "$key alice"$'\n'
    make_secret keys bob $'# two of them\n'"$key bob"$'\r\n\n'"$key bob2"
    consume_request "<ci:ssh-authorized-keys secret='keys'/>"
    understood '.["public-keys"]' "[\"$key alice\", \"$key bob\", \"$key bob2\"]"
    consume_request "<ci:ssh-authorized-keys secret='keys' key='bob'/>"
    understood '.["public-keys"]' "[\"$key bob\", \"$key bob2\"]"
    no_complaint
}

@test "each key of a secret becomes metadata next to the entries" {
    make_secret meta region 'eu-1'
    make_secret meta answer $'42\n'
    consume_request '<ci:meta-data secret="meta"><ci:entry name="role">db</ci:entry></ci:meta-data>'
    has_entries region eu-1 answer $'42\n' role db
    no_complaint
}

@test "the instance type is in the metadata" {
    consume_request '<ci:instance-type>010</ci:instance-type>'
    has_entries instance-type 010
    no_complaint
}

@test "a mapping in a file becomes metadata with its types" {
    mkdir -p "$root$confdir/files"
    printf 'role: db\nports: [80, 0x1f]\nzone: "010"\nlive: yes\nnested: {a: {b: ~}}\n' \
        >"$root$confdir/files/meta.yaml"
    consume_request '<ci:meta-data file="meta.yaml"/>'
    understood '.["meta-data"] | {role, ports, zone, live, nested}' \
        '{"role": "db", "ports": [80, 31], "zone": "010", "live": true, "nested": {"a": {"b": null}}}'
    no_complaint
}

@test "scalars in a file mean what cloud-init's own YAML parser reads" {
    local scalars=$BATS_TEST_DIRNAME/scalars.yaml

    mkdir -p "$root$confdir/files"
    cp "$scalars" "$root$confdir/files/meta.yaml"
    consume_request '<ci:meta-data file="meta.yaml"/>'
    understood '.["meta-data"] | with_entries(select(.key | test("^a[0-9]+$")))' \
        "$(yaml_to_json <"$scalars")"
}

@test "a guest that is done gets only its identity" {
    local datasource first

    for datasource in nocloud configdrive; do
        rm -rf "$root"
        make_root
        body="<ci:hostname>web1.example.org</ci:hostname>
            <ci:ssh-authorized-keys><ci:key>$key</ci:key></ci:ssh-authorized-keys>
            <ci:user-data>#!/bin/sh</ci:user-data><ci:vendor-data>#!/bin/sh</ci:vendor-data>
            <ci:network-config from='interfaces'/>"
        consume_request "$body" "datasource='$datasource' boots='until-done'"
        first=$(jq '[.["instance-id"], .fqdn]' "$answer")
        understood '.scripts | length' 2
        virt-seed --quiet --root="$root" 'done' "$BATS_TEST_TMPDIR/domain.xml"
        consume_request "$body" "datasource='$datasource' boots='until-done'"
        understood '[.["instance-id"], .fqdn]' "$first"
        understood '[.scripts, .["user-data"], .config, .network.source]' \
            '[{}, [], {}, "fallback"]'
        # It still says how far it is.
        understood '[.["vendor-data"][].type]' '["text/cloud-boothook"]'
        no_complaint
    done
}
