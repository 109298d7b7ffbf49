#!/usr/bin/env bats
# bad-input.bats: bad input that cannot be a file in tests/golden: wrong in its mode, its type or its
# size.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    secret=$root$confdir/secrets/web1
    wired_xml '<ci:user-data secret="web1"/>' >web1.xml
}

# refused PATTERN...: the seed of web1.xml is refused, by the command and by the hook's program, in
# the same words, $refusal, which hold nothing of the secret; and no seed is left.
refused() {
    run --separate-stderr timeout 10 virt-seed --root="$root" build --force -o seed.iso web1.xml
    only_stderr
    assert_refused 1 "domain 'web1'" "$@"
    refusal=$output
    run --separate-stderr timeout 10 hook-in-root --root="$root" web1 prepare begin - <web1.xml
    only_stderr
    assert_refused 1
    [[ $output = "$refusal" ]]
    [[ $output != *hunter2* ]]
    [[ ! -e seed.iso ]]
    run ! compgen -G "$root$rundir/$uuid*"
}

@test "refuses a secret that others may read" {
    chmod 0644 "$secret/userdata"
    refused "$confdir/secrets/web1/userdata" 0644 'chmod go= '
}

@test "refuses a secret in a directory that is open to others" {
    chmod 0755 "$secret"
    refused "$confdir/secrets/web1" 0755 'chmod go= '
}

@test "refuses a secret if the directory of secrets is open to others" {
    chmod 0711 "${secret%/*}"
    refused "$confdir/secrets" 0711 'chmod go= '
}

@test "refuses a secret that a group other than root's may read" {
    [[ $EUID -ne 0 ]] || chgrp 65534 "$secret" "$secret/userdata"
    chmod 0640 "$secret/userdata"
    refused "$confdir/secrets/web1/userdata" 0640 'chmod go= '
    chmod 0600 "$secret/userdata"
    chmod 0750 "$secret"
    refused "$confdir/secrets/web1" 0750 'chmod go= '
}

@test "refuses a secret whose list does not name the domain" {
    echo "web2 $uuid" >"$secret/allow"
    chmod 0600 "$secret/allow"
    refused "may not use the secret 'web1'" "$confdir/secrets/web1/allow"
    : >"$secret/allow"
    refused "may not use the secret 'web1'"
}

@test "refuses a secret that belongs to another user" {
    [[ $EUID -eq 0 ]] || skip 'only root can give files away'
    chown 65534 "$secret/userdata"
    refused "$confdir/secrets/web1/userdata" 'user 65534' 'chown root:root '
}

@test "refuses a FIFO in place of a secret" {
    rm "$secret/userdata"
    mkfifo -m 0600 "$secret/userdata"
    refused 'not a regular file'
}

@test "refuses a directory in place of a secret" {
    rm "$secret/userdata"
    mkdir -m 0700 "$secret/userdata"
    refused 'not a regular file'
}

@test "refuses a device in place of a secret" {
    rm "$secret/userdata"
    ln -s /dev/zero "$secret/userdata"
    refused 'leads out'
}

@test "refuses a secret that is larger than any document" {
    truncate -s 4194305 "$secret/userdata"
    refused 'has more than'
}

@test "a missing secret is an error whose hint says how to create it" {
    rm -r "$secret"
    refused "$confdir/secrets/web1 does not exist"
    # Following the hint helps.
    hint=$(sed -n 's/^virt-seed: hint: [^:]*: //p' <<<"$refusal")
    echo '#cloud-config' >content
    hint=${hint//"$confdir"/"$root$confdir"}
    hint=${hint//NAME/web1}
    hint=${hint//KEY/userdata}
    bash -c "${hint//FILE/content}"
    virt-seed --quiet --root="$root" build --force -o seed.iso web1.xml
}

@test "refuses a FIFO in place of a file" {
    mkdir "$root$confdir/files"
    mkfifo "$root$confdir/files/base.yaml"
    wired_xml '<ci:user-data file="base.yaml"/>' >web1.xml
    refused 'not a regular file'
}

@test "refuses user-data that is larger than any document" {
    domain_xml "<ci:user-data>#cloud-config
# $(head -c 4194304 /dev/zero | tr '\0' x)
</ci:user-data>" >web1.xml
    refused '<user-data>' 'at most'
}

@test "refuses documents that are too large together" {
    mkdir "$root$confdir/files"
    { echo '#!/bin/sh'; head -c 4194000 /dev/zero; } >"$root$confdir/files/large"
    wired_xml '<ci:user-data file="large"/><ci:vendor-data file="large"/>' >web1.xml
    # These two are not: the limit for a whole seed is more than two documents can have.
    virt-seed --quiet --root="$root" build --force -o seed.iso web1.xml
}

@test "refuses XML that is larger than any domain" {
    head -c 17000000 /dev/zero | tr '\0' ' ' >web1.xml
    run virt-seed wire web1.xml
    assert_refused 1 web1.xml
    run virt-seed wire - <web1.xml
    assert_refused 1 'standard input'
}

@test "refuses XML from a source without an end" {
    run timeout 10 virt-seed wire - </dev/zero
    assert_refused 1 'standard input'
    run timeout 10 virt-seed wire /dev/zero
    assert_refused 1 /dev/zero
}

@test "refuses XML that is nested without end" {
    { printf '<a>%.0s' {1..20000}; } | { run timeout 10 virt-seed wire -; assert_refused 1; }
}

@test "refuses more disks than any domain has" {
    {
        wired_xml | sed '/<\/devices>/,$d'
        for i in {1..200}; do
            echo "<disk type='file' device='cdrom'><source file='$rundir/$i.iso'/>" \
                "<target dev='sdb' bus='usb'/></disk>"
        done
        echo '</devices></domain>'
    } >web1.xml
    run -0 virt-seed --quiet wire -o one.xml web1.xml
    [[ $(xmllint --xpath 'count(//disk[@device="cdrom"])' one.xml) = 1 ]]
    run -0 virt-seed --quiet unset -o none.xml web1.xml
    [[ $(xmllint --xpath 'count(//disk[@device="cdrom"])' none.xml) = 0 ]]
    run hook-in-root --root="$root" web1 prepare begin - <web1.xml
    [[ $status -eq 1 ]]
    assert_said 'virt-seed: error: '
}
