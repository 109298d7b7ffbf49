#!/usr/bin/env bats
# passwords.bats: passwords whose hashes the host stores, as 'virt-seed set' does (tests/libvirt/set.bats).
# shellcheck disable=SC2016,SC2119  # hashes; the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    kept=$root$statedir/secrets/$uuid
    stored_xml >wired.xml
    make_password password '$6$salt$user'
    make_password root-password '$6$salt$root'
}

# stored_xml [REQUEST]: the wired domain, with both passwords.
stored_xml() {
    wired_xml "$@" | sed 's/<ci:cloud-init /&password="stored" root-password="stored" /'
}

# config [ARGUMENT...]: prints the user-data that the domain's guest reads, as JSON.
config() {
    virt-seed --root="$root" dump --show-secrets "${1-wired.xml}" user-data | grep -v '^#'
}

@test "the guest gets the hashes, whatever the other passwords are" {
    config | jq -e '.password == "$6$salt$user"
        and .system_info.default_user == {hashed_passwd: "$6$salt$user", lock_passwd: false}
        and .chpasswd == {expire: false, users: [{name: "root", password: "$6$salt$root", type: "hash"}]}
        and (has("ssh_pwauth") or has("users") | not)'
    sed 's/ root-password="stored"//' wired.xml >user.xml
    config user.xml | jq -e '. == {password: "$6$salt$user", chpasswd: {expire: false}}'
    sed 's/ password="stored"//' wired.xml >root.xml
    config root.xml | jq -e 'keys == ["chpasswd"]'
    stored_xml '<ci:initialization><ci:user_name>admin</ci:user_name><ci:users><ci:user><ci:user_name>alice</ci:user_name>
        <ci:password>secret</ci:password></ci:user></ci:users></ci:initialization>' >users.xml
    config users.xml | jq -e '.user == {name: "admin", hashed_passwd: "$6$salt$user", lock_passwd: false}
        and (.users | map(.name? // .)) == ["default", "alice", "root"]
        and (.chpasswd.users | map(.name)) == ["alice", "root"]'
}

@test "a start puts them into the seed, and the XML and other documents do not have them" {
    lifecycle wired.xml prepare
    virt-seed inspect --extract=documents "$root$rundir/$uuid.iso" >/dev/null
    grep -q 'salt$user' documents/user-data
    run ! grep -q 'salt' wired.xml documents/meta-data documents/vendor-data
    cmp "$root$rundir/$uuid.iso" <(virt-seed --root="$root" build -o - wired.xml)
}

@test "dump shows them only if told to, and nobody else can read them" {
    run -0 virt-seed --root="$root" dump wired.xml
    assert_said '<stored by virt-seed set>'
    [[ $output != *salt* ]]
    run -0 virt-seed --root="$root" dump --json wired.xml
    [[ $output != *salt* ]]
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'only root can make what others may not read'
    chmod 711 "$root$statedir"
    run -0 "${as_nobody[@]}" virt-seed --root="$root" dump - <wired.xml
    assert_said '<stored by virt-seed set>'
    run -1 "${as_nobody[@]}" virt-seed --root="$root" dump --show-secrets - <wired.xml
    assert_said '<stored by virt-seed set>' 'no permission to read'
    run -0 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema - <wired.xml
    assert_said 'no problems found'
    run "${as_nobody[@]}" virt-seed --root="$root" build -o - wired.xml
    assert_refused 1 'no permission to read'
}


@test "a start without one is refused, with what to type; a resumed guest gets none, either" {
    rm "$kept/password"
    for operation in '' restore migrate; do
        [[ -z $operation ]] || lifecycle wired.xml "$operation"
        run --separate-stderr lifecycle wired.xml prepare
        only_stderr
        assert_refused 1 "domain 'web1'" '<cloud-init password="stored">' \
            "$statedir/secrets/$uuid/password does not exist" \
            'virt-seed set web1 --password-file=FILE' "rsync -aR HOST:$statedir/secrets/$uuid /"
        [[ ! -e $kept/password && ! -e $root$rundir/$uuid.iso ]]
    done
    run -1 virt-seed --root="$root" check --no-schema wired.xml
    assert_said 'error: ' '[secret-missing]'
    # A guest that is marked as done needs none.
    sed -i 's/<ci:cloud-init /&boots="until-done" /' wired.xml
    virt-seed --quiet --root="$root" 'done' wired.xml
    lifecycle wired.xml prepare
}

@test "a clone does not get the passwords of the original" {
    sed "s/$uuid/$other_uuid/g" wired.xml >clone.xml
    run --separate-stderr lifecycle clone.xml prepare
    only_stderr
    assert_refused 1 "$statedir/secrets/$other_uuid/password does not exist"
}

@test "refuses what is open to others, or is no hash, without quoting it" {
    printf 'hunter2\n' >"$kept/password"
    run --separate-stderr lifecycle wired.xml prepare
    only_stderr
    assert_refused 1 "$statedir/secrets/$uuid/password does not contain a password's hash" \
        'virt-seed set web1 --password-file=FILE'
    [[ $output != *hunter2* ]]
    make_password password '$6$salt$user'
    chmod 644 "$kept/password"
    run --separate-stderr lifecycle wired.xml prepare
    only_stderr
    assert_refused 1 "$statedir/secrets/$uuid/password has mode 0644"
}

@test "a second password for root is refused" {
    domain_xml '<ci:initialization><ci:root_password secret="a"/></ci:initialization>' |
        sed 's/<ci:cloud-init /&root-password="stored" /' >twice.xml
    run virt-seed --root="$root" dump twice.xml
    assert_refused 1 "<initialization> gives 'root' a second password"
}

@test "the instance-id of policy=content covers that there is a password, and not which" {
    local element='<ci:instance-id policy="content"/>' before

    stored_xml "$element" >wired.xml
    before=$(virt-seed --root="$root" dump wired.xml meta-data)
    [[ $before != *'depends on secrets'* ]]
    make_password password '$6$salt$another'
    [[ $(virt-seed --root="$root" dump --show-secrets wired.xml meta-data) = "$before" ]]
    sed -i 's/ password="stored"//' wired.xml
    [[ $(virt-seed --root="$root" dump wired.xml meta-data) != "$before" ]]
}

@test "pending says that a document with a new password has changed, and does not show it" {
    lifecycle wired.xml prepare
    lifecycle wired.xml started
    make_password password '$6$salt$another'
    run -0 virt-seed --root="$root" pending wired.xml
    assert_said user-data
    [[ $output != *salt* ]]
}
