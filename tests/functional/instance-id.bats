#!/usr/bin/env bats
# instance-id.bats: policy="content", which changes give a guest a new instance-id, and which do not.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx'

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    datasource=nocloud
    covers=''
    filter=(cat)
}

# id REQUEST: prints the instance-id of the domain that asks so, under policy="content".
id() {
    domain_xml "<ci:instance-id policy='content' $covers/>$1" |
        sed "s/<ci:cloud-init /&datasource='$datasource' /" | "${filter[@]}" >in.xml
    virt-seed --root="$root" dump --show-secrets in.xml "$(meta_data)" |
        jq -r '.["instance-id"] // .uuid'
}

meta_data() {
    [[ $datasource = nocloud ]] && echo meta-data || echo openstack/latest/meta_data.json
}

# differ REQUEST OTHER, same REQUEST OTHER: whether the two requests give another instance.
differ() {
    local one other

    one=$(id "$1")
    other=$(id "$2")
    echo "$one, $other"
    [[ -n $one && -n $other && $one != "$other" ]]
}

same() {
    local one other

    one=$(id "$1")
    other=$(id "$2")
    echo "$one, $other"
    [[ -n $one && $one = "$other" ]]
}

# for_each_datasource FUNCTION
for_each_datasource() {
    for datasource in nocloud configdrive; do
        echo "$datasource"
        if [[ $datasource = configdrive ]]; then
            network=${network/'"ethernets": {}'/'"links": [], "networks": [], "services": []'}
        fi
        "$@" || return
    done
}

user_data='<ci:user-data>#!/bin/sh</ci:user-data>'
vendor_data='<ci:vendor-data>#!/bin/sh</ci:vendor-data>'
network='<ci:network-config>{"version": 2, "ethernets": {}}</ci:network-config>'
meta='<ci:meta-data><ci:entry name="role">db</ci:entry></ci:meta-data>'
file='<ci:initialization><ci:files><ci:file><ci:name>/etc/app</ci:name><ci:content>1</ci:content></ci:file></ci:files></ci:initialization>'

@test "the instance-id is the UUID and 16 digits of a digest" {
    [[ $(id "$user_data") =~ ^$uuid-[0-9a-f]{16}$ ]]
}

@test "every change of covered content changes the instance-id" {
    each_counts() {
        local request

        for request in "$user_data" "$vendor_data" "$network" "$meta" "$file" \
            '<ci:hostname>other</ci:hostname>' '<ci:instance-type>large</ci:instance-type>' \
            '<ci:initialization><ci:timezone>UTC</ci:timezone></ci:initialization>'; do
            differ '' "$request" || return
        done
        differ "$user_data" "${user_data/sh</sh -x<}" && differ "$file" "${file/>1</>2<}" &&
            differ "$file" "${file/app/other}" && differ "$user_data" "$user_data$user_data" &&
            differ "$user_data" "$vendor_data" && differ "$meta" "${meta/db/web}"
    }
    for_each_datasource each_counts
}

@test "renaming the domain changes its host name and thus the instance-id" {
    before=$(id '')
    filter=(sed "s/>web1</>web2</")
    [[ $(id '') != "$before" ]]
}

@test "moving text from one document to the next changes the instance-id" {
    differ '<ci:user-data>#!/bin/a</ci:user-data><ci:user-data>#!/bin/b</ci:user-data>' \
        '<ci:user-data>#!/bin/a#!/bin/b</ci:user-data>'
}

@test "ssh keys do not change the instance-id" {
    keys_do_not_count() {
        make_secret keys alice "$key alice"
        same "$user_data" "$user_data<ci:ssh-authorized-keys><ci:key>$key</ci:key></ci:ssh-authorized-keys>" &&
            same "$user_data" "$user_data<ci:ssh-authorized-keys secret='keys'/>"
    }
    for_each_datasource keys_do_not_count
}

@test "the host's vendor-data does not change the instance-id, the domain's own does" {
    host_does_not_count() {
        local before beside

        rm -f "$root$confdir/virt-seed.conf"
        before=$(id "$user_data")
        beside=$(id "$user_data$vendor_data")
        echo 'vendor-data = base' >"$root$confdir/virt-seed.conf"
        mkdir -p "$root$confdir/files"
        echo '#!/bin/true' >"$root$confdir/files/base"
        [[ $(id "$user_data") = "$before" && $(id "$user_data$vendor_data") = "$beside" &&
            $before != "$beside" ]]
    }
    for_each_datasource host_does_not_count
}

@test "the reporter does not change the instance-id" {
    reporter_does_not_count() {
        local with

        filter=(cat)
        with=$(id "$user_data$vendor_data")
        filter=(sed "s/<ci:cloud-init /&report='no' /")
        [[ $(id "$user_data$vendor_data") = "$with" ]]
        run ! grep -q virt-seed.report <(virt-seed dump in.xml)
    }
    for_each_datasource reporter_does_not_count
}

@test "a device's tag and address do not change the instance-id" {
    local disk="<target dev='vda' bus='virtio'/>"

    datasource=configdrive
    before=$(id "$user_data")
    filter=(sed "s|$disk|$disk<alias name='ua-data'/>|")
    [[ $(id "$user_data") = "$before" ]]
    virt-seed dump in.xml "$(meta_data)" | grep -q data
}

@test "covers= selects what changes the instance-id, in any order" {
    local covered changed

    each_word() {
        local -A request=([user-data]=$user_data [vendor-data]=$vendor_data
            [network-config]=$network [meta-data]=$meta)

        for covered in "${!request[@]}"; do
            covers="covers='$covered'"
            for changed in "${!request[@]}"; do
                if [[ $changed = "$covered" ]]; then
                    differ '' "${request[$changed]}" || return
                else
                    same '' "${request[$changed]}" || return
                fi
            done
        done
        covers='covers="user-data"'
        differ '' "$file" || return
        covers='covers="vendor-data meta-data network-config"'
        same '' "$file"
    }
    for_each_datasource each_word
    datasource=nocloud
    covers=''
    all=$(id "$user_data$meta")
    covers='covers=" meta-data  vendor-data network-config user-data "'
    [[ $(id "$user_data$meta") = "$all" ]]
}

@test "a secret's content changes the instance-id, wherever it is used" {
    make_secret web1 userdata '#!/bin/sh'
    same "$user_data" '<ci:user-data secret="web1"/>'
    before=$(id '<ci:user-data secret="web1"/>')
    make_secret web1 userdata '#!/bin/true'
    [[ $(id '<ci:user-data secret="web1"/>') != "$before" ]]
}

@test "a clone is a new instance" {
    before=$(id "$user_data")
    filter=(sed "s/$uuid/$other_uuid/")
    after=$(id "$user_data")
    [[ $after = "$other_uuid-${before##*-}" ]]
}

@test "prints no instance-id without access to a secret that it covers" {
    make_secret web1 userdata '#!/bin/sh'
    chmod 755 "$root" "$root$confdir"
    domain_xml '<ci:instance-id policy="content"/><ci:user-data secret="web1"/>' >in.xml
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || chmod 000 "$root$confdir/secrets"
    run -1 "${as_nobody[@]}" virt-seed --root="$root" dump - meta-data <in.xml
    assert_said '"instance-id": "<depends on secrets>"' 'no permission to read '
    chmod 700 "$root$confdir/secrets"
}

@test "the hook's seed has the instance-id that dump prints" {
    expected=$(id "$user_data$vendor_data$network$meta")
    virt-seed --quiet wire - <in.xml >wired.xml
    hook-in-root --root="$root" web1 prepare begin - <wired.xml
    run -0 virt-seed inspect "$root$rundir/$uuid.iso"
    assert_said "instance-id $expected"
}
