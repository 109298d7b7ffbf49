#!/usr/bin/env bats
# combine.bats: several pieces of user-data and of vendor-data, as cloud-init takes them apart.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# piece TEXT: an element <user-data> with exactly this text.
piece() {
    echo "<ci:user-data encoding='base64'>$(printf '%s' "$1" | base64)</ci:user-data>"
}

types() {
    understood '[.["user-data"][].type]' "$(jq -n '$ARGS.positional' --args "$@")"
}

@test "a single piece becomes the document unchanged" {
    consume_request "$(piece $'#!/bin/sh\r\necho grüße')"
    understood '.["user-data"]' \
        '[{"type": "text/x-shellscript", "content": "#!/bin/sh\r\necho grüße"}]'
    no_complaint
}

@test "pieces of each kind keep their kind, order and bytes" {
    local script=$'#!/bin/sh\necho "grüße"\r\n\t\n\n  .\n--==virt-seed-0==\n'

    consume_request "$(piece "$script")
        $(piece $'#cloud-config\ntimezone: UTC')
        $(piece $'#cloud-boothook\n#!/bin/sh\necho hook\n')
        $(piece $'## template: jinja\n#cloud-config\nhostname: {{ v1.local_hostname }}-x')
        $(piece $'#cloud-config-archive\n- "#!/bin/sh\\necho archive"\n')" "report='no'"
    types text/x-shellscript text/cloud-config text/cloud-boothook text/jinja2 text/x-shellscript
    understood '.["user-data"][0].content' "$(jq -n --arg text "$script" '$text')"
    understood '.["user-data"][2].content' '"#cloud-boothook\n#!/bin/sh\necho hook\n"'
    understood .config '{"timezone": "UTC", "hostname": "web1-x"}'
    understood '[(.scripts | length), (.boothooks | length)]' '[2, 1]'
    no_complaint
}

# message_types DOCUMENT: the type and the name of each part, as Python's email module reads them.
message_types() {
    /usr/bin/python3 -c 'import email, sys
for part in email.message_from_binary_file(sys.stdin.buffer).walk():
    print(part.get_content_type(), part.get_filename() or "-")' <"$1"
}

@test "each part has the type by which cloudbase-init chooses its plugin" {
    domain_xml "$(piece $'#ps1\r\nGet-Date\r\n')$(piece $'#cloud-config\ntimezone: UTC')
        $(piece $'<script>dir</script>')$(piece $'#!/bin/sh\n')$(piece $'#include\nhttp://192.0.2.1/')" |
        sed "s|<ci:cloud-init |&datasource='configdrive' report='no' |" |
        virt-seed --quiet wire - >"$BATS_TEST_TMPDIR/wired.xml"
    virt-seed --quiet --root="$root" build -o "$BATS_TEST_TMPDIR/seed.iso" \
        "$BATS_TEST_TMPDIR/wired.xml"
    xorriso -osirrox on -indev "$BATS_TEST_TMPDIR/seed.iso" -extract \
        /openstack/latest/user_data "$BATS_TEST_TMPDIR/user_data" 2>/dev/null
    diff -u - <(message_types "$BATS_TEST_TMPDIR/user_data") <<'END'
multipart/mixed -
text/x-shellscript script-1
text/cloud-config -
text/x-shellscript script-3
text/x-shellscript -
text/x-include-url -
END
}

@test "gzip and MIME can be pieces among others" {
    consume_request "$(piece $'#cloud-config\nruncmd: [one]')
        <ci:user-data encoding='base64'>$(gzip -9n <<<$'#!/bin/sh\necho packed' |
        base64)</ci:user-data>
        $(piece $'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n
--==\nContent-Type: text/cloud-config\n\n#cloud-config\nlocale: C.UTF-8\n
--==\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho inner\n--==--\n')
        $(piece $'#cloud-config\npackage_update: true')"
    types text/cloud-config text/x-shellscript text/cloud-config text/x-shellscript \
        text/cloud-config
    understood .config '{"runcmd": ["one"], "locale": "C.UTF-8", "package_update": true}'
    understood '.scripts | map(select(contains("packed"))) | length' 1
    no_complaint
}

@test "gzip among others keeps its text, its parts and its place" {
    local mime=$'MIME-Version: 1.0\nContent-Type: text/cloud-config\n\nlocale: C.UTF-8\n'

    mkdir -p "$root$confdir/files"
    echo 'vendor-data = all.yaml.gz' >"$root$confdir/virt-seed.conf"
    gzip -9n <<<$'#cloud-config\ntimezone: UTC\nruncmd: [host]' >"$root$confdir/files/all.yaml.gz"
    consume_request "$(piece $'#cloud-config\nruncmd: [one]')
        <ci:user-data encoding='base64'>$(gzip -9n <<<$'#cloud-config
write_files: [{path: /etc/motd, content: grüße}]' | base64)</ci:user-data>
        <ci:user-data encoding='base64'>$(gzip -9n <<<"$mime" | base64)</ci:user-data>
        <ci:vendor-data>#cloud-config
timezone: Asia/Tokyo
runcmd: [domain]</ci:vendor-data>"
    understood '.files["/etc/motd"].content' '"grüße"'
    understood '.config.locale' '"C.UTF-8"'
    understood '.["vendor-config"]' '{"timezone": "Asia/Tokyo", "runcmd": ["host", "domain"]}'
    no_complaint
}

@test "a document that mentions MIME-Version is not taken for MIME" {
    local text=$'#cloud-config\nwrite_files:\n- path: /etc/mail.txt\n  content: |
    MIME-Version: 1.0\n    Subject: grüße\n'

    consume_request "$(piece "$text")" "report='no'"
    understood '.files["/etc/mail.txt"].content' '"MIME-Version: 1.0\nSubject: grüße\n"'
    no_complaint
    consume_request "<ci:user-data encoding='base64'>$(gzip -9n <<<"$text" | base64)</ci:user-data>"
    understood '.files["/etc/mail.txt"].content' '"MIME-Version: 1.0\nSubject: grüße\n"'
    no_complaint
}

@test "a part-handler in one piece handles the pieces after it" {
    consume_request "$(piece '#part-handler
from cloudinit import util
def list_types():
    return ["text/x-of-my-own"]
def handle_part(data, ctype, filename, payload):
    if ctype == "text/x-of-my-own":
        util.write_file("/etc/own", payload)
')$(piece $'MIME-Version: 1.0\nContent-Type: text/x-of-my-own\n\nmine')"
    understood '.files["/etc/own"].content' '"mine"'
    no_complaint
}

@test "several cloud-configs are merged by cloud-init's rules and their own" {
    consume_request "$(piece $'#cloud-config\ntimezone: UTC\nruncmd: [one]\nbootcmd: [a]')
        $(piece $'#cloud-config\ntimezone: Asia/Tokyo\nruncmd: [two]')
        $(piece $'#cloud-config
merge_how: [{name: list, settings: [append]}, {name: dict, settings: [recurse_list]}]
bootcmd: [b]')"
    understood '.config | {timezone, runcmd, bootcmd}' \
        '{"timezone": "Asia/Tokyo", "runcmd": ["two"], "bootcmd": ["a", "b"]}'
    understood .warnings '[]'
}

@test "sixteen pieces become sixteen parts" {
    local body='' number

    for number in {1..16}; do
        body+=$(piece $'#!/bin/sh\necho '"$number")
    done
    consume_request "$body"
    understood '[.["user-data"][].content]' \
        "$(jq -n '[range(1; 17) | "#!/bin/sh\necho \(.)"]')"
    no_complaint
}

@test "the host's vendor-data only adds what the domain's does not set" {
    mkdir -p "$root$confdir/files"
    echo 'vendor-data = all.yaml' >"$root$confdir/virt-seed.conf"
    printf '#cloud-config\ntimezone: UTC\nlocale: C.UTF-8\nruncmd: [host]\n' \
        >"$root$confdir/files/all.yaml"
    consume_request '<ci:vendor-data>#cloud-config
timezone: Asia/Tokyo
runcmd: [domain]
</ci:vendor-data>'
    understood '.["vendor-config"]' \
        '{"timezone": "Asia/Tokyo", "locale": "C.UTF-8", "runcmd": ["host", "domain"]}'
    no_complaint
}

@test "the guest gets the host's vendor-data if the domain has none" {
    mkdir -p "$root$confdir/files"
    echo 'vendor-data = all.sh' >"$root$confdir/virt-seed.conf"
    printf '#!/bin/sh\necho host\n' >"$root$confdir/files/all.sh"
    consume_request '<ci:user-data>#!/bin/sh
echo user
</ci:user-data>' "report='no'"
    understood '[.["vendor-data"][].content]' '["#!/bin/sh\necho host\n"]'
    understood '.scripts | keys' '["part-001", "vendor/part-001"]'
    no_complaint
}
