#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash
# set.bats: 'virt-seed set' on libvirt's domains, also while somebody else changes them.

bats_require_minimum_version 1.5.0

load lab
load domains
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    printf '#cloud-config\nlocale: C.UTF-8\n' >user-data
    domain_define web1 $web1
}

teardown() {
    lab_reset
    lab_run sh -c 'rm -rf /etc/virt-seed/*'
}

definition() {
    lab_virsh dumpxml --inactive web1
}

@test "after one command, the domain starts with what was set" {
    virt_seed set web1 --hostname=web1.example.org --user-data=user-data
    lab_virsh start web1
    [[ $(virt_seed inspect --json "$seed" | jq -r .label) = cidata ]]
    [[ $(virt_seed dump web1 user-data) = "$(<user-data)" ]]
}

@test "writes only the element if the domain is already wired" {
    local before

    virt_seed set web1 --hostname=one
    # What libvirt would drop or change if it formatted the definition again.
    before=$(definition | sed '/<metadata>/,/<\/metadata>/d')
    run -0 virt_seed set web1 --hostname=two --meta-data=a='<b> & c'
    [[ ${lines[0]} = 'web1: hostname two, meta-data a' ]]
    [[ $(definition | sed '/<metadata>/,/<\/metadata>/d') = "$before" ]]
    run -0 virt_seed dump web1 meta-data
    [[ $(jq -r '."local-hostname", .a' <<<"$output") = $'two\n<b> & c' ]]
    run -0 virt_seed set web1 --hostname=two --meta-data=a='<b> & c'
    [[ $output = *'already set'* ]]
}

@test "a running domain continues and gets the change at its next start" {
    virt_seed set web1 --hostname=one
    lab_virsh start web1
    run -0 virt_seed set web1 --hostname=two
    [[ $output = *'takes effect at its next start'* ]]
    run -0 lab_virsh dumpxml web1
    [[ $output = *'>one<'* && $output != *'>two<'* ]]
    run -0 definition
    [[ $output = *'>two<'* ]]
}

# hash_of_user: prints the hash of the default user's password, which must be in the seed.
hash_of_user() {
    local hash

    hash=$(lab_run cat /var/lib/virt-seed/secrets/$web1/password)
    virt_seed dump --show-secrets web1 user-data | grep -F -q "$hash"
    echo "$hash"
}

@test "passwords are hashed on the host for the domain's UUID, replaced, and removed" {
    local kept=/var/lib/virt-seed/secrets/$web1 first

    echo 'correct horse' >password
    run -0 virt_seed set web1 --password-file=password --root-password-file=password
    [[ $output = *'hash of the password stored on this host'* ]]
    [[ $(definition) = *'root-password="stored"'* && $(definition) != *horse* ]]
    [[ $(lab_run stat -c '%a %U' "$kept" "$kept/password" "$kept/root-password") = $'700 root\n600 root\n600 root' ]]
    run ! lab_run grep -r horse /var/lib/virt-seed /etc/virt-seed
    run ! lab_run test -e /etc/virt-seed/secrets/web1
    first=$(hash_of_user)
    [[ $(perl -e 'print crypt("correct horse", $ARGV[0])' "$first") = "$first" ]]
    lab_virsh start web1

    # Another one replaces it, and is not in the definition, either.
    echo 'another' >password
    run -0 virt_seed set web1 --dry-run --password-file=password
    [[ $output = *'would be changed'*'hash of the password'* && $(hash_of_user) = "$first" ]]
    run -0 virt_seed set web1 --password-file=password
    [[ $output = *'hash of the password stored on this host'* && $(hash_of_user) != "$first" ]]
    [[ $(perl -e 'print crypt("another", $ARGV[0])' "$(hash_of_user)") = "$(hash_of_user)" ]]
    run -2 virt_seed set web1 --password-file=password -o out.xml
    [[ $output = *'cannot be combined with --output'* && ! -e out.xml ]]

    # The guest that runs, and once it was saved, still asks for it.
    virt_seed set web1 --root-password-file=
    [[ $(lab_run ls -A "$kept") = $'password\nroot-password' && $(definition) != *root-password* ]]
    lab_virsh managedsave web1
    virt_seed set web1 --timezone=UTC
    run -1 virt_seed rm --yes web1
    [[ $output = *"'web1' was saved, and could not be resumed"*managedsave-remove* ]]
    lab_virsh start web1
    lab_virsh destroy web1

    virt_seed set web1 --timezone=
    [[ $(lab_run ls -A "$kept") = password ]]
    virt_seed unset web1
    [[ -z $(lab_run ls -A "$kept") ]]
}

@test "a password that libvirt does not take leaves the old one" {
    local kept=/var/lib/virt-seed/secrets/$web1 before

    echo one >password
    virt_seed set web1 --password-file=password
    before=$(lab_run cat "$kept/password")
    echo two >password
    run -1 virt_seed set web1 --password-file=password --hostname=no_host
    [[ $(lab_run cat "$kept/password") = "$before" ]]
    mkfifo fifo
    virt_seed set web1 --password-file=password --user-data=fifo >log 2>&1 &
    waiting=$!
    exec 9>fifo
    lab_virsh desc web1 --config 'changed meanwhile' >/dev/null
    cat user-data >&9
    exec 9>&-
    run ! wait "$waiting"
    [[ $(lab_run cat "$kept/password") = "$before" && $(lab_run ls -A "$kept") = password ]]
}

@test "the next domain of a name is not in the way of the old one's password, whatever the name is" {
    local other=4dea22b3-1d52-d8f3-2516-782e98ab3fcc

    definition | sed "s|$web1|$other|" >other.xml
    echo one >password
    virt_seed set web1 --password-file=password
    lab_virsh undefine web1
    lab_virsh define other.xml
    virt_seed set web1 --password-file=password
    lab_virsh start web1
    lab_virsh destroy web1
    lab_virsh undefine web1
    sed 's|<name>web1</name>|<name>my vm</name>|' other.xml >named.xml
    lab_virsh define named.xml
    virt_seed set 'my vm' --root-password-file=password
    lab_virsh start 'my vm'
    lab_virsh destroy 'my vm'
    # gc's policy is the host key's, and --all forgets both.
    lab_virsh undefine 'my vm'
    lab_run test -e "/var/lib/virt-seed/secrets/$other/root-password"
    virt_seed gc --all
    run ! lab_run test -e "/var/lib/virt-seed/secrets/$other" -o -e "/var/lib/virt-seed/secrets/$web1"
}

@test "a clone has no password until it gets one" {
    local clone=4dea22b3-1d52-d8f3-2516-782e98ab3fcd

    echo one >password
    virt_seed set web1 --password-file=password
    definition | sed "s|$web1|$clone|g; s|<name>web1</name>|<name>web2</name>|" >clone.xml
    lab_virsh define clone.xml
    run ! lab_virsh start web2
    [[ $output = *"/var/lib/virt-seed/secrets/$clone/password does not exist"*'virt-seed set web2 --password-file=FILE'* ]]
    virt_seed set web2 --password-file=password
    lab_virsh start web2
    lab_virsh destroy web2
    lab_virsh undefine web2
}

@test "keeps a change that somebody else makes at the same time" {
    local first waiting status

    mkfifo fifo
    for first in unwired wired; do
        virt_seed set web1 --user-data=fifo >log 2>&1 &
        waiting=$!
        # This waits until 'set' opens the file, and by then it has read the definition.
        exec 9>fifo
        lab_virsh desc web1 --config "changed while $first" >/dev/null
        cat user-data >&9
        exec 9>&-
        status=0
        wait "$waiting" || status=$?
        cat log
        [[ $status -eq 1 ]]
        grep -q "error: somebody else changed the definition of 'web1' while this command was running" log
        grep -q '^virt-seed: hint: ' log
        run -0 definition
        [[ $output = *"changed while $first"* && $output != *C.UTF-8* ]]
        virt_seed set web1 --hostname=one
    done
}

@test "unset removes all of it" {
    virt_seed set web1 --hostname=one
    virt_seed unset web1
    [[ $(definition) != *virt-seed* && $(definition) != *"<smbios"* ]]
}

@test "-o - leaves the domain unchanged" {
    local before

    before=$(definition)
    run -0 virt_seed set web1 -o - --hostname=one
    [[ $output = *'>one<'*ua-virt-seed* ]]
    [[ $(definition) = "$before" ]]
}

# asked FILE ARGUMENT...: 'virt-seed set' on a terminal, where somebody types what FILE says.
asked() {
    local answers=$1

    shift
    lab_run python3 "$BATS_TEST_DIRNAME/../answer.py" "$answers" "$builddir/virt-seed" set "$@"
}

@test "a password is asked for twice, is not shown, and is stored for each domain" {
    domain_define web2
    printf 'New password of the default user:\tcorrect horse\nThe same again:\tcorrect horse\n' >answers
    run -0 asked answers --password web1 web2
    [[ $output = *'New password of the default user: '* && $output != *horse* ]]
    [[ $(grep -o 'New password' <<<"$output" | wc -l) -eq 1 ]]
    [[ $(perl -e 'print crypt("correct horse", $ARGV[0])' "$(hash_of_user)") = "$(hash_of_user)" ]]
    run -0 lab_run sh -c 'cat /var/lib/virt-seed/secrets/*/password'
    [[ $output = \$6\$*\$6\$* ]]
    printf 'New password of root:\tone\nThe same again:\ttwo\n' >answers
    run -2 asked answers --root-password web1
    [[ $output = *'the two passwords differ'* && $output != *'error: '*two$* ]]
    printf 'New password of root:\t\n' >answers
    run -2 asked answers --root-password web1
    [[ $output = *'no password was given'* ]]
    [[ $(definition) != *root-password* ]]
    # A signal leaves the terminal with its echo.
    printf 'New password of root:\t^C\n' >answers
    lab_run python3 "$BATS_TEST_DIRNAME/../answer.py" answers bash -c \
        "trap : INT; '$builddir/virt-seed' set --root-password web1; echo status \$?; stty -a" >shown
    grep -q 'status 130' shown
    grep -qE '(^| )echo ' shown
}

@test "a password is made, printed once, and accepted" {
    local password

    domain_define web2
    run -0 virt_seed set --password-generate web1
    [[ $output =~ 'web1: password '([a-z2-9]{20})$ ]]
    password=${BASH_REMATCH[1]}
    [[ $password != *[lo01]* ]]
    [[ $(perl -e 'print crypt($ARGV[0], $ARGV[1])' "$password" "$(hash_of_user)") = "$(hash_of_user)" ]]
    run ! lab_run grep -r "$password" /var/lib/virt-seed /etc/virt-seed
    run -0 virt_seed -q set --password-generate web1 web2
    [[ ${#lines[@]} -eq 2 && ${#lines[0]} -eq 20 && ${#lines[1]} -eq 20 && ${lines[0]} != "${lines[1]}" ]]
    # Nothing is printed that is not stored.
    run -0 virt_seed -q set --dry-run --password-generate web1
    [[ $output != *$'\n'[a-z2-9]* && ! $output =~ ^[a-z2-9]{20}$ ]]
    run -2 virt_seed set --json --password-generate web1
    echo one >password
    run -2 virt_seed set --password-generate --password-file=password web1
    [[ $output = *'--password-file sets a password that was given already'* ]]
}

# --- the whole element ------------------------------------------------------------------------

# element CONTENT: prints an element.
element() {
    printf '<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">\n%s\n</ci:cloud-init>\n' "$1"
}

# set_element ARGUMENT... <ELEMENT
set_element() {
    virt_seed set web1 --element=- "$@"
}

@test "--element replaces the element of a domain, wires and defines it in one command" {
    local before

    virt_seed set web1 --user-data=user-data
    lab_virsh start web1
    before=$(definition | sed '/<metadata>/,/<\/metadata>/d')
    run -0 --separate-stderr set_element --json < <(element '<ci:hostname>whole</ci:hostname>')
    jq -e --arg uuid $web1 '.domain == "web1" and .uuid == $uuid and .defined == true and .message == null and
        .changes == ["element written"] and .findings == []' <<<"$output"
    jq -e '.pending | .running == true and .boot == "same-instance" and .wiring == [] and
        (.documents | map(select(.state == "changed").path)) == ["meta-data", "user-data"]' <<<"$output"
    [[ $(definition) = *'<ci:hostname>whole</ci:hostname>'* && $(definition) != *'<ci:user-data>'* ]]
    [[ $(definition | sed '/<metadata>/,/<\/metadata>/d') = "$before" ]]
    # The same is nothing to define, and what is defined nevertheless.
    run -0 --separate-stderr set_element --json < <(element '<ci:hostname>whole</ci:hostname>')
    jq -e '.changes == [] and .defined == true' <<<"$output"

    virt_seed unset web1
    run -0 set_element < <(element '<ci:hostname>again</ci:hostname>')
    [[ $output = 'web1: element written; wired'* && $(definition) = *'>again<'* ]]
    lab_virsh destroy web1
    lab_virsh start web1
    [[ $(virt_seed dump web1 meta-data | jq -r '."local-hostname"') = again ]]
}

@test "an element with errors is not defined, and --dry-run defines none" {
    local before

    virt_seed set web1 --user-data=user-data
    before=$(definition)
    run -1 --separate-stderr set_element --json < <(element $'<ci:user-data>#cloud-config\na: [\n</ci:user-data>')
    jq -e '.defined == false and .pending == null and (.message | contains("1 error")) and
        (.findings[0] | .severity == "error" and .line == 2 and .part == "user-data" and ."part-line" == 3)' <<<"$output"
    run -1 --separate-stderr set_element --json < <(element $'<ci:user-data>\n</ci:userdata>')
    jq -e --arg uuid $web1 '.uuid == $uuid and .defined == false and
        (.findings[0] | .id == "xml" and .line == 3)' <<<"$output"
    run -1 --separate-stderr set_element --json </dev/null
    jq -e '(.message | contains("empty")) and (.hint | contains("unset"))' <<<"$output"
    run -0 --separate-stderr set_element --json --dry-run < <(element '<ci:hostname>whole</ci:hostname>')
    jq -e '.defined == false and .message == null and .changes == ["element written"] and
        .pending.domain == "web1"' <<<"$output"
    [[ $(definition) = "$before" ]]

    run -0 --separate-stderr set_element --json < <(element $'<ci:user-data>#cloud-config\nlocale: 5\n</ci:user-data>')
    jq -e '.defined == true and (.findings | map(.id) == ["yaml-value"])' <<<"$output"
    [[ $(definition) = *'locale: 5'* ]]

    run -1 --separate-stderr virt_seed set nobody --element=- --json < <(element '')
    jq -e '.domain == "nobody" and .uuid == null and .defined == false and (.message | contains("no domain"))' <<<"$output"
}

@test "a secret of the host that the element names is printed nowhere" {
    local argument

    lab_make_secret web1 userdata $'#cloud-config\nfinal_message: hunter2'
    lab_virsh start web1
    for argument in --dry-run '--json --dry-run' --json; do
        # shellcheck disable=SC2086  # words
        run -0 set_element $argument < <(element '<ci:user-data secret="web1"/>
            <ci:initialization><ci:root_password>hunter2</ci:root_password></ci:initialization>')
        [[ $output = *written* && $output != *hunter2* ]]
    done
}

@test "whoever may only read can see what an element would change" {
    local as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups) options

    lab_run "${as_nobody[@]}" test -x "$builddir/virt-seed" || skip 'the build is closed to others'
    virt_seed set web1 --user-data=user-data
    element '<ci:hostname>whole</ci:hostname>' >element.xml
    # The lab's daemon lets everybody write.
    lab_run sh -c 'chmod o-rwx /run/libvirt/*-sock'
    for options in --dry-run ''; do
        # shellcheck disable=SC2086  # no word without it
        run --separate-stderr lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///system set web1 \
            --element=- --json $options <element.xml
        echo "$status" >"status$options"
        echo "$output" >"output$options"
    done
    lab_run sh -c 'chmod o+rw /run/libvirt/*-sock'
    [[ $(<status--dry-run) = 0 && $(<status) = 1 ]]
    jq -e '.defined == false and .message == null and .changes == ["element written"] and
        (.pending.documents | length) > 0' output--dry-run
    jq -e '.domain == "web1" and .defined == false and .message != null' output
    [[ $(definition) != *whole* ]]
}
