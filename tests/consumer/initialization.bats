#!/usr/bin/env bats
# initialization.bats: oVirt's <initialization>, as cloud-init understands what is made of it.
# shellcheck disable=SC2016  # what looks like a shell's variable is the document's

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# initialize DATASOURCE BODY [MORE]: MORE are elements next to <initialization>.
initialize() {
    consume_request "<ci:initialization>$2</ci:initialization>${3-}" "datasource='$1'"
}

@test "sets host name, time zone and locale" {
    for datasource in nocloud configdrive; do
        initialize "$datasource" '<ci:host_name>web2.example.org</ci:host_name>
            <ci:timezone>Asia/Jerusalem</ci:timezone><ci:locale>he_IL.UTF-8</ci:locale>'
        understood_text .fqdn web2.example.org
        understood .config '{"timezone": "Asia/Jerusalem", "locale": "he_IL.UTF-8"}'
        no_complaint
    done
}

@test "sets passwords exactly, as text and as hashes" {
    make_secret web1 root $'p: "ä" # \\ %\n'
    for datasource in nocloud configdrive; do
        initialize "$datasource" '<ci:root_password secret="web1" key="root"/>
            <ci:users><ci:user><ci:user_name>alice</ci:user_name>
            <ci:password>$6$salt$hash</ci:password></ci:user><ci:user>
            <ci:user_name>bob</ci:user_name><ci:password>010</ci:password></ci:user></ci:users>'
        understood .config.chpasswd "$(jq -n '{expire: false, users: [
            {name: "root", password: "p: \"ä\" # \\ %", type: "text"},
            {name: "alice", password: "$6$salt$hash", type: "hash"},
            {name: "bob", password: "010", type: "text"}]}')"
        understood '.users | keys' '["alice", "bob", "debian", "root"]'
        understood '.users.debian.default' true
        # Versions before 22.2 do not know chpasswd's "users".
        understood_text .users.root.plain_text_passwd $'p: "ä" # \\ %'
        understood_text .users.alice.hashed_passwd '$6$salt$hash'
        understood_text .users.bob.plain_text_passwd 010
        understood '[.users | .root, .alice, .bob | .lock_passwd]' '[false, false, false]'
        no_complaint
    done
}

@test "authorized keys belong to the default user or to the users they name" {
    for datasource in nocloud configdrive; do
        initialize "$datasource" "<ci:user_name>admin</ci:user_name>
            <ci:users><ci:user><ci:user_name>alice</ci:user_name></ci:user></ci:users>
            <ci:authorized_ssh_keys>$key one
$key two</ci:authorized_ssh_keys>
            <ci:authorized_keys><ci:authorized_key><ci:user><ci:user_name>alice</ci:user_name>
            </ci:user><ci:key>$key alice</ci:key></ci:authorized_key></ci:authorized_keys>"
        understood '.["public-keys"]' "[\"$key one\", \"$key two\"]"
        understood '.users | map_values(.default)' '{"admin": true, "alice": false}'
        understood '.users.alice.ssh_authorized_keys' "[\"$key alice\"]"
        no_complaint
    done
}

@test "root can log in with root's keys" {
    for datasource in nocloud configdrive; do
        initialize "$datasource" "<ci:authorized_keys><ci:authorized_key><ci:user>
            <ci:user_name>root</ci:user_name></ci:user><ci:key>$key</ci:key>
            </ci:authorized_key></ci:authorized_keys>"
        understood '.["public-keys"]' "[\"$key\"]"
        understood .config.disable_root false
        no_complaint
    done
}

@test "writes files from text, base64 and a secret, byte for byte" {
    make_secret web1 token $'\x01\xfe\n'
    for datasource in nocloud configdrive; do
        initialize "$datasource" '<ci:files><ci:file><ci:name>/etc/motd</ci:name>
            <ci:content>Grüße &amp;
  ${x} {{ y }}
</ci:content><ci:type>PLAINTEXT</ci:type></ci:file>
            <ci:file><ci:name>/srv/a b</ci:name><ci:content>AP8K</ci:content>
            <ci:type>BASE64</ci:type></ci:file>
            <ci:file><ci:name>/srv/token</ci:name><ci:content secret="web1" key="token"/></ci:file>
            </ci:files>'
        understood '.files | map_values(.content)' '{
            "/etc/motd": "Grüße &\n  ${x} {{ y }}\n", "/srv/a b": {"base64": "AP8K"},
            "/srv/token": {"base64": "Af4K"}}'
        no_complaint
    done
}

@test "the user's own configuration takes precedence over the custom script" {
    for datasource in nocloud configdrive; do
        initialize "$datasource" '<ci:timezone>Asia/Jerusalem</ci:timezone>
            <ci:files><ci:file><ci:name>/etc/one</ci:name><ci:content>1</ci:content></ci:file>
            </ci:files>
            <ci:custom_script>timezone: UTC
runcmd: [script]
write_files: [{path: /etc/two, content: "2"}]
</ci:custom_script>' '<ci:user-data>#cloud-config
locale: C.UTF-8
runcmd: [user]
</ci:user-data>'
        understood '.config | {timezone, locale, runcmd}' \
            '{"timezone": "UTC", "locale": "C.UTF-8", "runcmd": ["user"]}'
        understood '.files | map_values(.content)' '{"/etc/one": "1", "/etc/two": "2"}'
        no_complaint
    done
}

@test "makes new host keys, keeps them, or uses the user's" {
    local given=$top_srcdir/tests/golden/dump/ssh-host-keys-shown/etc/secrets/web1

    make_secret keys ssh_host_ed25519_key "$(<"$given/ssh_host_ed25519_key")"$'\n'
    for datasource in nocloud configdrive; do
        initialize "$datasource" '<ci:regenerate_ssh_keys>true</ci:regenerate_ssh_keys>'
        understood .config '{"ssh_deletekeys": true}'
        initialize "$datasource" '<ci:regenerate_ssh_keys>false</ci:regenerate_ssh_keys>'
        understood .config '{"ssh_deletekeys": false}'
        consume_request '<ci:ssh-host-keys secret="keys"/>' "datasource='$datasource'"
        understood .config.ssh_deletekeys true
        understood_text '.config.ssh_keys.ed25519_private | rtrimstr("\n")' \
            "$(<"$given/ssh_host_ed25519_key")"
        no_complaint
    done
}

@test "the guest gets the generated host keys that known-hosts prints" {
    for datasource in nocloud configdrive; do
        consume_request '' "datasource='$datasource' ssh-host-keys='generate'"
        understood .config.ssh_deletekeys true
        understood_text .config.ssh_keys.ed25519_private \
            "$(<"$root$statedir/secrets/$uuid/ssh_host_ed25519_key")"$'\n'
        known=$(virt-seed --root="$root" known-hosts "$BATS_TEST_TMPDIR/domain.xml")
        understood_text .config.ssh_keys.ed25519_public "${known#web1 } virt-seed"$'\n'
        no_complaint
    done
}

@test "the guest phones home" {
    initialize nocloud '<ci:phone_home>http://192.0.2.1/$INSTANCE_ID</ci:phone_home>'
    understood '.config.phone_home | {url, post}' \
        '{"url": "http://192.0.2.1/$INSTANCE_ID", "post": "all"}'
    no_complaint
}

@test "configures the nics of the engine's own example" {
    for datasource in nocloud configdrive; do
        for protocol in openstack_metadata eni; do
            initialize "$datasource" "<ci:dns_search>qa.lab example.com</ci:dns_search>
                <ci:dns_servers>8.8.8.8 127.0.0.1</ci:dns_servers>
                <ci:nic_configurations><ci:nic_configuration><ci:name>eth0</ci:name>
                <ci:boot_protocol>static</ci:boot_protocol><ci:ip>
                <ci:address>192.168.2.11</ci:address><ci:netmask>255.255.255.0</ci:netmask>
                <ci:gateway>192.168.2.1</ci:gateway></ci:ip>
                <ci:ipv6_boot_protocol>static</ci:ipv6_boot_protocol><ci:ipv6>
                <ci:address>2001::1234</ci:address><ci:netmask>64</ci:netmask>
                <ci:gateway>2001::fffa</ci:gateway></ci:ipv6><ci:on_boot>true</ci:on_boot>
                </ci:nic_configuration><ci:nic_configuration><ci:name>eth1</ci:name>
                <ci:boot_protocol>dhcp</ci:boot_protocol>
                <ci:ipv6_boot_protocol>none</ci:ipv6_boot_protocol></ci:nic_configuration>
                </ci:nic_configurations>
                <ci:cloud_init_network_protocol>$protocol</ci:cloud_init_network_protocol>"
            networkd eth0 Address=192.168.2.11/24 Address=2001::1234/64 Gateway=192.168.2.1 \
                Gateway=2001::fffa
            networkd eth1 DHCP=ipv4
            sysconfig ifcfg-eth0 IPADDR=192.168.2.11 IPV6ADDR=2001::1234/64 DNS1=8.8.8.8
            eni '    address 192.168.2.11/24' 'iface eth1 inet dhcp'
            no_complaint
        done
    done
}
