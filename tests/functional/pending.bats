#!/usr/bin/env bats
# pending.bats: what 'virt-seed pending' says about the next start.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

cloud_config='<ci:user-data>#cloud-config
timezone: Etc/UTC
locale: C.UTF-8
</ci:user-data>'

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    record=$root$statedir/$uuid.json
}

# wired [REQUEST]: a definition whose seed contains only what it asks for.
wired() {
    domain_xml "$@" | sed -e "s/<ci:cloud-init /&report='no' ${attributes-} /" \
        -e "s|</devices>|${devices-}&|" | virt-seed --quiet --root="$root" wire -
}

# start [REQUEST]: starts the domain with it.
start() {
    wired "$@" >start.xml
    hook-in-root --root="$root" web1 prepare begin - <start.xml
    hook-in-root --root="$root" web1 started begin - <start.xml
}

# stop: ends the domain.
stop() {
    hook-in-root --root="$root" web1 release end - <start.xml
}

# pending [OPTION…] REQUEST: what pending says about a definition with that request.
pending() {
    wired "${@: -1}" >next.xml
    virt-seed --root="$root" pending "${@:1:$#-1}" ./next.xml
}

# --- documents --------------------------------------------------------------------------------

# bats test_tags=native
@test "an unchanged domain has no pending changes" {
    start "$cloud_config"
    run -0 pending "$cloud_config"
    [[ $output = "meta-data: unchanged
user-data: unchanged
instance-id: $uuid
the next start is the same instance, and changes nothing for cloud-init" ]]
    # Also with only the record.
    stop
    run -0 pending "$cloud_config"
    assert_said 'user-data: unchanged' 'changes nothing'
}

@test "compares text line by line while the domain runs" {
    start "$cloud_config<ci:vendor-data>#!/bin/sh</ci:vendor-data>"
    run -0 pending --show-secrets "${cloud_config/Etc\/UTC/Europe\/Rome}<ci:network-config>version: 2
</ci:network-config>"
    diff - <(sed '/^instance-id/,$d' <<<"$output") <<'END'
meta-data: unchanged
user-data: changed, 48 bytes, then 52
--- last boot/user-data
+++ next start/user-data
@@ -1,3 +1,3 @@
 #cloud-config
-timezone: Etc/UTC
+timezone: Europe/Rome
 locale: C.UTF-8
network-config: new, 11 bytes
vendor-data: gone, 9 bytes
END
}

# bats test_tags=native
@test "lists what has changed if the domain does not run" {
    start "$cloud_config"
    stop
    run -0 pending --show-secrets "${cloud_config/UTC/GMT}"
    assert_said 'user-data: changed, 48 bytes (the previous version was not kept)'
}

@test "prints the size of a document that is not text" {
    start "$cloud_config"
    run -0 pending --show-secrets "<ci:user-data encoding='base64'>$(printf '#!/bin/sh\n\1' |
        gzip -n | base64 -w0)</ci:user-data>"
    assert_said '(not text)'
    [[ $output != *'@@'* ]]
}

@test "changes cannot control a terminal" {
    start '<ci:user-data>#cloud-config</ci:user-data>'
    run -0 pending --show-secrets $'<ci:user-data>#!/bin/sh\n# \u009b2J \u202eexe\n</ci:user-data>'
    assert_said '# ?'
    [[ $output != *$'\u009b'* ]]
    [[ $output != *$'\u202e'* && $output = *'?exe'* ]]
}

# bats test_tags=native
@test "does not compare with a seed that was replaced since the start" {
    start "$cloud_config"
    wired "${cloud_config/UTC/GMT}" >other.xml
    virt-seed --quiet build --force -o "$seeds/$uuid.iso" other.xml
    run -0 pending --show-secrets "${cloud_config/UTC/GMT}"
    assert_said 'user-data: changed, 48 bytes (the previous version was not kept)' \
        'the seed in its drive has been replaced'
}

@test "compares a ConfigDrive's documents like any other" {
    attributes='datasource="configdrive"' start
    run -0 virt-seed --root="$root" pending ./start.xml
    assert_said 'openstack/latest/meta_data.json: unchanged' 'the same instance'
    run -0 pending ''
    assert_said 'openstack/latest/meta_data.json: gone' 'meta-data: new' 'a first boot'
}

@test "compares served documents like those on a disk" {
    export devices="<interface type='user'><mac address='52:54:00:00:00:01'/></interface>"
    export attributes="datasource='nocloud-net'"

    make_server
    start "$cloud_config"
    run -0 pending --show-secrets "${cloud_config/Etc\/UTC/Europe\/Rome}"
    assert_said 'user-data: changed, 48 bytes, then 52' '-timezone: Etc/UTC' \
        '+timezone: Europe/Rome' 'the same instance'
    # The seed has been replaced since.
    cp "$seeds/imds/$uuid/meta-data" "$seeds/imds/$uuid/user-data"
    run -0 pending --show-secrets "$cloud_config"
    assert_said 'user-data: unchanged' 'the seed at its URL has been replaced since it was started'
    stop
    run -0 pending "$cloud_config"
    assert_said 'changes nothing'
}

@test "finds the disk for a caller who may not read served documents" {
    install -d -m 0711 "$seeds"
    install -d -m 0700 "$seeds/imds"
    start "$cloud_config"
    become_nobody
    wired "$cloud_config" >next.xml
    chmod go+rx "$root" "$root$confdir"
    chmod 0755 "$root$statedir"
    chmod 0644 "$record" "$seeds/$uuid.iso"
    run -0 "${as_nobody[@]}" "$(type -P virt-seed)" --root="$root" pending ./next.xml
    assert_said 'changes nothing'
    stop
    rm "$record"
    run -0 "${as_nobody[@]}" "$(type -P virt-seed)" --root="$root" pending ./next.xml
    assert_said 'no boot of the domain is recorded'
}

# --- the instance -----------------------------------------------------------------------------

@test "says that the next start may be the first if there is no record" {
    run -0 pending "$cloud_config"
    assert_said 'user-data: new, 48 bytes' "instance-id: $uuid" \
        'a first boot for cloud-init, unless its disk has booted'
}

# bats test_tags=native
@test "says that a change in the same instance is ignored, and how to apply it" {
    start "$cloud_config"
    stop
    run -0 pending "${cloud_config/UTC/GMT}"
    assert_said 'the same instance: of what changed, cloud-init takes the host name' \
        'is ignored until the instance-id changes' 'virt-seed set ./next.xml --instance-id=NEW' \
        'virt-seed set ./next.xml --instance-id-policy=content'
}

# bats test_tags=native
@test "says that another instance-id means a first boot, and how to avoid it" {
    start "$cloud_config"
    stop
    run -0 pending "$cloud_config<ci:instance-id policy='fixed'>second</ci:instance-id>"
    assert_said "instance-id: second, at the last boot $uuid" 'a first boot for cloud-init: ' \
        'new ssh host keys are made' "virt-seed set ./next.xml --instance-id=$uuid"
    # It does.
    virt-seed set ./next.xml --instance-id="$uuid" >kept.xml
    run -0 virt-seed --root="$root" pending ./kept.xml
    assert_said 'changes nothing'
}

# bats test_tags=native
@test "a ConfigDrive's instance-id can be kept by its uuid" {
    local drive='datasource="configdrive"' was

    attributes=$drive start "$cloud_config"
    stop
    was=$(jq -r '.boot["instance-id"]' "$record")
    attributes=$drive run -0 pending "$cloud_config<ci:instance-id policy='fixed'>second</ci:instance-id>"
    assert_said "instance-id: second, at the last boot $was" "virt-seed set ./next.xml --instance-id=$was"
    virt-seed set ./next.xml --instance-id="$was" >kept.xml
    run -0 virt-seed --root="$root" pending ./kept.xml
    assert_said 'changes nothing'
}

# bats test_tags=native
@test "policy=content turns a change into a first boot" {
    start "$cloud_config<ci:instance-id policy='content'/>"
    stop
    run -0 pending "$cloud_config<ci:instance-id policy='content'/>"
    assert_said 'changes nothing'
    run -0 pending "${cloud_config/UTC/GMT}<ci:instance-id policy='content'/>"
    assert_said 'a first boot for cloud-init: '
}

# bats test_tags=native
@test "a guest with cache=\"keep\" is the same instance at every start" {
    attributes='cache="keep"' start "$cloud_config"
    attributes='cache="keep"' run -0 pending "$cloud_config<ci:instance-id policy='fixed'>second</ci:instance-id>"
    assert_said 'meta-data: changed' 'instance-id: second' "the same instance, whatever has changed" \
        "until 'cloud-init clean' is run in it"
    [[ $output != *'a first boot'* && $output != *'hint:'* ]]
    # Also if the seed no longer says so: the guest does not read it.
    run -0 pending "$cloud_config"
    assert_said 'the same instance, whatever has changed'
    stop
    start "$cloud_config"
    stop
    run -0 pending --json "$cloud_config<ci:instance-id policy='fixed'>second</ci:instance-id>"
    [[ $(jq -r .boot <<<"$output") = kept ]]
}

# bats test_tags=native
@test "a guest with cache=\"keep\" stays so if a state from before its last boot is restored" {
    attributes='cache="keep"' start "$cloud_config"
    hook-in-root --root="$root" web1 release end shutdown <start.xml
    hook-in-root --root="$root" web1 restore begin - <start.xml
    start "$cloud_config"
    # The record says nothing about that boot.
    [[ $(jq .boot "$record") = null ]]
    stop
    start "$cloud_config"
    run -0 pending --json "$cloud_config<ci:instance-id policy='fixed'>second</ci:instance-id>"
    [[ $(jq -r .boot <<<"$output") = kept ]]
}

# bats test_tags=native
@test "a guest newly set to cache=\"keep\" still reads the next seed" {
    start "$cloud_config"
    stop
    attributes='cache="keep"' run -0 pending "$cloud_config<ci:instance-id policy='fixed'>second</ci:instance-id>"
    assert_said 'a first boot for cloud-init: '
}

@test "treats a generated host key as a secret, whether it exists or not" {
    attributes='ssh-host-keys="generate"' wired >next.xml
    run -0 virt-seed --root="$root" pending ./next.xml
    assert_said 'user-data: new'
    [[ ! -e $root$statedir ]]
    hook-in-root --root="$root" web1 prepare begin - <next.xml
    hook-in-root --root="$root" web1 started begin - <next.xml
    run -0 virt-seed --root="$root" pending ./next.xml
    assert_said 'changes nothing'
    run -0 pending ''
    assert_said 'user-data: changed'
    [[ $output != *KEY* ]]
}

@test "says what boots=until-done will do at the next start" {
    attributes='boots="until-done"' wired "$cloud_config" >next.xml
    virt-seed --root="$root" --quiet 'done' ./next.xml
    run -0 virt-seed --root="$root" pending ./next.xml
    assert_said 'it is recorded as done' "'virt-seed done --undo'"
    [[ $output != *'48 bytes'* ]]
}

@test "says that wiring is missing" {
    domain_xml >unwired.xml
    run -0 virt-seed --root="$root" pending ./unwired.xml
    assert_said "wiring: cdrom 'sda' added" 'a start is refused until it is wired'
}

# --- secrets ----------------------------------------------------------------------------------

@test "shows a document with a secret only if asked" {
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    start '<ci:user-data secret="web1"/>'
    make_secret web1 userdata $'#cloud-config\npassword: hunter3\n'
    run -0 pending '<ci:user-data secret="web1"/>'
    assert_said 'user-data: changed' 'contains secrets, or may; not shown'
    run -0 pending --json '<ci:user-data secret="web1"/>'
    [[ $output != *hunter* ]]
    [[ $(jq -r '.documents[] | select(.path == "user-data") | .state, .secret' <<<"$output") = \
        $'changed\ntrue' ]]
    # Nor of its old content, once the request no longer names the secret.
    run -0 pending '<ci:user-data>#cloud-config</ci:user-data>'
    [[ $output != *hunter* ]]

    run -0 pending --show-secrets '<ci:user-data secret="web1"/>'
    assert_said '-password: hunter2' '+password: hunter3'
}

@test "says that it did not compare what the caller may not read" {
    make_secret web1 userdata '#cloud-config'
    start '<ci:user-data secret="web1"/>'
    become_nobody
    wired '<ci:user-data secret="web1"/>' >next.xml
    chmod go+rx "$root" "$root$confdir"
    chmod 0755 "$root$statedir" || :
    if [[ $EUID -ne 0 ]]; then
        chmod 0 "$root$confdir/secrets" "$record" "$seeds/$uuid.iso"
    fi
    run -1 "${as_nobody[@]}" "$(type -P virt-seed)" --root="$root" pending ./next.xml
    chmod 0700 "$root$confdir/secrets"
    assert_said 'user-data: unknown' 'whether the next start is a first boot' 'is not known' \
        'not all could be compared'
}

@test "does not know an instance-id that depends on an unreadable secret" {
    local request='<ci:instance-id policy="content"/><ci:user-data secret="web1"/>'

    make_secret web1 userdata '#cloud-config'
    start "$request"
    become_nobody
    wired "$request" >next.xml
    chmod go+rx "$root" "$root$confdir"
    chmod 0644 "$record"
    if [[ $EUID -ne 0 ]]; then
        chmod 0 "$root$confdir/secrets"
    fi
    run -1 "${as_nobody[@]}" "$(type -P virt-seed)" --root="$root" pending ./next.xml
    chmod 0700 "$root$confdir/secrets"
    assert_said 'meta-data: unknown' 'user-data: unknown' 'is not known'
    run -0 virt-seed --root="$root" pending ./next.xml
    assert_said 'changes nothing'
}

# --- JSON -------------------------------------------------------------------------------------

@test "--json prints everything" {
    start "$cloud_config"
    run -0 pending --json --show-secrets "${cloud_config/UTC/GMT}"
    [[ $(jq -c 'del(.documents[].diff)' <<<"$output") = "$(jq -c . <<END
{"version": 1, "domain": "web1", "boot": "same-instance", "instance-id": "$uuid", "last-instance-id": "$uuid",
 "documents": [
   {"path": "meta-data", "state": "unchanged", "secret": true, "size-before": 88, "size": 88},
   {"path": "user-data", "state": "changed", "secret": true, "size-before": 48, "size": 48}],
 "wiring": [], "running": false, "saved": false, "done": false, "replaced": false, "denied": null,
 "guest-says": null}
END
)" ]]
    [[ $(jq -r '.documents[1].diff' <<<"$output") = *'+timezone: Etc/GMT'* ]]
}

@test "--exit-code is 3 if the next start changes anything, and 0 if nothing" {
    run -3 pending --exit-code "$cloud_config"
    start "$cloud_config"
    run -0 pending --exit-code "$cloud_config"
    run -3 pending --exit-code '<ci:user-data>#cloud-config</ci:user-data>'
    run -0 pending '<ci:user-data>#cloud-config</ci:user-data>'
    run -3 pending --exit-code "$cloud_config<ci:instance-id policy='fixed'>other</ci:instance-id>"
    domain_xml "$cloud_config" | sed "s/<ci:cloud-init /&report='no' /" >unwired.xml
    run -3 virt-seed --root="$root" pending --exit-code ./unwired.xml
}
