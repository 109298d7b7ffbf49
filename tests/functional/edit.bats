#!/usr/bin/env bats
# edit.bats: 'virt-seed edit' on files; tests/libvirt/edit.bats has libvirt's domains.
# shellcheck disable=SC2016,SC2030,SC2031,SC2119  # the editors are scripts in quotes; as set.bats

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    mkdir tmp
    export TMPDIR=$PWD/tmp EDITOR=$PWD/editor
    unset VISUAL
    domain_xml '
      <ci:hostname>one</ci:hostname>
      <ci:user-data>#cloud-config
locale: C.UTF-8
</ci:user-data>
' | virt-seed -q wire - >web1.xml
}

# editor_runs SCRIPT: makes the editor, a shell script whose $1 is the file to edit.
editor_runs() {
    printf '#!/bin/sh -e\n%s\n' "$1" >editor
    chmod +x editor
}

# edit ARGUMENT...: as a program without a terminal.
edit() {
    virt-seed --root="$root" edit web1.xml "$@" </dev/null
}

# answer ANSWERS [ARGUMENT...]: the same on a terminal, where these lines are typed.
answer() {
    local answers=$1

    shift
    printf '%b' "$answers" | script -qec "virt-seed --root='$root' edit web1.xml $*" /dev/null
}

@test "a document for a guest without cloud-init stays one" {
    domain_xml "<ci:user-data format='raw'>{\"ignition\": {\"version\": \"3.4.0\"}}</ci:user-data>" |
        sed "s/<ci:cloud-init /&datasource='configdrive' /" | virt-seed -q wire - >web1.xml
    editor_runs 'sed -i s/3.4.0/3.5.0/ "$1"'
    run -0 virt-seed --root="$root" edit web1.xml user-data
    grep -q '<ci:user-data format=.raw.>.*3.5.0' web1.xml
}

# document NAME: what the guest of web1.xml reads.
document() {
    virt-seed --root="$root" dump web1.xml "$1"
}

assert_nothing_left() {
    [[ -z $(ls tmp) ]]
}

@test "the editor gets the user-data, and what it saves is defined" {
    editor_runs 'cp "$1" seen; stat -c %a "$1" >mode; echo "$1" >name; echo "timezone: UTC" >>"$1"'
    run -0 edit
    assert_said 'user-data edited'
    diff seen - <<<$'#cloud-config\nlocale: C.UTF-8'
    [[ $(<mode) = 600 && $(<name) = "$TMPDIR"/*.yaml ]]
    [[ $(document user-data) = $'#cloud-config\nlocale: C.UTF-8\ntimezone: UTC' ]]
    run -0 virt-seed --root="$root" check --no-schema web1.xml
    assert_nothing_left
}

@test "VISUAL goes before EDITOR, and both may have arguments" {
    editor_runs 'echo "$@" >arguments; exit 1'
    export VISUAL="$EDITOR --wait 'a b'" EDITOR=false
    run -1 edit
    [[ $(<arguments) = "--wait a b $TMPDIR/"* ]]
    VISUAL='A=b :; touch' run -0 edit
    VISUAL=: run -0 edit
    assert_nothing_left
}

@test "a text that was not changed leaves the file as it is" {
    local before

    before=$(<web1.xml)
    editor_runs 'true'
    run -0 edit
    assert_said 'the user-data was not changed'
    run -0 edit network-config
    assert_said 'the network-config was not changed'
    [[ $(<web1.xml) = "$before" ]]
    assert_nothing_left
}

@test "vendor-data, network-config and the element are edited by their names" {
    editor_runs 'echo "timezone: UTC" >>"$1"'
    run -0 edit vendor-data
    [[ $(document vendor-data) = *$'#cloud-config\ntimezone: UTC'* ]]
    editor_runs 'echo "ethernets: {}" >>"$1"'
    run -0 edit network-config
    [[ $(document network-config) = $'version: 2\nethernets: {}' ]]
    editor_runs 'cp "$1" seen; sed -i s/one/two/ "$1"'
    run -0 edit element
    [[ $(document meta-data) = *'"local-hostname":"two"'* || $(document meta-data) = *'"local-hostname": "two"'* ]]
    grep -q '^    <ci:cloud-init xmlns:ci=' seen
    [[ $(document user-data) = $'#cloud-config\nlocale: C.UTF-8' ]]
    run edit meta-data
    assert_refused 2 "there is no document 'meta-data' to edit" 'network-config or element'
    assert_nothing_left
}

@test "a domain that asks for nothing gets the element and its wiring" {
    domain_xml | sed '/<metadata>/,/<\/metadata>/d' >web1.xml
    editor_runs 'echo "timezone: UTC" >>"$1"'
    run -0 edit
    [[ $(document user-data) = $'#cloud-config\ntimezone: UTC' ]]
    run -0 virt-seed wire - <web1.xml
    assert_said 'already wired'
}

@test "--dry-run lists what would change, and changes nothing" {
    local before

    before=$(<web1.xml)
    editor_runs 'echo "timezone: UTC" >>"$1"'
    run -0 virt-seed --root="$root" edit --dry-run web1.xml
    assert_said 'user-data edited'
    [[ $(<web1.xml) = "$before" ]]
    assert_nothing_left
}

@test "an empty text removes the document" {
    editor_runs ': >"$1"'
    run -0 edit
    [[ $(<web1.xml) != *user-data* && $(<web1.xml) = *hostname* ]]
    assert_nothing_left
}

@test "without a terminal a wrong text is refused, and kept" {
    local before file

    before=$(<web1.xml)
    editor_runs 'echo "{" >>"$1"'
    run -1 edit
    assert_said "': <user-data>: " '[yaml]' 'could not start with this user-data'
    file=$(sed -n 's/^virt-seed: the text that you edited is in //p' <<<"$output")
    [[ $(<"$file") = $'#cloud-config\nlocale: C.UTF-8\n{' ]]
    [[ $(<web1.xml) = "$before" ]]
    editor_runs 'echo "<" >>"$1"'
    run -1 edit element
    assert_said 'the text that you edited is in '
    [[ $(<web1.xml) = "$before" ]]
}

@test "a text that was saved by an editor that failed is kept" {
    editor_runs 'echo "timezone: UTC" >>"$1"; exit 1'
    run -1 edit
    assert_said "the editor '$EDITOR' failed" 'the text that you edited is in '
    grep -q UTC tmp/*
    [[ $(<web1.xml) != *UTC* ]]
}

@test "on a terminal a wrong text is offered again, thrown away, or forced" {
    local before

    before=$(<web1.xml)
    editor_runs 'if [ -e again ]; then sed -i "s/^{/timezone: UTC/" "$1"; else echo "{" >>"$1"; fi'
    run -1 answer 'n\n'
    assert_said 'Edit it again? [y,n,f,?]'
    [[ $(<web1.xml) = "$before" ]]
    assert_nothing_left
    run -0 answer '?\nf\n'
    assert_said 'y - yes, start the editor again' 'f - force'
    [[ $(document user-data 2>&1) = *'error: '* ]]
    touch again
    run -0 answer ''
    [[ $(document user-data) = $'#cloud-config\nlocale: C.UTF-8\ntimezone: UTC' ]]
    printf %s "$before" >web1.xml
    rm again
    editor_runs 'if [ -e again ]; then sed -i "s/^{/timezone: UTC/" "$1"; else echo "{" >>"$1"; touch again; fi'
    run -0 answer 'y\n'
    [[ $(document user-data) = $'#cloud-config\nlocale: C.UTF-8\ntimezone: UTC' ]]
    assert_nothing_left
}

@test "what nobody can define cannot be forced" {
    editor_runs 'sed -i "s/cloud-init/cloud/" "$1"'
    run -1 answer 'f\nn\n' element
    assert_said 'the element is <cloud>' 'Edit it again? [y,n,?]'
    assert_nothing_left
}

@test "a change that somebody else makes to the document meanwhile is not lost" {
    editor_runs 'sed -i "s/C.UTF-8/POSIX/" web1.xml; echo "timezone: UTC" >>"$1"'
    run -1 edit
    assert_said "somebody else changed the user-data of 'web1' meanwhile"
    [[ $(document user-data) = $'#cloud-config\nlocale: POSIX' ]]
    grep -q UTC tmp/*
}

@test "a change that somebody else makes elsewhere meanwhile stays" {
    editor_runs 'sed -i "s/one/two/" web1.xml; echo "timezone: UTC" >>"$1"'
    run -0 edit
    [[ $(<web1.xml) = *two* && $(document user-data) = *UTC ]]
}

@test "a document that is a file or a secret is named, and not edited" {
    editor_runs 'touch edited'
    mkdir -p "$root$confdir/files/site"
    echo '#cloud-config' >"$root$confdir/files/site/base.yaml"
    domain_xml '<ci:user-data file="site/base.yaml"/><ci:vendor-data secret="web1"/>
        <ci:network-config from="interfaces"/>' >web1.xml
    run edit
    assert_refused 2 "the user-data is the file 'site/base.yaml'" "$confdir/files"
    run edit vendor-data
    assert_refused 2 "the vendor-data is the secret 'web1'" "$confdir/secrets/web1"
    run edit network-config
    assert_refused 2 'is generated' 'virt-seed edit web1.xml element'
    domain_xml '<ci:user-data>#!/bin/sh</ci:user-data><ci:user-data>#!/bin/sh</ci:user-data>' >web1.xml
    run edit
    assert_refused 2 'there are several <user-data>' 'virt-seed edit web1.xml element'
    [[ ! -e edited ]]
}

@test "the text stays if a signal ends the command" {
    local editor process

    mkfifo running
    # shellcheck disable=SC2016  # the editor's variable
    editor_runs 'echo saved >"$1"; echo $$ >running; exec sleep 60'
    virt-seed --root="$root" edit web1.xml </dev/null 3>&- &
    process=$!
    read -r editor <running
    kill -s TERM "$process"
    wait "$process" || :
    kill "$editor"
    [[ $(cat tmp/*) = saved ]]
    rm tmp/*
}

@test "standard input cannot be edited" {
    run virt-seed edit - <web1.xml
    assert_refused 2 'standard input cannot be edited'
}

@test "a hint quotes the name of a file for the shell" {
    cat >'a b;c.xml' <<END
<domain type="kvm"><name>web1</name><uuid>$uuid</uuid><metadata><ci:cloud-init xmlns:ci="$namespace">
<ci:user-data>#!/bin/sh</ci:user-data><ci:user-data>#!/bin/sh</ci:user-data></ci:cloud-init></metadata></domain>
END
    EDITOR=true run -2 virt-seed edit 'a b;c.xml'
    [[ $output == *"virt-seed edit 'a b;c.xml' element"* ]]
}
