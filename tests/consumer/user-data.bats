#!/usr/bin/env bats
# user-data.bats: user-data and vendor-data of each kind, as cloud-init's handlers understand them.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# document ELEMENT: the element with standard input as its text, byte for byte.
document() {
    echo "<ci:$1 encoding='base64'>$(base64)</ci:$1>"
}

# is_one_part TYPE TEXT: user-data is one part of that type.
is_one_part() {
    understood '.["user-data"]' \
        "$(jq -n --arg type "$1" --arg text "$2" '[{type: $type, content: $text}]')"
}

@test "cloud-config is merged and valid by the schema" {
    consume_request "<ci:user-data>
#cloud-config
timezone: Europe/Zurich
write_files:
  - path: /etc/motd
    content: |
      grüße &amp; küsse
    permissions: '0640'
    owner: root:adm
</ci:user-data>"
    no_complaint
    understood .config.timezone '"Europe/Zurich"'
    understood '.files["/etc/motd"]' \
        '{"content": "grüße & küsse\n", "mode": "0640", "owner": "root:adm"}'
}

@test "a script arrives byte for byte" {
    local script=$'#!/bin/sh\necho "<&>" \'x\'\n\n  indented\n'

    consume_request "$(document user-data <<<"$script")"
    is_one_part text/x-shellscript "$script"$'\n'
    understood '.scripts' "$(jq -n --arg text "$script"$'\n' '{"part-001": $text}')"
    no_complaint
}

@test "a boothook would run at once" {
    consume_request '<ci:user-data>#cloud-boothook
#!/bin/sh
echo hook
</ci:user-data>' "report='no'"
    understood .boothooks '{"part-001": "#!/bin/sh\necho hook\n"}'
    understood .ran '["part-001"]'
    no_complaint
}

@test "a part-handler handles the parts after it" {
    consume_request "$(document user-data <<'END'
Content-Type: multipart/mixed; boundary="//"
MIME-Version: 1.0

--//
Content-Type: text/part-handler

#part-handler
from cloudinit import util
def list_types():
    return ["text/x-of-my-own"]
def handle_part(data, ctype, filename, payload):
    if ctype == "text/x-of-my-own":
        util.write_file("/etc/own", payload)
--//
Content-Type: text/x-of-my-own

mine
--//--
END
    )"
    understood '.files["/etc/own"].content' '"mine"'
    no_complaint
}

@test "jinja is rendered with the metadata" {
    consume_request '<ci:meta-data><ci:entry name="role">db</ci:entry></ci:meta-data>
<ci:user-data>## template: jinja
#cloud-config
write_files:
  - path: /etc/role
    content: "{{ ds.meta_data.role }} on {{ v1.local_hostname }}"
</ci:user-data>'
    understood '.files["/etc/role"].content' '"db on web1"'
    no_complaint
}

@test "each entry of an archive is a part" {
    consume_request '<ci:user-data>#cloud-config-archive
- type: text/cloud-config
  content: |
    timezone: Asia/Tokyo
- |
  #!/bin/sh
  echo one
</ci:user-data>'
    understood '[.["user-data"][].type]' '["text/cloud-config", "text/x-shellscript"]'
    understood .config '{"timezone": "Asia/Tokyo"}'
    no_complaint
}

@test "MIME parts keep their types, and mappings are merged as they specify" {
    consume_request "$(document user-data <<'END'
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="X"

--X
Content-Type: text/cloud-config; charset="utf-8"

#cloud-config
runcmd: [one]
--X
Content-Type: text/cloud-config
Merge-Type: list(append)+dict(recurse_array)+str()

#cloud-config
runcmd: [two]
--X
Content-Type: text/x-shellscript

#!/bin/sh
echo three
--X--
END
    )"
    understood '[.["user-data"][].type]' \
        '["text/cloud-config", "text/cloud-config", "text/x-shellscript"]'
    understood .config '{"runcmd": ["one", "two"]}'
    no_complaint
}

@test "gzip is decompressed: cloud-config, script and MIME" {
    consume_request "$(gzip -9n <<<$'#cloud-config\ntimezone: UTC' | document user-data)"
    understood .config '{"timezone": "UTC"}'
    no_complaint
    consume_request "$(gzip -9n <<<$'#!/bin/sh\necho packed' | document user-data)"
    is_one_part text/x-shellscript $'#!/bin/sh\necho packed\n'
    no_complaint
    consume_request "$(gzip -9n <<<$'MIME-Version: 1.0\nContent-Type: text/cloud-config\n
locale: C.UTF-8' | document user-data)"
    understood .config '{"locale": "C.UTF-8"}'
    no_complaint
}

@test "a JSON patch is applied to the configuration so far" {
    consume_request "<ci:user-data>#cloud-config-archive
- type: text/cloud-config
  content: |
    runcmd: [one]
- type: text/cloud-config-jsonp
  content: |
    #cloud-config-jsonp
    [{\"op\": \"add\", \"path\": \"/runcmd/0\", \"value\": \"zero\"}]
</ci:user-data>"
    understood .config '{"runcmd": ["zero", "one"]}'
    no_complaint
}

@test "white space that an XML editor puts around the text makes no difference" {
    consume_request '
      <ci:user-data>

#cloud-config
users:
  - default
  - name: alice
      </ci:user-data>'
    understood '.users | keys' '["alice", "debian"]'
    no_complaint
}

@test "what has no content is left out, since newer guests would warn of it" {
    consume_request "<ci:user-data>#cloud-config</ci:user-data>$(document user-data <<<' ')" \
        "report='no'"
    understood '[.["user-data"], .config]' '[[], {}]'
    no_complaint
}

@test "no user-data is not an error and needs no handler" {
    consume_request '' "report='no'"
    understood '[.["user-data"], .["vendor-data"], .config]' '[[], [], {}]'
    no_complaint
}

@test "user-data from a secret and vendor-data from a file arrive byte for byte" {
    make_secret web1 userdata $'#!/bin/sh\necho secret'
    mkdir -p "$root$confdir/files"
    printf '#!/bin/sh\r\necho vendor' >"$root$confdir/files/vendor.sh"
    consume_request '<ci:user-data secret="web1"/><ci:vendor-data file="vendor.sh"/>' \
        "report='no'"
    is_one_part text/x-shellscript $'#!/bin/sh\necho secret'
    understood '.["vendor-data"]' \
        '[{"type": "text/x-shellscript", "content": "#!/bin/sh\r\necho vendor"}]'
    no_complaint
}

@test "the user's configuration overrides the vendor's" {
    consume_request '<ci:user-data>#cloud-config
timezone: Asia/Tokyo
</ci:user-data><ci:vendor-data>#cloud-config
timezone: UTC
package_update: true
</ci:vendor-data>'
    understood .config '{"timezone": "Asia/Tokyo", "package_update": true}'
    no_complaint
}

@test "one MiB of user-data arrives whole" {
    local script

    script=$'#!/bin/sh\n'$(head -c 786432 /dev/zero | base64)
    make_secret web1 userdata "$script"
    consume_request '<ci:user-data secret="web1"/>'
    understood '.["user-data"] | map(.content | utf8bytelength)' "[${#script}]"
    no_complaint
}

@test "the reporter runs at once and leaves user-data and vendor-data unchanged" {
    local body datasource silent question

    body="<ci:user-data>#cloud-config
timezone: Asia/Tokyo
runcmd: [user]
</ci:user-data><ci:vendor-data>## template: jinja
#cloud-config
locale: C.UTF-8
runcmd: [{{ v1.local_hostname }}]
</ci:vendor-data>"
    question='[.config, .["vendor-config"], .scripts]'
    for datasource in nocloud configdrive; do
        consume_request "$body" "datasource='$datasource' report='no'"
        silent=$(jq "$question" "$answer")
        understood .ran '[]'
        consume_request "$body" "datasource='$datasource'"
        understood "$question" "$silent"
        understood .ran '["part-002"]'
        understood_text '.boothooks["part-002"]' "$(cat "$top_srcdir/src/seed/reporter.sh")"$'\n'
        no_complaint
    done
}
