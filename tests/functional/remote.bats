#!/usr/bin/env bats
# remote.bats: commands that read files of the domain's host are refused for another host, with the line to
# type instead; here ssh is a script that runs its words as a login shell would.
# shellcheck disable=SC2016  # what must not be run, in quotes

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    printf '#!/bin/bash\nprintf "%%s\\n" "$@" >ssh-words\nwhile [[ $1 != *host* ]]; do shift; done\nexec sh -c "${*:2}"\n' >bin/ssh
    printf '#!/bin/bash\nprintf "<%%s>\\n" "$@"\n' >bin/virt-seed
    chmod +x bin/*
    uri=qemu+ssh://host.example.org/system
}

# assert_line LINE COMMAND...: the command is refused with this line to type, before ssh runs.
assert_line() {
    local line=$1

    shift
    PATH=$PWD/bin:$PATH run "$top_builddir/virt-seed" "$@"
    assert_refused 2 'is on another host' "hint: run the command there: $line"
    [[ ! -e ssh-words ]]
}

@test "commands that read the host's files say what to type for another host's domain" {
    local command

    for command in start check pending dump build wait status update try known-hosts 'done'; do
        [[ $command = status ]] || set -- web1
        assert_line "ssh host.example.org virt-seed $command${1:+ $1}" -c "$uri" "$command" "$@"
    done
    assert_line 'ssh host.example.org virt-seed gc --dry-run' gc --dry-run -c "$uri"
    assert_line 'ssh host.example.org virt-seed check --all' check --all --connect "$uri"
    export LIBVIRT_DEFAULT_URI=$uri
    assert_line 'ssh host.example.org virt-seed -q status' -q status
}

@test "a file needs no other host" {
    domain_xml >web1.xml
    run -0 virt-seed -c "$uri" dump web1.xml meta-data
    run virt-seed -c "$uri" check --no-schema web1.xml
    assert_said '[unwired]'
}

@test "the line has the URI's user and port, and none of --connect" {
    assert_line 'ssh -p 2222 me@host virt-seed status' -c qemu+ssh://me@host:2222/system status
    assert_line 'ssh 2001:db8::1 virt-seed status' --connect='qemu+ssh://[2001:db8::1]/system' status
    assert_line 'ssh host virt-seed -q status' "-qcqemu+libssh2://host/system?keyfile=x" status
    assert_line 'ssh host virt-seed -q status' -qc qemu+tls://host:16514/system status
    assert_line 'ssh host virt-seed wait --timeout 5 web1' -c qemu+ssh://host/system wait --timeout 5 -c "$uri" web1 \
        -c qemu+ssh://host/system
}

@test "words arrive there as they were given" {
    local -a words=("it's" '$(touch injected)' '; touch injected' 'a  b')

    PATH=$PWD/bin:$PATH run "$top_builddir/virt-seed" -c "$uri" status --json "${words[@]}"
    PATH=$PWD/bin:$PATH run -0 sh -c "${lines[1]#*there: }"
    [[ $output = "$(printf '<%s>\n' status --json "${words[@]}")" && ! -e injected ]]
}
