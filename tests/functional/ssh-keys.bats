#!/usr/bin/env bats
# ssh-keys.bats: which public keys 'virt-seed set' takes, compared with ssh-keygen, and what becomes
# of those that a definition has already.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    type -P ssh-keygen >/dev/null || skip 'ssh-keygen is not installed'
    make_root
    domain_xml >web1.xml
}

# make_keys: makes a .pub file of each type that this ssh-keygen can make, and certificates.
make_keys() {
    local type bits

    while read -r type bits; do
        # OpenSSH 10 makes no more keys of DSA.
        ssh-keygen -q -t "$type" -b "$bits" -N '' -C 'a b' -f "$type$bits" 2>/dev/null || [[ $type = dsa ]]
    done <<'END'
ed25519 256
ecdsa 256
ecdsa 384
ecdsa 521
rsa 1024
dsa 1024
END
    ssh-keygen -q -s ed25519256 -I id -n root,me -O no-pty ecdsa256.pub rsa1024.pub
}

# agree FILE: 'set' takes the key in FILE if ssh-keygen does.
agree() {
    local mine=yes theirs=yes

    virt-seed --quiet --root="$root" set --ssh-key="$1" web1.xml >/dev/null 2>message || mine=no
    ssh-keygen -l -f "$1" >/dev/null 2>&1 || theirs=no
    verdicts+=$theirs' '
    if [[ $mine != "$theirs" ]]; then
        printf 'ssh-keygen says %s, virt-seed %s, to:\n%s\n%s\n' \
            "$theirs" "$mine" "$(<"$1")" "$(<message)"
        return 1
    fi
}

@test "set takes each type of key that ssh-keygen makes" {
    local file files

    make_keys
    for file in *.pub; do
        virt-seed --quiet --root="$root" set --ssh-key="$file" web1.xml >out.xml
        grep -qF "<ci:key>$(<"$file")</ci:key>" out.xml
        run -0 virt-seed --root="$root" check --no-schema - <out.xml
        [[ $output != *ssh-key* ]]
    done
    files=(*.pub)
    [[ ${#files[@]} -ge 7 ]]
}

@test "set and ssh-keygen agree on keys that are damaged, and on options" {
    local file type blob other verdicts=

    make_keys
    other=$(cut -d' ' -f1 ed25519256.pub)
    for file in *.pub; do
        read -r type blob _ <"$file"
        for line in \
            "$type ${blob::-4} cut off" \
            "$type ${blob::-1}" \
            "$type ${blob}AAAA" \
            "$type ${blob:0:40}" \
            "$type ${blob:0:8}${blob:12}" \
            "$type AAAA junk" \
            "$type ${blob/A/-}" \
            "${type^^} $blob" \
            "x$type $blob" \
            "$other $blob" \
            "$type$blob" \
            "$type"$'\t \t'"$blob"$'\t'"comment" \
            "no-pty,command=\"echo a b\" $type $blob" \
            "command=\"echo \\\"a b\\\" c\" $type $blob" \
            "command=\"echo a b $type $blob" \
            "no-pty no-pty $type $blob"; do
            printf '%s\n' "$line" >line
            agree line
        done
    done
    # Both words occur, so the test compares something.
    [[ $verdicts = *yes* && $verdicts = *no* ]]
}

@test "set names the file and the line, and repeats nothing of it" {
    make_keys
    { echo '# mine'; cat ed25519256.pub; echo; echo 'ssh-rsa AAAA junk'; } >keys
    run virt-seed --root="$root" set --ssh-key=keys web1.xml
    assert_refused 1 "'keys', line 4: the ssh public key is cut off"
    [[ $output != *junk* ]]
    echo 'ssh-ed448 AAAA junk' >keys
    run virt-seed --root="$root" set --ssh-key=keys web1.xml
    assert_refused 1 "'keys', line 1: the ssh public key has a type that OpenSSH does not know"
    cp ed25519256 keys
    run virt-seed --root="$root" set --ssh-key=keys web1.xml
    assert_refused 1 "'keys', line 1: this is a private key"
}

@test "a key that a definition has already does not stop a start, and check warns of it" {
    mkdir -p "$root$confdir/files"
    printf '# of the site\nssh-rsa AAAA junk\n' >"$root$confdir/files/keys"
    make_secret team alice 'ssh-ed25519 AAAA junk'
    wired_xml "<ci:ssh-authorized-keys secret='team'>
        <ci:key>ssh-rsa AAAA junk</ci:key>
        <ci:key file='keys'/></ci:ssh-authorized-keys>" >web1.xml
    lifecycle web1.xml prepare
    run -0 virt-seed --root="$root" check --no-schema web1.xml
    assert_said 'web1.xml:6: warning: <key>: the ssh public key is cut off' \
        "<key file=\"keys\">: line 2: the ssh public key is cut off" \
        "<ssh-authorized-keys secret=\"team\">: key 'alice': line 1: the ssh public key is cut off" \
        '; sshd in the guest will ignore it [broken-ssh-key]'
    [[ $(grep -c 'broken-ssh-key' <<<"$output") -eq 3 && $output != *junk* ]]
    # What is set besides is no reason to refuse it.
    run -0 virt-seed --quiet --root="$root" set --hostname=x web1.xml
}
