#!/usr/bin/env bats
# set.bats: 'virt-seed set' on files; tests/libvirt/set.bats has libvirt's domains.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx'

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    printf '#cloud-config\nlocale: C.UTF-8\n' >user-data
    printf 'version: 2\n' >network-config
    printf '# mine\n%s one\n\n%s two\r\n' "$key" "$key" >keys
    printf 'hunter2\n' >password
    domain_xml | sed '/<metadata>/,/<\/metadata>/d' >web1.xml
}

# sets ARGUMENT...: prints the XML that 'set' makes of web1.xml, or of standard input with "-".
sets() {
    virt-seed --quiet --root="$root" set "$@" web1.xml
}

# request: prints the <cloud-init> element of the XML on standard input.
request() {
    xmllint --xpath "//*[local-name() = 'cloud-init']" -
}

# document NAME: what the guest of the XML on standard input reads.
document() {
    virt-seed --root="$root" dump - "$1"
}

# is_valid: the element of the XML on standard input is one that the schema allows.
is_valid() {
    request | xmllint --noout --relaxng "$top_srcdir/xml/cloud-init.rng" -
}

@test "writes each setting into a valid element and wires the domain" {
    sets --user-data=user-data --vendor-data=user-data --network-config=network-config \
        --meta-data=role=web --meta-data='note=a<b' --ssh-key=keys --hostname=host.example.org \
        --instance-id=i-1 --user=me --secret=ssh-host-keys=web1 >out.xml
    run -0 is_valid <out.xml
    run -0 virt-seed wire - <out.xml
    assert_said 'already wired'
    diff -u - <(request <out.xml) <<END
<ci:cloud-init xmlns:ci="$namespace">
      <ci:user-data><![CDATA[#cloud-config
locale: C.UTF-8
]]></ci:user-data>
      <ci:vendor-data><![CDATA[#cloud-config
locale: C.UTF-8
]]></ci:vendor-data>
      <ci:network-config><![CDATA[version: 2
]]></ci:network-config>
      <ci:meta-data>
        <ci:entry name="role">web</ci:entry>
        <ci:entry name="note"><![CDATA[a<b]]></ci:entry>
      </ci:meta-data>
      <ci:ssh-authorized-keys>
        <ci:key>$key one</ci:key>
        <ci:key>$key two</ci:key>
      </ci:ssh-authorized-keys>
      <ci:hostname>host.example.org</ci:hostname>
      <ci:instance-id policy="fixed">i-1</ci:instance-id>
      <ci:initialization>
        <ci:user_name>me</ci:user_name>
      </ci:initialization>
      <ci:ssh-host-keys secret="web1"/>
    </ci:cloud-init>
END
}

@test "writes what looks like the end of <metadata> so that the hook does not stop there" {
    printf '#!/bin/sh\necho "<metadata></metadata><disk/>" >/tmp/x\n' >script
    sets --user-data=script >out.xml
    [[ $(grep -c '</metadata>' out.xml) = 1 ]]
    document user-data <out.xml | diff - script
    run -0 virt-seed --root="$root" check - <out.xml
    sed 's|&lt;|<|g; s|&gt;|>|g; s|#!/bin/sh|<![CDATA[&|; s|</ci:user-data>|]]>&|' out.xml >cdata.xml
    run -1 virt-seed --root="$root" check - <cdata.xml
    [[ $output = *'its XML is not as libvirt writes it'*'write &lt;/metadata>'* ]]
}

@test "sets and removes generated host keys" {
    sets --ssh-host-keys=generate --datasource=configdrive >out.xml
    run -0 is_valid <out.xml
    request <out.xml | grep -q 'datasource="configdrive" ssh-host-keys="generate"\|ssh-host-keys="generate" datasource="configdrive"'
    virt-seed --quiet set --ssh-host-keys= - <out.xml >without.xml
    request <without.xml | grep -q 'datasource="configdrive"'
    run ! grep -q ssh-host-keys without.xml
    run -1 virt-seed set --ssh-host-keys=always web1.xml
    assert_refused 1 'ssh-host-keys="always"'
}

@test "sets and removes the machine-id" {
    sets --machine-id=per-instance >out.xml
    run -0 is_valid <out.xml
    request <out.xml | grep -q 'machine-id="per-instance"'
    virt-seed --quiet set --machine-id= - <out.xml >without.xml
    run ! grep -q machine-id without.xml
    run -1 virt-seed set --machine-id=new web1.xml
    assert_refused 1 'machine-id="new"'
}

@test "sets and removes the policy of the instance-id" {
    sets --instance-id-policy=content >out.xml
    run -0 is_valid <out.xml
    [[ $(document meta-data <out.xml | jq -r '.["instance-id"]') =~ -[0-9a-f]{16}$ ]]
    virt-seed --quiet set --instance-id=i-1 - <out.xml >fixed.xml
    [[ $(document meta-data <fixed.xml | jq -r '.["instance-id"]') = i-1 ]]
    run ! grep -q instance-id <(virt-seed --quiet set --instance-id-policy= - <out.xml)
    run -1 virt-seed set --instance-id-policy=often web1.xml
    assert_refused 1 'policy="often"'
}

@test "the guest reads exactly the bytes that were set" {
    local file

    printf '#!/bin/sh\r\necho "]]>" &\n   ' >script
    printf '\n#cloud-config\n{}\r\n   ' >blanks
    for file in user-data script blanks; do
        sets --user-data="$file" >out.xml
        [[ $file = blanks ]] || document user-data <out.xml | cmp - "$file"
        request <out.xml | xmllint --xpath 'string(//*[local-name() = "user-data"])' - >text
        if grep -q 'encoding="base64"' out.xml; then
            base64 -d text | cmp - "$file"
        fi
    done
    sets --user-data=<(cat user-data) | document user-data | cmp - user-data
}

@test "a document that no guest could read is not written" {
    local option

    printf '#cloud-config\nlocale: [C\n' >broken
    printf 'locale: C\n' >headless
    printf 'version: 3\n' >wrong-version
    for option in user-data=broken vendor-data=broken user-data=headless network-config=wrong-version; do
        run -1 --separate-stderr sets "--$option"
        [[ -z $output && $stderr = "virt-seed: error: domain 'web1': <${option%%=*}>: "* ]]
    done
}

@test "replaces what a setting names and keeps the rest" {
    sets --hostname=one --meta-data=a=1 --meta-data=b=2 --user-data=user-data --ssh-key=keys >web2.xml
    echo '#!/bin/sh' >script
    sed "s/$key one/$key three/" keys >other-keys
    virt-seed --quiet set --hostname=two --meta-data=b=3 --user-data=script --user-data=user-data \
        --ssh-key=other-keys web2.xml >out.xml
    run -0 request <out.xml
    [[ $output = *'>two<'* && $output != *'>one<'* ]]
    [[ $output = *'name="a">1<'* && $output = *'name="b">3<'* && $output != *'>2<'* ]]
    [[ $(grep -c '<ci:user-data>' <<<"$output") -eq 2 && $output != *"$key one"* ]]
    [[ $output = *'#!/bin/sh'*'#cloud-config'* ]]
    # A secret replaces the document, and the other way round.
    virt-seed --quiet set --secret=user-data=web1/userdata out.xml | request >element
    [[ $(grep -c user-data element) -eq 1 && $(<element) = *'secret="web1" key="userdata"'* ]]
}

@test "an empty value removes what the setting names" {
    sets --hostname=one --meta-data=a=1 --user-data=user-data --ssh-key=keys --user=me \
        --instance-id=i-1 --datasource=configdrive --secret=meta-data=web1 \
        --secret=ssh-authorized-keys=team >web2.xml
    run -0 is_valid <web2.xml
    virt-seed --quiet set --hostname= --meta-data=a= --user-data= --ssh-key= --user= --instance-id= \
        --datasource= --secret=meta-data= --secret=ssh-authorized-keys= web2.xml >out.xml
    [[ $(request <out.xml | tr -d ' \n') = "<ci:cloud-initxmlns:ci=\"$namespace\"/>" ||
        $(request <out.xml | tr -d ' \n') = "<ci:cloud-initxmlns:ci=\"$namespace\"></ci:cloud-init>" ]]
}

@test "without settings, requests a seed and wires the domain" {
    run -0 is_valid < <(sets)
    run -0 virt-seed wire - < <(sets)
    assert_said 'already wired'
}

@test "says what it wrote, or that there was nothing to write" {
    run --separate-stderr -0 virt-seed set --hostname=one --meta-data=a=1 -o out.xml web1.xml
    [[ $output = 'web1: hostname one, meta-data a; wired' ]]
    run --separate-stderr -0 virt-seed set -v --hostname=one --meta-data=a=1 -o out.xml web1.xml
    [[ ${lines[0]} = 'web1: hostname one, meta-data a; wired' ]]
    [[ $output = *$'\n  <cloud-init> added'*$'\n  --hostname written\n  --meta-data written\n  cdrom'* ]]
    run --separate-stderr -0 virt-seed set -o - web1.xml
    [[ $stderr = 'web1: asks for cloud-init; wired' ]]
    run -0 virt-seed set --hostname=one --meta-data=a=1 --in-place out.xml
    assert_said "already set"
    run -0 virt-seed set --hostname=two --json --in-place out.xml
    [[ $(jq -c .changes <<<"$output") = '["--hostname written"]' ]]
    # Only blanks differ, but they are part of the value and of the document.
    virt-seed --quiet set --meta-data=a=' ' --in-place out.xml
    run -0 virt-seed set --meta-data=a='  ' --in-place out.xml
    [[ $output = 'web1: meta-data a' ]]
    mkdir -p folder
    cp keys folder/
    run -0 virt-seed set --ssh-key=folder/keys --hostname= --user-data=- --in-place out.xml <user-data
    [[ $output = 'web1: ssh-key keys, no hostname, user-data of standard input' ]]
    sed -i 's/^locale/ locale/' user-data
    sets --user-data=user-data >out.xml
    sed -i 's/^ locale/  locale/' user-data
    run -0 virt-seed set --user-data=user-data --in-place out.xml
    [[ $output = 'web1: user-data user-data' ]]
}

@test "uses a namespace prefix that is already there" {
    domain_xml | sed 's/ci:/seed:/g; s/xmlns:ci/xmlns:seed/' >web2.xml
    run -0 virt-seed --quiet set --hostname=one web2.xml
    [[ $output = *'<seed:hostname>one</seed:hostname>'* ]]
    domain_xml | sed 's/<ci:/</; s/<\/ci:/<\//; s/xmlns:ci/xmlns/' >web2.xml
    run -0 virt-seed --quiet set --hostname=one web2.xml
    [[ $output = *'<hostname>one</hostname>'* ]]
}

@test "--dry-run lists the changes and writes nothing" {
    cp web1.xml before.xml
    run --separate-stderr -0 virt-seed --root="$root" set --dry-run -i --hostname=one web1.xml
    [[ ${lines[0]} == 'web1: would be changed' ]]
    [[ $output == *$'\n  --hostname written\n'* && $output != *'<domain'* ]]
    cmp web1.xml before.xml
}

@test "refuses impossible settings and keeps the file unchanged" {
    cp web1.xml before.xml
    run virt-seed set -i --hostname=no_host web1.xml
    assert_refused 1 "domain 'web1'"
    run virt-seed set -i --datasource=moon web1.xml
    assert_refused 1 'datasource="moon"'
    run virt-seed set -i --user-data=none web1.xml
    assert_refused 1 "could not read 'none'"
    : >empty
    for option in user-data user-data-raw vendor-data network-config; do
        run virt-seed set -i --$option=empty web1.xml
        assert_refused 1 "--$option: 'empty' is empty" "to remove $option, write --$option="
    done
    run virt-seed set -i --user-data=- web1.xml </dev/null
    assert_refused 1 '--user-data: standard input is empty'
    printf '\n# nobody\n' >comments
    for file in empty comments; do
        run virt-seed set -i --ssh-key=keys --ssh-key=$file web1.xml
        assert_refused 1 "'$file' has no ssh public key" ssh-keygen
    done
    # libvirt is not asked before.
    run virt-seed -c test:///no-such-file.xml set --ssh-key=none web1
    assert_refused 1 "could not read 'none'"
    run virt-seed set -i --user-data=. web1.xml
    assert_refused 1 "could not read '.'"
    run virt-seed set -i --meta-data=role web1.xml
    assert_refused 2 'expected KEY=VALUE'
    run virt-seed set -i --meta-data==web web1.xml
    assert_refused 2 'expected KEY=VALUE'
    run virt-seed set -i --secret=moon=web1 web1.xml
    assert_refused 2 'expected PART=NAME[/KEY]'
    run virt-seed set -i --secret=userdata=web1 web1.xml
    assert_refused 2 'expected PART=NAME[/KEY]'
    run virt-seed set -i --secret=user-data web1.xml
    assert_refused 2 'expected PART=NAME[/KEY]'
    run virt-seed set -i --secret=admin-password=web1 web1.xml
    assert_refused 1 'admin-password'
    run virt-seed set -i --user=no/user web1.xml
    assert_refused 1 "domain 'web1': " 'user_name'
    run virt-seed set -i --instance-id=a --instance-id-policy=content web1.xml
    assert_refused 1 "domain 'web1': duplicate <instance-id>"
    run virt-seed set -i --hostname=web1 --ssh-key=user-data web1.xml
    assert_refused 1 "'user-data', line 2: this is not an ssh public key"
    run virt-seed set -i --hostname=a --hostname=b web1.xml
    assert_refused 1 'duplicate <hostname>'
    run virt-seed set -i --datasource=nocloud --datasource=configdrive web1.xml
    assert_refused 2 '--datasource was given twice'
    run virt-seed set -i --hostname=$'a\eb' web1.xml
    assert_refused 1 'XML cannot hold'
    run virt-seed set -i --meta-data=$'a=\xff' web1.xml
    assert_refused 1 'XML cannot hold'
    run virt-seed set -i --ssh-key=user-data web1.xml
    assert_refused 1 'is not an ssh public key'
    printf 'a\0b' >binary
    run virt-seed set -i --ssh-key=binary web1.xml
    assert_refused 1 'XML cannot hold'
    run virt-seed set -i --secret=user-data=../x web1.xml
    assert_refused 1 '--secret' 'is not a valid secret name'
    run virt-seed set -i --secret=user-data=a/b/c web1.xml
    assert_refused 1 '--secret' 'key="b/c" is not a valid secret name'
    truncate -s 5M large
    run virt-seed set -i --user-data=large web1.xml
    assert_refused 1 'more than'
    diff before.xml web1.xml
}

@test "a password is one line that can be typed" {
    local option

    : >empty
    printf '\r\n' >end
    printf 'one\ntwo\n' >lines
    printf 'one\0two\n' >nul
    printf 'a\tb\n' >tab
    head -c 512 /dev/zero | tr '\0' a >long
    for option in password root-password; do
        for file in empty end lines nul tab long; do
            run virt-seed --root="$root" set "--$option-file=$file" web1.xml
            assert_refused 1 "'$file' must contain one line of 1 to 511 bytes" 'put only the password in it'
        done
        run virt-seed --root="$root" set "--$option-file=password" "--$option-file=password" web1.xml
        assert_refused 2 "--$option-file sets a password that was given already"
    done
    head -c 600 /dev/zero | tr '\0' a >long
    run virt-seed --root="$root" set --root-password-file=long web1.xml
    assert_refused 1 'more than'
}

@test "a password of a FILE is refused, since nothing is known of its domain's host" {
    for option in -i --dry-run --quiet; do
        for file in web1.xml -; do
            run virt-seed --root="$root" set "$option" --password-file=password "$file" <web1.xml
            assert_refused 2
        done
    done
    run virt-seed --root="$root" set --password-file=password web1.xml
    assert_refused 2 'a password needs a DOMAIN, not a FILE' 'define the domain first'
    [[ -z $(find "$root" -type f) ]]
    # It can be removed, and root's in oVirt's words as well.
    domain_xml '<ci:initialization><ci:root_password secret="a"/></ci:initialization>' |
        sed 's/<ci:cloud-init /&password="stored" /' >web1.xml
    virt-seed --quiet --root="$root" set --password-file= web1.xml >out.xml
    [[ $(request <out.xml) != *stored* && $(request <out.xml) = *'secret="a"'* ]]
    virt-seed --quiet --root="$root" set --password-file= --root-password-file= web1.xml >out.xml
    [[ $(request <out.xml) != *stored* && $(request <out.xml) != *'secret="a"'* ]]
}

@test "accepts a thousand settings" {
    local -a many

    mapfile -t many < <(printf -- '--hostname=a%d\n' {1..1100})
    run virt-seed set "${many[@]}" web1.xml
    [[ $status -eq 2 ]]
}

@test "refuses another program's seed, and replaces it with --replace" {
    sed -i "s|</disk>|&<disk type='file' device='cdrom'><driver name='qemu' type='raw'/><source file='/isos/seed.iso'/><target dev='sda' bus='sata'/></disk>|" web1.xml
    run virt-seed set --hostname=one web1.xml
    assert_refused 1 '/isos/seed.iso'
    run -0 virt-seed --quiet set --replace --hostname=one web1.xml
    [[ $output != *'/isos/seed.iso'* ]]
}

# --- everyday settings ------------------------------------------------------------------------

# with_interfaces MAC...: gives web1.xml these interfaces.
with_interfaces() {
    local mac

    for mac; do
        sed -i "s|</devices>|<interface type='network'><mac address='$mac'/><source network='default'/></interface>&|" web1.xml
    done
}

@test "a time zone is set, added to the user's own document, and removed" {
    sets --timezone=Europe/Berlin >out.xml
    run -0 is_valid <out.xml
    document user-data <out.xml | grep -q Europe/Berlin
    # Another setting keeps the rest, and an empty value removes its part.
    virt-seed --quiet set --user-data=user-data - <out.xml >other.xml
    document user-data <other.xml >both
    grep -q Europe/Berlin both
    grep -q 'locale: C.UTF-8' both
    virt-seed --quiet set --timezone= - <other.xml >none.xml
    request <none.xml >element
    run ! grep -q timezone element
    grep -q 'locale: C.UTF-8' element
}

@test "an address is set for the only interface, or for the one with a MAC, and replaced by DHCP" {
    with_interfaces 52:54:00:12:34:01
    sets --ip=192.0.2.10/24,gw=192.0.2.1,dns=192.0.2.53,dns=192.0.2.54 --ip=2001:db8::10/64 >out.xml
    run -0 is_valid <out.xml
    document network-config <out.xml >network
    for text in 192.0.2.10/24 192.0.2.1 192.0.2.53 192.0.2.54 2001:db8::10/64 52:54:00:12:34:01; do
        grep -qF "$text" network
    done
    virt-seed --quiet set --ip=192.0.2.20/24 - <out.xml >other.xml
    run ! grep -q 192.0.2.10 other.xml
    virt-seed --quiet set --ip=dhcp - <other.xml >dhcp.xml
    document network-config <dhcp.xml >network
    grep -q '"\?dhcp4"\?: true' network
    run ! grep -q 192.0.2 network
    virt-seed --quiet set --ip= - <dhcp.xml >none.xml
    run ! grep -q network-config none.xml
    with_interfaces 52:54:00:12:34:02
    run virt-seed set --ip=192.0.2.10/24 web1.xml
    assert_refused 1 'the domain has 2 interfaces' 'mac=MAC'
    sets --ip=192.0.2.10/24,mac=52:54:0:12:34:2 --ip=dhcp,mac=52:54:00:12:34:01 >out.xml
    request <out.xml | grep -q '<ci:interface mac="52:54:00:12:34:02">'
    [[ $(request <out.xml | grep -c '<ci:interface ') -eq 1 ]]
}

@test "an address that makes no sense is refused" {
    with_interfaces 52:54:00:12:34:01
    run virt-seed set --ip=192.0.2.10 web1.xml
    assert_refused 2 "'192.0.2.10', which lacks its prefix"
    run virt-seed set --ip=192.0.2.10/24,gateway=192.0.2.1 web1.xml
    assert_refused 2 "does not take 'gateway'"
    run virt-seed set --ip=dhcp,gw=192.0.2.1 web1.xml
    assert_refused 2 "does not take 'gw'"
    run virt-seed set --ip=192.0.2.10/24,mac=x web1.xml
    assert_refused 2 'mac=x, which is not a MAC'
    run virt-seed set --ip=dhcp,mac=52:54:00:12:34:02 web1.xml
    assert_refused 1 'mac=52:54:00:12:34:02, but the domain has no such interface'
    run virt-seed set --ip=192.0.2.256/24 web1.xml
    assert_refused 1 '192.0.2.256/24'
    domain_xml >web1.xml
    run virt-seed set --ip=192.0.2.10/24 web1.xml
    assert_refused 1 'the domain has no interface'
}

@test "an interface is named by its network, if only one is in it" {
    with_interfaces 52:54:00:12:34:01
    with_interfaces 52:54:00:12:34:02
    sed -i "0,/network='default'/s//network='front'/" web1.xml
    sets --ip=192.0.2.10/24,network=front,dns=192.0.2.53,search=example.org,search=example.com >out.xml
    run -0 is_valid <out.xml
    [[ $(request <out.xml) = *'<ci:interface mac="52:54:00:12:34:01">'*'<ci:search>example.org</ci:search>'*com* ]]
    document network-config <out.xml >network
    grep -q example.org network && grep -q example.com network
    virt-seed --quiet set --ip=dhcp,network=front - <out.xml >dhcp.xml
    [[ $(request <dhcp.xml) != *192.0.2.10* ]]
    run virt-seed set --ip=192.0.2.10/24,network=back web1.xml
    assert_refused 1 "the domain has no interface in the network 'back'" 'mac=MAC'
    run virt-seed set --ip=192.0.2.10/24,network=front,mac=52:54:00:12:34:01 web1.xml
    assert_refused 2 'both mac= and network='
    with_interfaces 52:54:00:12:34:03
    run virt-seed set --ip=192.0.2.10/24,network=default web1.xml
    assert_refused 1 "the domain has 2 interfaces in the network 'default'" 'mac=MAC'
}

# --- standard input -----------------------------------------------------------------------------

@test "a setting is read from standard input, once" {
    virt-seed --quiet set --user-data=- web1.xml <user-data >out.xml
    diff <(document user-data <out.xml) user-data
    virt-seed --quiet set --ssh-key=- --user-data=user-data web1.xml <keys >out.xml
    [[ $(request <out.xml | grep -c '<ci:key>') -eq 2 ]]
    run virt-seed set --ssh-key=- web1.xml <<<'ssh-rsa AAAA junk'
    assert_refused 1 'standard input, line 1: the ssh public key is cut off'
    run virt-seed set --user-data=- --ssh-key=- web1.xml <user-data
    assert_refused 2 '--user-data and --ssh-key cannot both read standard input'
    run virt-seed set --user-data=- - <web1.xml
    assert_refused 2 'cannot both be read from standard input'
    # A file of that name has a slash.
    cp user-data ./-
    virt-seed --quiet set --user-data=./- web1.xml </dev/null >out.xml
    diff <(document user-data <out.xml) user-data
}

@test "several guests get no host name and no address in common" {
    sed 's/web1</web2</' web1.xml >web2.xml
    run virt-seed --root="$root" set -i web1.xml web2.xml --hostname=web.example.org
    assert_refused 2 "several guests cannot all have --hostname='web.example.org'" 'name one guest in each command'
    run virt-seed --root="$root" set -i web1.xml web2.xml --ip=192.0.2.7/24
    assert_refused 2 "several guests cannot all have --ip='192.0.2.7/24'"
    run ! grep -l cloud-init web1.xml web2.xml
    # The same guest twice is one.
    run -0 virt-seed --root="$root" set -i web1.xml web1.xml --hostname=web.example.org
    [[ $output = 'web1: hostname web.example.org; wired' ]]
    run -0 virt-seed --root="$root" set -i web1.xml web2.xml --hostname=
}

@test "what is read once is set in each of several files" {
    cp web1.xml web2.xml
    virt-seed --quiet set -i --user-data=- web1.xml web2.xml <user-data
    diff <(document user-data <web1.xml) user-data
    diff <(document user-data <web2.xml) user-data
    virt-seed --quiet set -i --vendor-data=<(cat user-data) web1.xml web2.xml
    diff <(request <web1.xml) <(request <web2.xml)
    grep -q vendor-data web2.xml
}

# --- passwords ----------------------------------------------------------------------------------

@test "a password is asked for on the terminal alone" {
    for option in password root-password; do
        run setsid -w virt-seed set "--$option" web1.xml <<<$'hunter2\nhunter2'
        assert_refused 2 'could not open the terminal to ask for a password' '--password-file=FILE'
    done
    run virt-seed set --password=hunter2 web1.xml
    assert_refused 2 "option '--password' takes no value"
    [[ $output != *hunter2* ]]
    run virt-seed set --password-generate web1.xml
    assert_refused 2 'a password needs a DOMAIN, not a FILE'
}

@test "a domain that --ip does not fit is named, and the next one follows" {
    with_interfaces 52:54:00:12:34:01
    cp web1.xml one.xml
    with_interfaces 52:54:00:12:34:02
    sed 's/web1/web2/' web1.xml >two.xml
    run -1 virt-seed --root="$root" set -i two.xml one.xml --ip=dhcp
    assert_said "domain 'web2': the domain has 2 interfaces" 'web1: ip dhcp'
}

@test "metadata that a start would refuse is not written" {
    local key

    domain_xml >web1.xml
    cp web1.xml before.xml
    for key in local-hostname instance-id public-keys; do
        run virt-seed set -i --meta-data=$key=x web1.xml
        assert_refused 1 "has the key '$key', which virt-seed generates" 'set it with <'
    done
    run virt-seed set -i --meta-data=dsmode=x web1.xml
    assert_refused 1 "'dsmode', which has a meaning of its own"
    run virt-seed set -i --datasource=configdrive --meta-data=uuid=x web1.xml
    assert_refused 1 "has the key 'uuid'"
    cmp web1.xml before.xml
    run -0 virt-seed set -i --meta-data=uuid=x web1.xml
}

# QEMU does not know how to encrypt on every host, so that libvirt would not define the golden result.
@test "the controllers of an encrypted guest are where libvirt puts them" {
    domain_xml | sed "s/machine='[^']*'/machine='q35'/" >web1.xml
    virt-seed --quiet wire -o plain.xml web1.xml
    [[ $(grep -c "type='pci'.*slot='0x1[01]'" plain.xml) -eq 2 ]]
    sed "s|<devices>|<launchSecurity type='sev'/>&|" web1.xml | virt-seed --quiet wire - >encrypted.xml
    [[ $(grep -c ua-virt-seed-scsi encrypted.xml) -eq 1 ]]
    run ! grep "type='pci'" encrypted.xml
}

# --- the whole element ------------------------------------------------------------------------

# element [CONTENT]: prints an element; the lines of its content begin with the second.
element() {
    printf '<ci:cloud-init xmlns:ci="%s">\n%s\n</ci:cloud-init>\n' "$namespace" "${1-<ci:hostname>whole</ci:hostname>}"
}

@test "--element keeps what unset needs, and takes none of another domain's" {
    domain_xml | sed "s|</os>|</os><sysinfo type='smbios'><system><entry name='serial'>A</entry></system></sysinfo>|" >web1.xml
    virt-seed --quiet set -i --timezone=UTC web1.xml
    element >element.xml
    virt-seed --quiet set -i --element=element.xml web1.xml
    virt-seed --quiet unset -i web1.xml
    run ! grep '<smbios' web1.xml
    grep ">A</entry>" web1.xml
    sed -i 's|<ci:cloud-init |&made-disk="/images/web2.qcow2" |' element.xml
    virt-seed --quiet set -i --element=element.xml web1.xml
    run ! grep made-disk web1.xml
}

@test "--element replaces the whole element, and settings come after it" {
    sets --user-data=user-data --hostname=one >out.xml
    run -0 --separate-stderr virt-seed --root="$root" set --element=- --in-place out.xml < <(element)
    [[ $output = 'web1: element written' && ! $stderr ]]
    diff <(element) <(request <out.xml)
    run -0 virt-seed --root="$root" set --element=- --in-place out.xml < <(element)
    assert_said 'already set'
    run -0 virt-seed --root="$root" check --no-schema out.xml
    assert_said 'no problems found'

    element >element.xml
    run -0 --separate-stderr virt-seed --root="$root" set --element=element.xml --timezone=UTC -v -o out.xml web1.xml
    [[ ${lines[0]} = 'web1: element written, timezone UTC; wired' && ${lines[2]} = '  --timezone written' ]]
    run -0 request <out.xml
    [[ $output = *'>whole<'*'>UTC<'* ]]
    # Without a place for it, the XML goes to standard output.
    [[ $(sets --element=element.xml | request) = "$(element)" ]]
}

@test "an element with errors is refused, and one with warnings is not" {
    local text

    cp web1.xml before.xml
    element '<ci:user-data>#cloud-config
a: [
</ci:user-data>' >element.xml
    run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml -i web1.xml
    [[ $stderr = *"error: domain 'web1': <user-data>: line 3"*'[yaml]'*'could not start with this element (1 error)'* ]]
    run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml --dry-run web1.xml
    [[ $stderr = *'could not start with this element (1 error)'* ]]
    element '<ci:hostnam>a</ci:hostnam>' >element.xml
    run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml -i web1.xml
    [[ $stderr = *'unknown element <hostnam>'* ]]
    for text in '' $' \n' '<a>' '<domain/>' '<cloud-init/>'; do
        printf '%s' "$text" >element.xml
        run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml -i web1.xml
        [[ $stderr = *'error: the element is '* && $stderr = *'hint: '* ]]
        [[ -n ${text// /} && $text != $' \n' ]] || [[ $stderr = *'is empty'*"use 'virt-seed unset'"* ]]
    done
    run -1 virt-seed --root="$root" set --element= -i web1.xml
    assert_said 'is empty' "'virt-seed unset'"
    diff before.xml web1.xml

    element '<ci:user-data>#cloud-config
locale: 5
</ci:user-data>' >element.xml
    run -0 --separate-stderr virt-seed --root="$root" set --element=element.xml -i web1.xml
    [[ $output = 'web1: element written; wired' && $stderr = *"warning: domain 'web1': <user-data>: line 2"*'[yaml-value]'* ]]
    # No hint is for another command.
    element '<ci:user-data>#cloud-config
packages: 7
</ci:user-data>' >element.xml
    run -0 --separate-stderr virt-seed --root="$root" set --element=element.xml -i web1.xml
    [[ $stderr = *"'packages' is an integer"*'[schema]'*'hint: see the module reference'* && $stderr != *--no-schema* ]]
    run -0 --separate-stderr virt-seed -q --root="$root" set --element=element.xml -i web1.xml
    [[ ! $output && ! $stderr ]]
}

@test "--element --json prints one object, whatever happens" {
    element '<ci:user-data>
#cloud-config
locale: 5
</ci:user-data>
<ci:user-data>#cloud-config
timezone: UTC
</ci:user-data>' >element.xml
    cp web1.xml before.xml
    run -0 --separate-stderr virt-seed --root="$root" set --element=element.xml --json --dry-run web1.xml
    jq -e '.domain == "web1" and (.uuid | length) == 36 and .defined == false and .message == null and
        .changes[0] == "element written" and (.changes | length) > 3 and .schema == "checked" and
        .pending.boot == "unrecorded" and .pending.wiring == []' <<<"$output"
    jq -e '.findings | length == 1 and (.[0] | .id == "yaml-value" and .line == 2 and .part == "user-data" and
        ."part-index" == 0 and ."part-line" == 3 and (.message | contains("line 2")))' <<<"$output"
    diff before.xml web1.xml

    sed -i 's/timezone: UTC/timezone: [/' element.xml
    run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml --json -i web1.xml
    jq -e '.pending == null and .defined == false and (.message | contains("could not start")) and
        (.findings | map(select(.severity == "error")) | .[0] |
            .line == 6 and ."part-index" == 1 and ."part-line" == 3)' <<<"$output"
    element $'<ci:user-data>\n</ci:userdata>' >element.xml
    run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml --json -i web1.xml
    jq -e '.findings[0] | .id == "xml" and .line == 3 and .part == null' <<<"$output"
    jq -e '(.message | contains("not well-formed")) and .hint != null and .uuid != null' <<<"$output"
    element '<ci:hostnam>a</ci:hostnam>' >element.xml
    run -1 --separate-stderr virt-seed --root="$root" set --element=element.xml --json -i web1.xml
    jq -e '.findings | map(select(.id == "request-unknown" and .line == 2)) | length == 1' <<<"$output"
    run -1 --separate-stderr virt-seed --root="$root" set --element=- --json -i missing.xml < <(element)
    jq -e '.domain == "missing.xml" and .uuid == null and (.message | contains("missing.xml"))' <<<"$output"
    diff before.xml web1.xml
    run -0 --separate-stderr virt-seed --root="$root" set --element=- --json -i web1.xml < <(element)
    # There is no libvirt that it could be defined in.
    jq -e '.defined == false and .message == null' <<<"$output"
    diff <(element) <(request <web1.xml)
}

@test "--element --dry-run also prints what pending would" {
    local pending

    virt-seed -q --root="$root" set --element=- -o out.xml web1.xml < <(element)
    run -0 virt-seed --root="$root" pending out.xml
    pending=$output
    run -0 --separate-stderr virt-seed --root="$root" set --dry-run --element=- web1.xml < <(element)
    [[ $output = 'web1: would be changed'*"$pending" ]]
}

@test "a secret in the element is printed nowhere" {
    local argument

    element '<ci:user-data secret="web1"/>
<ci:initialization><ci:root_password>hunter2</ci:root_password></ci:initialization>' >element.xml
    make_secret web1 userdata $'#cloud-config\nfinal_message: hunter2'
    for argument in --dry-run --json '--json --dry-run' -v; do
        # shellcheck disable=SC2086  # words
        run -0 virt-seed --root="$root" set --element=element.xml $argument -o out.xml web1.xml
        [[ $output = *written* && $output != *hunter2* ]]
    done
    sed -i 's|</ci:initialization>||' element.xml
    run -1 virt-seed --root="$root" set --element=element.xml --json -o out.xml web1.xml
    [[ $output != *hunter2* ]]
}

@test "--element is refused with what it cannot be combined with" {
    element >element.xml
    run virt-seed --root="$root" set --element=- - <element.xml
    assert_refused 2 'standard input'
    run virt-seed --root="$root" set --element=- --user-data=- web1.xml <element.xml
    assert_refused 2 'standard input'
    run virt-seed --root="$root" set --element=element.xml --json web1.xml
    assert_refused 2 'standard output'
    run virt-seed --root="$root" set --element=element.xml --password-file=password web1.xml
    assert_refused 2 'after the element'
    run virt-seed --root="$root" set --element=missing web1.xml
    assert_refused 1 "could not read 'missing'"
}
