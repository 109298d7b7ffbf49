#!/usr/bin/env bats
# host-keys.bats: the ssh host key that the host makes for a guest, and 'virt-seed known-hosts'.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    key=$root$statedir/secrets/$uuid/ssh_host_ed25519_key
    public=$root$statedir/$uuid.ssh_host_ed25519_key.pub
    generating_xml >wired.xml
}

# generating_xml [REQUEST]: the wired domain, with ssh-host-keys="generate".
generating_xml() {
    wired_xml "$@" | sed 's/<ci:cloud-init /&ssh-host-keys="generate" /'
}

known_hosts() {
    virt-seed --root="$root" known-hosts "$@"
}

need_ssh_keygen() {
    type -P ssh-keygen >/dev/null || skip 'ssh-keygen is not installed'
}

# seed_keys FILE: prints the keys in the user-data of the seed.
seed_keys() {
    virt-seed inspect --extract=documents "$1" >/dev/null &&
        grep -v '^#' documents/user-data | jq -c .ssh_keys &&
        rm -r documents
}

# --- the key ----------------------------------------------------------------------------------

@test "the first start makes a key that ssh-keygen accepts, and every later start uses it" {
    need_ssh_keygen
    lifecycle wired.xml prepare
    cp "$seeds/$uuid.iso" first.iso
    [[ $(ssh-keygen -y -f "$key") = "$(<"$public")" ]]
    [[ $(ssh-keygen -l -f "$key") = '256 SHA256:'*' virt-seed (ED25519)' ]]
    # ssh-keygen reads all of it, and writes it again.
    cp "$key" copy
    chmod 600 copy
    ssh-keygen -q -p -N '' -f copy
    [[ $(ssh-keygen -y -f copy) = "$(<"$public")" ]]
    lifecycle wired.xml release
    lifecycle wired.xml prepare
    cmp "$seeds/$uuid.iso" first.iso
}

@test "sshd accepts the key" {
    local sshd

    sshd=$(type -P sshd || type -P /usr/sbin/sshd) || skip 'sshd is not installed'
    lifecycle wired.xml prepare
    # It looks at the keys before it looks at what else it would need to run.
    run "$sshd" -t -f /dev/null -h "$key"
    [[ $output != *'host key'* && $output != *hostkeys* ]]
    : >broken
    chmod 600 broken
    run "$sshd" -t -f /dev/null -h "$PWD/broken"
    [[ $output = *'host key'* ]]
}

@test "the guest's seed has both halves of the key" {
    lifecycle wired.xml prepare
    diff <(seed_keys "$seeds/$uuid.iso") <(jq -nc --rawfile private "$key" \
        --rawfile public "$public" '{ed25519_private: $private, ed25519_public: $public}')
    cmp "$seeds/$uuid.iso" <(virt-seed --root="$root" build -o - wired.xml)
}

# libvirt lets a domain start once at a time.
@test "of simultaneous starts, all that are not refused use one key" {
    local starts=() start

    for i in {1..8}; do
        lifecycle wired.xml prepare 2>"said.$i" &
        starts+=($!)
    done
    for start in "${starts[@]}"; do
        wait "$start" || :
    done
    [[ $(grep -h error: said.* | grep -cv 'has just made its host key') = 0 ]]
    lifecycle wired.xml prepare
    [[ $(seed_keys "$seeds/$uuid.iso" | jq -r .ed25519_private) = "$(<"$key")" ]]
    [[ $(ls -A "$(dirname "$key")") = ssh_host_ed25519_key ]]
}

# is_stopped PROCESS: by tests/hostile/fault.
is_stopped() {
    grep -q '^State:.T' "/proc/$1/status"
}

@test "a start that is late with its key is refused, and the one that another has made stays" {
    local fault=$top_builddir/tests/hostile/fault tracer

    "$fault" fcntl 1 stop true || [[ $? -ne 77 ]] || skip 'no process may be traced here'
    # It has written its key, which has no name yet. LeakSanitizer does not work in a traced process.
    ASAN_OPTIONS=detect_leaks=0 "$fault" fsync 1 stop hook-in-root --root="$root" web1 prepare begin - \
        <wired.xml 2>said 3>&- &
    tracer=$!
    wait_until 60 is_stopped "$tracer"
    [[ ! -e $key ]]
    lifecycle wired.xml prepare
    cp "$key" first
    cp "$public" first.pub
    kill -CONT "$tracer"
    if wait "$tracer"; then
        false
    fi
    grep 'has just made its host key' said
    cmp "$key" first
    cmp "$public" first.pub
}

@test "another domain gets another key" {
    lifecycle wired.xml prepare
    sed "s/$uuid/$other_uuid/g" wired.xml >other.xml
    lifecycle other.xml prepare
    run ! cmp -s "$key" "${key/$uuid/$other_uuid}"
}

@test "refuses to resume a guest whose key is missing, and says how to copy the old one" {
    local operation

    for operation in restore migrate; do
        lifecycle wired.xml "$operation"
        run --separate-stderr lifecycle wired.xml prepare
        only_stderr
        assert_refused 1 "domain 'web1'" "$statedir/secrets/$uuid/ssh_host_ed25519_key does not exist" \
            "rsync -aR HOST:$statedir/secrets/$uuid /"
        run ! test -e "$root$statedir" -o -e "$seeds/$uuid.iso"
    done
    lifecycle wired.xml prepare
    cp "$seeds/$uuid.iso" first.iso
    lifecycle wired.xml release
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    cmp "$seeds/$uuid.iso" first.iso
}

@test "a key that was copied from another host is the guest's there, with its public half" {
    lifecycle wired.xml prepare
    known_hosts wired.xml >before
    cp "$seeds/$uuid.iso" first.iso
    mkdir -p "other$statedir/secrets"
    chmod 700 "other$statedir/secrets"
    cp -a "$(dirname "$key")" "other$statedir/secrets/"
    for operation in migrate prepare; do
        hook-in-root --root=other web1 "$operation" begin - <wired.xml
    done
    cmp "other$rundir/$uuid.iso" first.iso
    virt-seed --root=other known-hosts wired.xml | cmp - before
}

@test "a guest marked as done needs no key" {
    sed -i 's/<ci:cloud-init /&boots="until-done" /' wired.xml
    virt-seed --quiet --root="$root" 'done' wired.xml
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    run ! test -e "$root$statedir/secrets"
}

@test "refuses a start if the key is readable by others or damaged" {
    lifecycle wired.xml prepare
    chmod 644 "$key"
    run --separate-stderr lifecycle wired.xml prepare
    only_stderr
    assert_refused 1 "$statedir/secrets/$uuid/ssh_host_ed25519_key has mode 0644"
    run -1 virt-seed --root="$root" check wired.xml
    assert_said '[secret-mode]'
    chmod 600 "$key"
    : >"$key"
    run --separate-stderr lifecycle wired.xml prepare
    only_stderr
    assert_refused 1 'is not an OpenSSH private key'
    [[ ! -s $key ]]
}

@test "refuses a start if the state directory cannot be created" {
    mkdir -p "$root$(dirname "$statedir")"
    ln -s /nowhere "$root$statedir"
    run --separate-stderr lifecycle wired.xml prepare
    only_stderr
    assert_refused 1 "$statedir"
}

# --- who does not make it ---------------------------------------------------------------------

@test "no command makes a key" {
    run -0 virt-seed --root="$root" dump wired.xml
    assert_said '<generated at the first start>'
    run -0 virt-seed --root="$root" dump --show-secrets wired.xml
    assert_said '<generated at the first start>'
    run -0 virt-seed --root="$root" check --no-schema wired.xml
    assert_said 'no problems found'
    run -1 virt-seed --root="$root" build wired.xml
    assert_refused 1 "domain 'web1'" 'has not been made yet' 'start the domain'
    run -1 known_hosts wired.xml
    assert_refused 1 "domain 'web1'" 'has not been made yet' 'start the domain'
    run ! test -e "$root$statedir"
}

@test "dump shows the key only with --show-secrets, to those who may read it" {
    lifecycle wired.xml prepare
    run -0 virt-seed --root="$root" dump wired.xml
    assert_said '<generated at the first start>'
    [[ $output != *'BEGIN OPENSSH'* ]]
    run -0 virt-seed --root="$root" dump --show-secrets wired.xml
    assert_said 'BEGIN OPENSSH' "$(<"$public")"
    chmod 755 "$root" "$root"/*
    become_nobody
    [[ ${#as_nobody[@]} -gt 0 ]] || skip 'the tests are run by an ordinary user'
    run -0 "${as_nobody[@]}" virt-seed --root="$root" dump - <wired.xml
    run -1 "${as_nobody[@]}" virt-seed --root="$root" dump --show-secrets - <wired.xml
    assert_said '<generated at the first start>' 'run the command as root'
    run -0 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema - <wired.xml
    assert_said 'no problems found'
}

@test "policy=\"content\" covers that a key is generated, but not the key itself" {
    id() {
        virt-seed --root="$root" dump "$@" meta-data | jq -r '.["instance-id"]'
    }

    generating_xml '<ci:instance-id policy="content"/>' >content.xml
    before=$(id content.xml)
    [[ $before =~ ^$uuid-[0-9a-f]{16}$ ]]
    lifecycle content.xml prepare
    [[ $(id content.xml) = "$before" && $(id --show-secrets content.xml) = "$before" ]]
    rm -r "$root$statedir"
    lifecycle content.xml prepare
    [[ $(id --show-secrets content.xml) = "$before" ]]
    run -0 virt-seed inspect "$seeds/$uuid.iso"
    assert_said "instance-id $before"
    sed 's/ssh-host-keys="generate"//' content.xml >without.xml
    [[ $(id without.xml) != "$before" ]]
}

# --- known-hosts ------------------------------------------------------------------------------

@test "known-hosts prints a line with the full name, the first label and each address" {
    local words

    generating_xml '<ci:hostname>web1.example.org</ci:hostname>' >wired.xml
    lifecycle wired.xml prepare
    words=$(cut -d ' ' -f 1,2 "$public")
    diff <(known_hosts --host=192.0.2.1 --host='[2001:db8::1]:2222' wired.xml) - <<END
web1.example.org $words
web1 $words
192.0.2.1 $words
[2001:db8::1]:2222 $words
END
    generating_xml >wired.xml
    [[ $(known_hosts wired.xml) = "web1 $words" ]]
}

@test "ssh accepts what known-hosts prints" {
    need_ssh_keygen
    lifecycle wired.xml prepare
    known_hosts --host='[192.0.2.1]:2222' wired.xml >known
    for host in web1 '[192.0.2.1]:2222'; do
        [[ $(ssh-keygen -f known -F "$host" -l) = *"$(ssh-keygen -l -f "$key" | cut -d ' ' -f 2)"* ]]
    done
}

@test "known-hosts works for every user" {
    local above=$root$statedir

    lifecycle wired.xml prepare
    known_hosts wired.xml >expected
    chmod 755 "$root"
    while above=${above%/*} && [[ $above != "$root" ]]; do
        chmod 711 "$above"
    done
    become_nobody
    diff expected <("${as_nobody[@]}" virt-seed --root="$root" known-hosts - <wired.xml)
}

@test "known-hosts prints no name that known_hosts would read differently" {
    for host in '' 'a b' 'a,b' '*' '!a' '#a' '@revoked' '|1|x' $'a\nb' 'ä'; do
        run -2 known_hosts --host="$host" wired.xml
        assert_refused 2 'is not a host name'
    done
}

@test "known-hosts prints the keys of a secret, with or without public files" {
    local type

    need_ssh_keygen
    for type in rsa ecdsa ed25519; do
        ssh-keygen -q -t "$type" -N '' -C comment -f "$type"
        make_secret keys "ssh_host_${type}_key" "$(<"$type")"$'\n'
    done
    make_secret keys ssh_host_rsa_key.pub "$(<rsa.pub)"
    wired_xml '<ci:ssh-host-keys secret="keys"/>' >wired.xml
    diff <(known_hosts wired.xml) <(for type in rsa ecdsa ed25519; do
        echo "web1 $(cut -d ' ' -f 1,2 "$type.pub")"
    done)
    ssh-keygen -q -t rsa -m PEM -N '' -f pem
    rm -r "$root$confdir/secrets/keys"
    make_secret keys ssh_host_rsa_key "$(<pem)"$'\n'
    run -1 known_hosts wired.xml
    assert_refused 1 'has no public key' 'ssh-keygen -y'
}

@test "known-hosts says what to do if the guest makes its keys itself" {
    wired_xml >wired.xml
    run -1 known_hosts wired.xml
    assert_refused 1 "domain 'web1'" 'generates its own host keys' 'ssh-host-keys="generate"'
}

@test "keys are neither printed nor left in other places" {
    local secret

    lifecycle wired.xml prepare >out 2>err
    secret=$(sed -n 4p "$key")
    [[ -n $secret ]]
    known_hosts wired.xml >>out 2>>err
    virt-seed --root="$root" dump wired.xml >>out 2>>err
    run ! grep -qF "$secret" out err wired.xml
    found=$(grep -rlaF "$secret" "$root" | sort)
    [[ $found = "$(printf '%s\n' "$seeds/$uuid.iso" "$seeds/$uuid.iso.made" "$key" | sort)" ]]
}
