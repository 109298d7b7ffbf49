#!/usr/bin/env bats
# defaults.bats: what virt-seed.conf and conf.d give to domains that do not say it themselves.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx'

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    mkdir -p "$root$confdir/conf.d" "$root$confdir/files"
    echo "$key host" >"$root$confdir/files/keys"
}

# configure NAME LINE...: writes the file below /etc/virt-seed.
configure() {
    printf '%s\n' "${@:2}" >"$root$confdir/$1"
}

# dump CONTENT: prints the documents of a domain with these elements.
dump() {
    domain_xml "$1" | virt-seed --root="$root" dump -
}

@test "files in conf.d are read in the order of their names, after virt-seed.conf" {
    configure virt-seed.conf 'default-user = main'
    run -0 dump ''
    assert_said "from $confdir/virt-seed.conf: default-user = main" 'name: "main"'
    configure conf.d/20-b.conf 'default-user = second'
    configure conf.d/10-a.conf 'default-user = first' 'default-ssh-keys = keys'
    configure conf.d/30-c 'default-user = none'
    configure conf.d/.30-d.conf 'default-user = hidden'
    run -0 dump ''
    assert_said "from $confdir/conf.d/20-b.conf: default-user = second" 'name: "second"' \
        "from $confdir/conf.d/10-a.conf: default-ssh-keys = keys" "$key host"
    [[ $output != *'"main"'* && $output != *'"first"'* && $output != *none* && $output != *hidden* ]]
    configure conf.d/40-d.conf 'default-user =' 'default-ssh-keys ='
    run -0 dump ''
    [[ $output != *default* && $output != *"$key"* ]]
}

@test "a domain's own keys and user win" {
    configure virt-seed.conf 'default-user = admin' 'default-ssh-keys = keys'
    run -0 dump "<ci:ssh-authorized-keys><ci:key>$key mine</ci:key></ci:ssh-authorized-keys>"
    assert_said "$key mine" 'admin'
    [[ $output != *"$key host"* ]]
    run -0 dump '<ci:initialization><ci:user_name>own</ci:user_name></ci:initialization>'
    assert_said 'own' "$key host"
    [[ $output != *admin* ]]
}

@test "keys of a file that does not exist are refused with the configuration's name" {
    configure conf.d/site.conf 'default-ssh-keys = missing'
    run -1 dump ''
    assert_said 'conf.d/site.conf, default-ssh-keys = missing: no such file'
}

@test "a mistake in a drop-in names the file and the line" {
    configure conf.d/site.conf '# ours' 'default-user = no such user'
    run -1 dump ''
    assert_said "$confdir/conf.d/site.conf: line 2: default-user is 'no such user'"
    configure conf.d/site.conf '' '' 'nonsense = 1'
    run -1 dump ''
    assert_said "$confdir/conf.d/site.conf: line 3: unknown setting 'nonsense'"
}

@test "the first mistake of several files is reported" {
    configure virt-seed.conf 'autowire = perhaps'
    configure conf.d/site.conf 'nonsense'
    run -1 dump ''
    assert_said "$confdir/virt-seed.conf: line 1"
}

@test "a drop-in that is not a regular file is refused" {
    mkdir "$root$confdir/conf.d/site.conf"
    run -1 dump ''
    assert_said "could not read $confdir/conf.d/site.conf"
}

@test "the host's default user and keys do not change the instance-id" {
    local element='<ci:instance-id policy="content"/>' before

    before=$(dump "$element" 2>/dev/null | grep instance-id)
    configure conf.d/site.conf 'default-user = admin' 'default-ssh-keys = keys'
    [[ $(dump "$element" 2>/dev/null | grep instance-id) = "$before" ]]
}

@test "a default user does not go to Windows" {
    configure virt-seed.conf 'default-user = admin'
    domain_xml '' >windows.xml
    sed -i 's|<metadata>|&<libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0"><libosinfo:os id="http://microsoft.com/win/2k22"/></libosinfo:libosinfo>|' windows.xml
    run -0 virt-seed --root="$root" dump windows.xml
    [[ $output != *admin* ]]
}

@test "doctor names the files that it read" {
    configure virt-seed.conf 'autowire = no'
    configure conf.d/site.conf 'default-user = admin'
    run virt-seed --root="$root" doctor --verbose
    assert_said 'the configuration has no mistakes: '"$confdir/virt-seed.conf, $confdir/conf.d/site.conf"
}

@test "wiring writes the default datasource into an element that chooses none" {
    configure conf.d/site.conf 'default-datasource = configdrive'
    domain_xml >web1.xml
    run -0 virt-seed --root="$root" wire --verbose -o wired.xml web1.xml
    [[ $output = *"datasource=\"configdrive\" added, from $confdir/conf.d/site.conf"* ]]
    grep -q 'datasource=.configdrive' wired.xml
    virt-seed --quiet --root="$root" build -o seed.iso wired.xml
    run -0 virt-seed inspect seed.iso
    assert_said 'config-2'
    # From then on the definition says it, also to a host without that default.
    configure conf.d/site.conf 'default-datasource = nocloud'
    run -0 --separate-stderr virt-seed --root="$root" wire - <wired.xml
    [[ $output = *datasource=?configdrive* ]]
}

@test "a domain's own datasource wins, and a wired domain keeps what it has" {
    domain_xml | virt-seed --quiet --root="$root" wire - >wired.xml
    configure virt-seed.conf 'default-datasource = configdrive'
    virt-seed --quiet --root="$root" wire - <wired.xml >again.xml
    diff wired.xml again.xml
    domain_xml | sed 's|<ci:cloud-init |&datasource="nocloud" |' >web1.xml
    virt-seed --quiet --root="$root" wire - <web1.xml >out.xml
    grep -q 'datasource=.nocloud' out.xml
}

@test "an unknown default datasource is refused with the file and the line" {
    configure conf.d/site.conf '' 'default-datasource = moon'
    domain_xml >web1.xml
    run -1 virt-seed --root="$root" wire -o wired.xml web1.xml
    assert_said 'conf.d/site.conf' '2' 'default-datasource' 'moon'
}
