#!/usr/bin/env bats
# readers.bats: what readers other than cloud-init take from a seed. Each runs from its own sources, if they
# are here:
#
#   VIRT_SEED_TINY_CLOUD=DIR  those of Alpine's tiny-cloud; they need busybox
#   VIRT_SEED_NUAGEINIT=DIR   libexec/nuageinit of FreeBSD's; it needs lua5.3, lua-posix, lua-filesystem
#                             and lua-yaml
#   VIRT_SEED_CLOUDBASE_INIT=DIR
#                             those of cloudbase-init, for Windows (cloudbase.py)

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

guest=$BATS_TEST_TMPDIR/guest # its "/"
medium=$BATS_TEST_TMPDIR/medium
programs=$BATS_TEST_TMPDIR/programs

# No cloud-init is needed.
setup_file() {
    :
}

setup() {
    case $BATS_TEST_DESCRIPTION in
    nuageinit:*) [[ -n ${VIRT_SEED_NUAGEINIT-} ]] || skip 'VIRT_SEED_NUAGEINIT is not set' ;;
    cloudbase-init:*) [[ -n ${VIRT_SEED_CLOUDBASE_INIT-} ]] || skip 'VIRT_SEED_CLOUDBASE_INIT is not set' ;;
    *) [[ -n ${VIRT_SEED_TINY_CLOUD-} ]] || skip 'VIRT_SEED_TINY_CLOUD is not set' ;;
    esac
    make_root
    mkdir -p "$guest/etc" "$programs"
    PATH=$programs:$PATH
}

# program NAME: a program of the guest's, which this host lacks; its text is on standard input.
program() {
    { echo '#!/bin/sh' && cat; } >"$programs/$1"
    chmod 755 "$programs/$1"
}

# insert OS [BODY] [ATTRIBUTES]: the guest with that id of libosinfo has the seed of such a request in its
# drive.
insert() {
    local nic="<interface type='user'><mac address='$mac0'/></interface>"
    local os="<libosinfo:libosinfo xmlns:libosinfo='http://libosinfo.org/xmlns/libvirt/domain/1.0'>"

    os+="<libosinfo:os id='http://$1'/></libosinfo:libosinfo>"
    domain_xml "${2-}" | sed -e "s|<ci:cloud-init |$os&${3-} |" -e "s|</devices>|$nic&|" |
        make_seed "$BATS_TEST_TMPDIR" --root="$root"
    rm -rf "$medium"
    xorriso -osirrox on -indev "$BATS_TEST_TMPDIR/seed.iso" -extract / "$medium" 2>/dev/null
    chmod -R u+w "$medium"
}

# has FILE LINE...: the guest's file has these lines.
has() {
    has_lines "$1" "$(cat "$guest/$1" 2>&1)" "${@:2}"
}

# lacks FILE: the guest has no such file, or an empty one.
lacks() {
    if [[ -s $guest/$1 ]]; then
        echo "$1 has:"
        cat "$guest/$1"
        return 1
    fi
}

# --- FreeBSD ----------------------------------------------------------------------------------

# nuageinit [config-2]: the guest boots, up to rc.local.
nuageinit() {
    local folder=$medium kind=${1-nocloud}

    [[ $kind == nocloud ]] || folder+=/openstack/latest
    program pw <<END
[ "\$1" = -R ] && shift 2
case \$1 in
usershow) grep "^\$2:" "$guest/etc/passwd" ;;
groupshow) echo "wheel:*:0:root" ;;
useradd)
    mkdir -p "$guest/home/\$3"
    echo "\$3:*:1001:1001:\$3:/home/\$3:/bin/sh" >>"$guest/etc/passwd"
    ;;
esac
END
    echo "touch '$guest/etc/localtime' && echo \"\${4}\" >'$guest/etc/timezone'" | program tzsetup
    program netstat <<END
echo '{"statistics": {"interface": [
    {"name": "vtnet0", "network": "<Link#1>", "address": "$mac0"}]}}'
END
    program resolvconf </dev/null
    program sysctl </dev/null
    touch "$guest/etc/passwd"
    # FreeBSD's Lua has libucl, which reads JSON here.
    cat >"$programs/ucl.lua" <<'END'
local yaml = require("lyaml")
local parser = {}
parser.__index = parser
function parser:parse_string(text) self.object = yaml.load(text) return true end
function parser:parse_file(path) return self:parse_string(assert(io.open(path)):read("a")) end
function parser:get_object() return self.object end
return {parser = function() return setmetatable({}, parser) end}
END
    NUAGE_FAKE_ROOTDIR=$guest LUA_PATH="$VIRT_SEED_NUAGEINIT/?.lua;$programs/?.lua;;" \
        lua5.3 "$VIRT_SEED_NUAGEINIT/nuageinit" "$folder" "$kind" || return
    if [[ -e $guest/var/cache/nuageinit/user_data ]]; then
        NUAGE_FAKE_ROOTDIR=$guest LUA_PATH="$VIRT_SEED_NUAGEINIT/?.lua;$programs/?.lua;;" \
            lua5.3 "$VIRT_SEED_NUAGEINIT/nuageinit" "$guest/var/cache/nuageinit" postnet || return
    fi
    if [[ -x $guest/var/cache/nuageinit/user_data ]]; then
        "$guest/var/cache/nuageinit/user_data"
    fi
}

freebsd=freebsd.org/freebsd/15.0
identity="<ci:hostname>web1.example.org</ci:hostname>
    <ci:ssh-authorized-keys><ci:key>$key</ci:key></ci:ssh-authorized-keys>"

@test "nuageinit: a cloud-config, the host name and the keys" {
    insert $freebsd "$identity<ci:user-data>#cloud-config
timezone: Europe/Vienna
users:
  - default
  - name: alice
    ssh_authorized_keys: [$key]
write_files:
  - {path: /etc/motd, content: hello}
</ci:user-data>"
    nuageinit
    has etc/rc.conf.d/hostname 'hostname="web1.example.org"'
    has home/freebsd/.ssh/authorized_keys "$key"
    has home/alice/.ssh/authorized_keys "$key"
    has etc/timezone Europe/Vienna
    has etc/motd hello
}

@test "nuageinit: the host name and the keys alone" {
    insert $freebsd "$identity"
    nuageinit
    has etc/rc.conf.d/hostname 'hostname="web1.example.org"'
    has home/freebsd/.ssh/authorized_keys "$key"
}

@test "nuageinit: the same from a ConfigDrive" {
    insert $freebsd "$identity" datasource='"configdrive"'
    nuageinit config-2
    has etc/rc.conf.d/hostname 'hostname="web1.example.org"'
    has home/freebsd/.ssh/authorized_keys "$key"
}

@test "nuageinit: a script runs, but drops the host name and the keys" {
    insert $freebsd "$identity<ci:user-data>#!/bin/sh
echo hello >$guest/etc/motd
</ci:user-data>"
    nuageinit
    has etc/motd hello
    lacks etc/rc.conf.d/hostname
    lacks home/freebsd/.ssh/authorized_keys
}

# nics [MORE]: the network of the domain's NIC.
nics() {
    printf '%s' "<ci:network-config from='interfaces'><ci:interface mac='$mac0'>" \
        "<ci:address>192.0.2.10/24</ci:address><ci:address>2001:db8::10/64</ci:address>" \
        "${1-}</ci:interface></ci:network-config>"
}

timezone='<ci:user-data>#cloud-config
timezone: Europe/Vienna
write_files: [{path: /etc/motd, content: hello}]
</ci:user-data>'
gateways='<ci:gateway>192.0.2.1</ci:gateway><ci:gateway>2001:db8::1</ci:gateway>'
servers='<ci:nameserver>192.0.2.53</ci:nameserver><ci:search>example.org</ci:search>'

@test "nuageinit: the network of NoCloud next to a cloud-config" {
    insert $freebsd "$(nics "$servers")$timezone"
    nuageinit
    has etc/rc.conf.d/network 'ifconfig_vtnet0="inet 192.0.2.10/24"' \
        'ifconfig_vtnet0_ipv6="inet6 2001:db8::10/64"'
    has etc/resolvconf.conf 'name_servers="192.0.2.53"' 'search_domains="example.org"'
    has etc/motd hello
}

@test "nuageinit: the routes of NoCloud are dropped, gateway4 and gateway6 are not" {
    insert $freebsd "$(nics "$gateways")$timezone"
    nuageinit
    lacks etc/rc.conf.d/routing
    insert $freebsd "$timezone<ci:network-config>version: 2
ethernets: {vtnet0: {addresses: [192.0.2.10/24, '2001:db8::10/64'], gateway4: 192.0.2.1, gateway6: 'fe80::1'}}
</ci:network-config>"
    nuageinit
    has etc/rc.conf.d/routing 'defaultrouter="192.0.2.1"' 'ipv6_defaultrouter="fe80::1"'
}

@test "nuageinit: the network of a ConfigDrive" {
    insert $freebsd "$(nics "$gateways$servers")" datasource='"configdrive"'
    nuageinit config-2
    has etc/rc.conf.d/network 'ifconfig_vtnet0="inet 192.0.2.10 netmask 255.255.255.0"'
    has etc/rc.conf.d/routing 'defaultrouter="192.0.2.1"'
}

@test "nuageinit: the network of a ConfigDrive of one's own" {
    insert $freebsd "<ci:network-config>{
 \"links\": [{\"id\": \"nic0\", \"type\": \"phy\", \"ethernet_mac_address\": \"$mac0\"}],
 \"networks\": [{\"id\": \"n0\", \"link\": \"nic0\", \"type\": \"ipv6\", \"ip_address\": \"2001:db8::10\",
     \"netmask\": \"ffff:ffff:ffff:ffff::\", \"gateway\": \"2001:db8::1\"}],
 \"services\": [{\"type\": \"dns\", \"address\": \"192.0.2.53\"}]}</ci:network-config>" datasource='"configdrive"'
    nuageinit config-2
    has etc/resolvconf.conf 'name_servers="192.0.2.53"'
    has etc/rc.conf.d/routing 'ipv6_defaultrouter="2001:db8::1"'
}

# --- Alpine -----------------------------------------------------------------------------------

# tiny_cloud: the guest boots, up to the end of the default runlevel.
tiny_cloud() {
    local phase

    mkdir -p "$guest/sys/class/net/eth0"
    echo 1 >"$guest/sys/class/net/eth0/ifindex"
    echo up >"$guest/sys/class/net/eth0/operstate"
    echo "eval cp '$medium/*' \"\\\$\$#\"" | program mount
    echo "eval rm \"\\\$\$#/*\"" | program umount
    echo 'echo alpine:x:1000:1000:Alpine:/home/alpine:/bin/sh' | program getent
    program logger </dev/null
    # It reads YAML, of which the seed's meta-data are the JSON kind: prints a value, or what a mapping or
    # a list has, for a path of keys.
    program yx <<'END'
shift
file=$1
shift
exec jq -er 'reduce $ARGS.positional[] as $key (.; if type == "array" then .[$key | tonumber - 1] else .[$key] end) |
    if type == "object" then keys_unsorted[] elif type == "array" then range(1; length + 1) else . // empty end' \
    "$file" --args "$@"
END
    for phase in boot early main final; do
        PATH=$VIRT_SEED_TINY_CLOUD/bin:$PATH PREFIX=$VIRT_SEED_TINY_CLOUD ROOT=$guest MOCK=: CLOUD=nocloud \
            busybox sh "$VIRT_SEED_TINY_CLOUD/sbin/tiny-cloud" "$phase" || return
    done
}

alpine=alpinelinux.org/alpinelinux/3.20

@test "tiny-cloud: a script and the host name, but no key" {
    insert $alpine "$identity<ci:user-data>#!/bin/sh
echo hello >$guest/etc/motd
</ci:user-data>"
    tiny_cloud
    has etc/motd hello
    has etc/hostname web1
    has etc/hosts $'127.0.1.1\tweb1.example.org web1'
    lacks home/alpine/.ssh/authorized_keys
}

@test "tiny-cloud: a script in gzip" {
    mkdir -p "$root$confdir/files"
    printf '#!/bin/sh\necho hello >%s/etc/motd\n' "$guest" | gzip >"$root$confdir/files/packed"
    insert $alpine "<ci:user-data file='packed'/>"
    tiny_cloud
    has etc/motd hello
}

# --- Windows ----------------------------------------------------------------------------------

# cloudbase [BODY]: the answer of a guest with such a request is in the file $answer.
cloudbase() {
    insert microsoft.com/win/11 "$1" "datasource='configdrive'"
    /usr/bin/python3 "$BATS_TEST_DIRNAME/cloudbase.py" "$VIRT_SEED_CLOUDBASE_INIT" "$medium" >"$answer"
}

@test "cloudbase-init: each script of several runs, and the cloud-config" {
    cloudbase "$identity<ci:user-data>#ps1
Get-Date
</ci:user-data><ci:user-data>#cloud-config
set_timezone: Europe/Vienna
write_files: [{path: C:\\motd, content: grüße}]
</ci:user-data><ci:user-data>rem cmd
dir
</ci:user-data><ci:user-data>&lt;script>echo one&lt;/script>&lt;powershell>echo two&lt;/powershell>
</ci:user-data><ci:user-data>#ps1_x86
Get-Host
</ci:user-data>"
    understood .scripts '[["PowershellSysnative", "#ps1\nGet-Date\n"], ["Shell", "rem cmd\ndir\n"],
        ["Shell", "echo one"], ["PowershellSysnative", "echo two"], ["Powershell", "#ps1_x86\nGet-Host\n"]]'
    understood .settings '{"set_timezone": "Europe/Vienna", "write_files": [{"path": "C:\\motd", "content": "grüße"}]}'
    understood .hostname '"web1.example.org"'
    understood .keys "[\"$key\"]"
}

@test "cloudbase-init: one script alone, as it is or in gzip" {
    cloudbase "<ci:user-data>&lt;powershell>Get-Date&lt;/powershell></ci:user-data>"
    understood .scripts '[["PowershellSysnative", "Get-Date"]]'
    mkdir -p "$root$confdir/files"
    printf '#ps1_sysnative\nGet-Date\n' | gzip >"$root$confdir/files/packed"
    cloudbase "<ci:user-data file='packed'/>"
    understood .scripts '[["PowershellSysnative", "#ps1_sysnative\nGet-Date\n"]]'
}

@test "cloudbase-init: the administrator's password, and the network" {
    make_secret web1 admin-password hunter2
    cloudbase "<ci:admin-password secret='web1'/>$(nics "$gateways$servers")"
    understood '.["admin-password"]' '"hunter2"'
    understood .addresses '["192.0.2.10/24", "2001:db8::10/64"]'
    understood .routes '[["0.0.0.0/0", "192.0.2.1"], ["::/0", "2001:db8::1"]]'
    understood '.dns | unique' '["192.0.2.53"]'
}
