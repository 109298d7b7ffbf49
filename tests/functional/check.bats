#!/usr/bin/env bats
# check.bats: what `virt-seed check` finds.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    # A cloud-init of this host's would have its own say.
    schema=--no-schema
    cd "$BATS_TEST_TMPDIR" || return
    make_root
}

check() {
    virt-seed --root="$root" check ${schema:+"$schema"} "$@"
}

# finds FILE [SEVERITY/ID]...: these are the findings, in any order, and no others; the exit status
# is 1 if and only if one is an error. Each says something, and what to do.
finds() {
    local xml=$1 wanted=0

    shift
    if [[ $* == *error/* ]]; then
        wanted=1
    fi
    run "-$wanted" check --json "$xml"
    diff <(printf '%s\n' "$@" | sed '/^$/d' | sort) \
        <(jq -r '.findings[] | .severity + "/" + .id' <<<"$output" | sort -u)
    jq -e '.domain == "web1" and all(.findings[];
        (.line | type) == "number" and .message != "" and (.hint // "") != "")' <<<"$output"
}

@test "a correct domain has no findings" {
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >good.xml
    finds good.xml
    run -0 check good.xml
    [[ $output = "domain 'web1': no problems found" ]]
    run -0 virt-seed --quiet --root="$root" check --no-schema good.xml
    [[ -z $output ]]
}

@test "a finding has a place, a sentence, an identifier and a hint" {
    wired_xml '<ci:user-data>package_update: true</ci:user-data>' >bad.xml
    run -1 check bad.xml
    [[ ${lines[0]} =~ ^bad\.xml:[0-9]+:\ error:\ \<user-data\>.*\ \[user-data\]$ ]]
    [[ ${lines[1]} == '  hint: '* ]]
    line=$(grep -n '<ci:user-data>' bad.xml)
    [[ ${lines[0]} == "bad.xml:${line%%:*}:"* ]]
    run -1 check - <bad.xml
    [[ ${lines[0]} == '-:'* ]]
}

@test "reports all faults at once" {
    domain_xml '<ci:user-data>package_update: true</ci:user-data>
        <ci:vendor-data secret="none"/>
        <ci:network-config>ethernets: {}</ci:network-config>' >bad.xml
    finds bad.xml error/user-data error/secret-missing error/network-config error/unwired
}

# --- errors -----------------------------------------------------------------------------------

@test "missing wiring is one error that names each part" {
    domain_xml >unwired.xml
    finds unwired.xml error/unwired
    [[ $(jq -r '.findings[] | .message' <<<"$output") = "not wired;"*"cdrom 'sda' added"*"; 'ds=nocloud;dsmode=net' added to the SMBIOS serial; "* ]]
    wired_xml | sed "s|$uuid.iso|$other_uuid.iso|" >clone.xml
    finds clone.xml error/unwired
}

@test "a missing report channel is a warning, since the domain starts without it" {
    wired_xml | sed '/<channel /,/<\/channel>/d' >without.xml
    finds without.xml warning/report-channel
    wired_xml | sed '/<channel /s/file/pty/' >no-file.xml
    finds no-file.xml warning/report-channel
    wired_xml | sed "s|$uuid.report|$other_uuid.report|" >clone.xml
    finds clone.xml error/unwired
}

@test "a domain without a request is an error" {
    domain_xml | sed '/<metadata>/,/<\/metadata>/d' >none.xml
    finds none.xml error/request-missing
}

@test "mistakes in the request are errors" {
    wired_xml | sed 's|<ci:cloud-init |<ci:cloud-init bus="x" |' >value.xml
    finds value.xml error/request
    wired_xml '<ci:hostname>a</ci:hostname>' | sed 's|hostname|host-name|g' >element.xml
    finds element.xml error/request-unknown
    wired_xml '<ci:hostname>a</ci:hostname>' | sed 's|>a<|>a_b<|g' >hostname.xml
    finds hostname.xml error/hostname
}

@test "checks files and secrets" {
    wired_xml '<ci:user-data secret="web1"/><ci:vendor-data file="base.yaml"/>' >references.xml
    finds references.xml error/secret-missing error/file
    make_secret web1 userdata 'package_update: true'
    mkdir "$root$confdir/files"
    echo '#cloud-config' >"$root$confdir/files/base.yaml"
    finds references.xml error/user-data
    make_secret web1 userdata '#cloud-config'
    finds references.xml
    chmod 0644 "$root$confdir/secrets/web1/userdata"
    finds references.xml error/secret-mode
}

@test "a secret that the domain may not use is an error for every caller" {
    make_secret web1 userdata '#cloud-config'
    make_secret web1 allow db1
    wired_xml '<ci:user-data secret="web1"/>' >secret.xml
    finds secret.xml error/secret-denied
}

@test "a secret that the caller may not read is a warning, not the domain's fault" {
    make_secret web1 userdata '#cloud-config'
    chmod 0 "$root$confdir/secrets/web1/userdata"
    wired_xml '<ci:user-data secret="web1"/>' >secret.xml
    become_nobody
    run -0 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema secret.xml
    assert_said 'warning: ' '[secret-unreadable]'
}

@test "another seed and another datasource's serial are errors" {
    wired_xml | sed "s|<devices>|<devices><disk type='file' device='cdrom'>\
<source file='/srv/seed.iso'/><target dev='sdz' bus='sata'/></disk>|" >seed.xml
    finds seed.xml error/foreign-seed
    wired_xml | sed 's|ds=nocloud;dsmode=net|ds=ec2|' >serial.xml
    finds serial.xml error/serial
}

@test "a device that leads into a directory of virt-seed's is an error" {
    mkdir -p "$root$confdir/secrets"
    ln -s "$confdir/secrets" "$root/mine"
    wired_xml | sed "s|<devices>|<devices><serial type='file'><source path='/mine/web1/allow' append='on'/></serial>|" \
        >serial.xml
    finds serial.xml error/forbidden-path
    assert_said "'/mine/web1/allow'"
}

@test "a record that cannot be read is one error, on the destination of a migration, too" {
    wired_xml | sed "s|<ci:cloud-init|& boots='until-done'|" >done.xml
    mkdir -p "$root$statedir"
    echo '{' >"$root$statedir/$uuid.json"
    run -1 check --json done.xml
    [[ $(jq -r '.findings[].id' <<<"$output") = record ]]
    run -1 check --migration --json done.xml
    [[ $(jq -r '.findings[].id' <<<"$output") = record ]]
}

@test "a mistake in the configuration is an error" {
    echo 'unwired = perhaps' >"$root$confdir/virt-seed.conf"
    wired_xml >wired.xml
    finds wired.xml error/config
}

# --- warnings ---------------------------------------------------------------------------------

@test "a password or a key in the XML is a warning" {
    local text

    for text in 'password: hunter2' 'chpasswd: {list: "a:hunter2"}' 'users: [default, {name: a, hashed_passwd: x, lock_passwd: false}]' \
        'key: "-----BEGIN OPENSSH PRIVATE KEY-----"'; do
        wired_xml "<ci:user-data>#cloud-config
$text
</ci:user-data>" >inline.xml
        finds inline.xml warning/inline-secret
        [[ $output != *hunter2* ]]
    done
}

@test "warns of a cdrom that guests find too late or have no driver for" {
    domain_xml | sed 's|<ci:cloud-init |<ci:cloud-init bus="usb" |' | virt-seed -q wire - >usb.xml
    finds usb.xml warning/usb-cdrom
    domain_xml | sed 's|<ci:cloud-init |<ci:cloud-init bus="sata" |' | virt-seed -q wire - >sata.xml
    finds sata.xml warning/sata-cdrom
    domain_xml | sed 's|vda|sda|; s|bus=.virtio.|bus="sata"|' | virt-seed -q wire - >all-sata.xml
    finds all-sata.xml
}

@test "warns of a cdrom that a saved guest could come back without" {
    wired_xml | sed "s| startupPolicy='mandatory'||" >policy.xml
    finds policy.xml warning/startup-policy
    wired_xml | sed 's|mandatory|optional|' >optional.xml
    finds optional.xml warning/startup-policy
}

@test "each identifier of a warning has a test case" {
    local id

    while read -r id; do
        grep -qF "[$id]" "$top_srcdir"/tests/golden/check/*/out.txt ||
            grep -qF "warning/$id" "$top_srcdir/tests/functional/check.bats" || {
            echo "without a case: $id"
            return 1
        }
    done < <(sed -n 's/^ *X([A-Z_]*, "\([a-z-]*\)").*/\1/p' "$top_srcdir/src/check/check.h")
}

# --- an installed cloud-init ------------------------------------------------------------------

# as_child COMMAND...: runs it as the user who runs cloud-init and Python: nobody, instead of root.
as_child() {
    if [[ $EUID -eq 0 ]]; then
        set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    fi
    env "$@"
}

# open_directory: lets nobody read and write in the test's directory.
open_directory() {
    chmod go+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
    chmod go+rwx .
    as_child test -w . || skip "the test's directory is closed to other users"
}

# installs_cloud_init COMMANDS: a cloud-init that does this is in the path; it notes what it is
# called with, and what it reads.
installs_cloud_init() {
    mkdir -p bin
    # shellcheck disable=SC2016  # they are for the script
    printf '#!/bin/bash\necho "$*" >>called\ncat "$3" >>read\n%s\n' "$1" >bin/cloud-init
    chmod +x bin/cloud-init
    PATH=$PWD/bin:$PATH
    schema=
    open_directory
}

@test "passes on as a warning what an installed cloud-init says of a document" {
    installs_cloud_init 'printf "Invalid\nError: Cloud config schema errors: pakages: unknown\a\n" >&2
        echo "Cloud config schema deprecations: a: old"; exit 1'
    wired_xml '<ci:user-data>#cloud-config
pakages: [a]
</ci:user-data>' >schema.xml
    finds schema.xml warning/schema
    assert_said 'schema errors: pakages: unknown?' 'schema deprecations: a: old'
    diff read - <<<$'#cloud-config\npakages: [a]'
    run -0 check --no-schema schema.xml
    assert_said 'no problems found'
}

@test "prints nothing if an installed cloud-init accepts the document or cannot check network-config" {
    # shellcheck disable=SC2016  # it is for the script
    installs_cloud_init '[[ $4 != --schema-type ]] || exit 2'
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>
        <ci:network-config>version: 2</ci:network-config>' >schema.xml
    finds schema.xml
    grep -q -- '--schema-type network-config$' called
}

@test "warns if an installed cloud-init fails or does not end" {
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >schema.xml
    installs_cloud_init 'exit 1'
    finds schema.xml warning/schema
    installs_cloud_init 'yes'
    finds schema.xml warning/schema
}

@test "hands no secret to an installed cloud-init" {
    make_secret web1 userdata '#cloud-config'
    installs_cloud_init ''
    wired_xml '<ci:user-data secret="web1"/>' >secret.xml
    finds secret.xml
    wired_xml '<ci:user-data secret="web1"/><ci:user-data>#cloud-config
password: hunter2
</ci:user-data><ci:user-data>#!/bin/sh</ci:user-data>' >secret.xml
    finds secret.xml warning/inline-secret
    [[ ! -e called ]]
}

@test "an installed cloud-init cannot change what it reads" {
    # shellcheck disable=SC2016  # it is for the script
    installs_cloud_init '! echo more 2>/dev/null >>"$3" || touch changed
        ! echo more 2>/dev/null >"$3" || touch changed
        ! echo more 2>/dev/null >&"${3##*/}" || touch changed'
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >schema.xml
    finds schema.xml
    [[ $(cat read) = '#cloud-config' && ! -e changed ]]
}

@test "root has an installed cloud-init run as nobody, without root's environment" {
    [[ $EUID -eq 0 ]] || skip 'needs root'
    installs_cloud_init 'grep -E "^(Uid|Gid|CapPrm|NoNewPrivs):" /proc/self/status >status
        printenv >environment'
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >schema.xml
    TOKEN=hunter2 finds schema.xml
    diff status - <<END
Uid:	65534	65534	65534	65534
Gid:	65534	65534	65534	65534
CapPrm:	0000000000000000
NoNewPrivs:	1
END
    run ! grep TOKEN environment
}

# bats test_tags=native
@test "a cloud-init whose end cannot be waited for is not waited for" {
    local fault=$top_builddir/tests/hostile/fault

    "$fault" fcntl 1 EMFILE true || [[ $? -ne 77 ]] || skip 'no process may be traced here'
    installs_cloud_init 'exit 0'
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >schema.xml
    run -0 timeout 20 "$fault" own:pidfd_open 1 EMFILE virt-seed --root="$root" check schema.xml
    assert_said "the host's cloud-init could not check it"
}

# bats test_tags=native
@test "root does not run a cloud-init that nobody can reach" {
    [[ $EUID -eq 0 ]] || skip 'needs root'
    installs_cloud_init ''
    mkdir tools
    ln -s "$(type -P virt-seed)" "$(type -P setpriv)" "$(type -P env)" tools
    chmod go-rwx bin
    wired_xml '<ci:user-data>#cloud-config</ci:user-data>' >schema.xml
    PATH=$PWD/bin:$PWD/tools run -0 check schema.xml
    assert_said 'no problems found'
    [[ ! -e called ]]
}

# checks_schema ARGUMENT...: check, on a host without cloud-init.
checks_schema() {
    mkdir -p bin
    ln -sf "$(type -P virt-seed)" bin/virt-seed
    PATH=$PWD/bin virt-seed --root="$root" check "$@"
}

# The line in which it is found, what is found, and the document.
@test "without cloud-init, check knows what cloud-init's schema says of a document" {
    local line said document

    while IFS='|' read -r line said document; do
        printf '<ci:user-data>#cloud-config\n%b\n</ci:user-data>' "$document" >element
        wired_xml "$(cat element)" >schema.xml
        run -0 checks_schema --json schema.xml
        jq -e --arg said ": line $line: $said" '.schema == "checked" and
            any(.findings[].message; contains($said))' <<<"$output" || {
            echo "not found in '$document': $said"
            false
        }
    done <<'END'
2|'pakages' is an unknown key (did you mean 'packages'?), by the schema of cloud-init |pakages: [a]
3|'hostnme' is an unknown key (did you mean 'hostname'?)|# a\nhostnme: a
2|'users' is a mapping, whose keys cloud-init takes for the users' names|users: {name: bob}
2|'users' is empty, but must be a mapping or a list or text|users:
4|'users.*.shel' is an unknown key (did you mean 'shell'?)|users:\n- name: bob\n  shel: /bin/sh
3|'write_files.*' lacks the key 'path'|write_files:\n- content: a
2|'runcmd' is text, but must be a list|runcmd: text
2|'runcmd.*' is a mapping, but must be a list or text or empty|runcmd: [{a: b}]
3|'chpasswd.users.*.pasword' is an unknown key (did you mean 'password'?)|chpasswd:\n  users: [{name: a, pasword: b}]
2|'power_state.mode' must be one of ["poweroff", "reboot", "halt"]|power_state: {mode: restart}
2|'ntp.servers' has an item more than once|ntp: {servers: [a, a]}
2|'runcmd' has fewer entries than 1|runcmd: []
3|'pakages' is an unknown key|password: hunter2\npakages: [a]
END
    [[ $(jq '[.findings[] | select(.id == "inline-secret")] | length' <<<"$output") = 1 ]]
    run ! grep hunter2 <<<"$output"
    run -0 checks_schema --no-schema --json schema.xml
    [[ $(jq -r .schema <<<"$output") = unused ]]
}

@test "without cloud-init, check finds nothing in documents that its schema allows" {
    local document

    while IFS= read -r document; do
        printf '<ci:user-data>#cloud-config\n%b\n</ci:user-data>' "$document" >element
        wired_xml "$(cat element)" >schema.xml
        run -0 checks_schema schema.xml
        [[ $output = "domain 'web1': no problems found" ]]
    done <<'END'
locale: false
users: [default, {name: bob}]
users: []
write_files: [{path: /a, content: !!binary "/w=="}]
runcmd: [[a, b], c, null]
package_update: true
END
    wired_xml >schema.xml
    run -0 checks_schema --json schema.xml
    [[ $(jq -r .schema <<<"$output") = unused ]]
}

@test "without cloud-init, check knows the schema of network-config version 1" {
    wired_xml "<ci:network-config>network:
  version: 1
  config:
  - {type: physical, name: eth0, subnts: []}
</ci:network-config>" >schema.xml
    run -0 checks_schema schema.xml
    assert_said "line 4: 'config.*.subnts' is an unknown key (did you mean 'subnets'?)"
    wired_xml '<ci:network-config>{version: 2, ethernets: {eth0: {netplan-only: true}}}</ci:network-config>' \
        >schema.xml
    run -0 checks_schema schema.xml
    assert_said 'no problems found'
}

@test "check says which documents the schema was not applied to" {
    wired_xml '<ci:user-data>## template: jinja
#cloud-config
hostnme: a</ci:user-data>' >schema.xml
    run -0 checks_schema schema.xml
    assert_said 'note: <user-data> was not checked by the schema: it is a template'
    run -0 checks_schema --json schema.xml
    [[ $(jq -r .schema <<<"$output") = skipped ]]
    # The template is a finding of its own.
    run -0 virt-seed --quiet --root="$root" check schema.xml
    [[ $output != *note:* ]]
}

@test "the schema shows nothing of a secret" {
    make_secret web1 userdata $'#cloud-config\nhunter2: [hunter2]\nruncmd: hunter2'
    wired_xml '<ci:user-data secret="web1"/>' >secret.xml
    run -0 checks_schema secret.xml
    assert_said "line 2: '*' is an unknown key" "line 3: '*' is text, but must be a list"
    run ! grep hunter2 <<<"$output"
}

@test "check --strict fails if there is a warning" {
    wired_xml '<ci:user-data>#cloud-config
password: hunter2
</ci:user-data>' >warning.xml
    run -0 check warning.xml
    run -1 check --strict warning.xml
    wired_xml >good.xml
    run -0 check --strict good.xml
}

# says_of_it TEXT...: what check says, with the schema, of a wired domain with the content of standard input.
says_of_it() {
    wired_xml "$(cat)" >domain.xml
    run virt-seed --root="$root" check domain.xml
    assert_said "$@"
}

@test "check looks at the value that counts if a key or a document is repeated" {
    says_of_it "line 5: 'apt.sources' is an integer" "line 9: 'write_files.*.conten' is an unknown key" <<'END'
<ci:user-data>#cloud-config
apt:
  - 1
apt:
  sources: 5
write_files: [{path: /a}]
write_files:
  - path: /b
    conten: x
</ci:user-data>
END
    says_of_it "<user-data>: line 2: 'hostname' differs from <hostname>, and wins" <<'END'
<ci:hostname>web</ci:hostname><ci:user-data>#cloud-config
hostname: other
</ci:user-data><ci:initialization><ci:custom_script>hostname: web</ci:custom_script></ci:initialization>
END
    says_of_it 'no problems found' <<'END'
<ci:hostname>web</ci:hostname><ci:user-data>#cloud-config
hostname: web
</ci:user-data><ci:initialization><ci:custom_script>hostname: other</ci:custom_script></ci:initialization>
END
}

@test "a script without its header is a cloud-config, whatever words it has" {
    says_of_it 'no problems found' <<'END'
<ci:initialization><ci:custom_script>write_files:
  - path: /tmp/mail
    content: |
      MIME-Version: 1.0 ä
</ci:custom_script></ci:initialization>
END
    virt-seed --root="$root" dump domain.xml user-data >out
    [[ $(sed -e '1,/^Content-Transfer-Encoding: base64/d' -e '/^--/d' out | base64 -d) = '#cloud-config'* ]]
    says_of_it 'hostnme' <<'END'
<ci:initialization><ci:custom_script>hostnme: "MIME-Version: 1.0"</ci:custom_script></ci:initialization>
END
}

@test "what the guest would drop as unreadable is said" {
    says_of_it 'is not a JSON patch, so cloud-init drops it' <<'END'
<ci:user-data>#cloud-config-jsonp
[ { op: add, broken
</ci:user-data>
END
    says_of_it 'line 3: a date or time does not exist' <<'END'
<ci:user-data>#cloud-config
x-a: 2001-12-14 21:59:43 -23:59
x-b: 2001-12-14 21:59:43 +24:00
</ci:user-data>
END
}

@test "a domain without a request is told the command that gives it one, as it was named" {
    local command

    domain_xml | sed '/<metadata>/,/<\/metadata>/d' >'web 1.xml'
    for command in check dump wire; do
        run -1 virt-seed "$command" './web 1.xml'
        assert_said "virt-seed set './web 1.xml' --ssh-key=FILE --user-data=FILE"
        [[ $output != *xmlns* ]]
        run -1 virt-seed "$command" - <'web 1.xml'
        assert_said 'virt-seed set web1 --ssh-key=FILE --user-data=FILE'
    done
}

@test "a finding about a document has the line of its text in the element" {
    local found

    mkdir -p "$root$confdir/files"
    printf '#cloud-config\n\nlocale: 5\n' >"$root$confdir/files/vendor.yaml"
    wired_xml "<ci:user-data>

#cloud-config
locale: 5
</ci:user-data>
<ci:user-data encoding='base64'>$(printf '#cloud-config\ntimezone: 5\n' | base64)</ci:user-data>
<ci:user-data>Content-Type: multipart/mixed; boundary=X
MIME-Version: 1.0

--X
Content-Type: text/cloud-config

locale: 5
--X--
</ci:user-data>
<ci:vendor-data file='vendor.yaml'/>
<ci:network-config>version: 2
ethernets: [
</ci:network-config>" >parts.xml
    run -1 check --no-schema --json parts.xml
    diff - <(jq -c '.findings[] | select(.part) | [.id, .part, ."part-index", ."part-line"]' <<<"$output" | sort) <<'END'
["yaml","network-config",0,3]
["yaml-value","user-data",0,4]
["yaml-value","user-data",1,2]
["yaml-value","user-data",2,null]
["yaml-value","vendor-data",0,3]
END
    found=$(jq '.findings[] | select(."part-line" == 4) | .line' <<<"$output")
    [[ $(sed -n "${found}p" parts.xml) = *'<ci:user-data>'* ]]
}
