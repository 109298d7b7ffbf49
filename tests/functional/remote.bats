#!/usr/bin/env bats
# remote.bats: commands that read files of the domain's host are refused for another host, before ssh runs.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    printf '#!/bin/bash\n: >ssh-ran\n' >bin/ssh
    chmod +x bin/ssh
    uri=qemu+ssh://host.example.org/system
}

# assert_elsewhere COMMAND...: the command is refused, and names the host.
assert_elsewhere() {
    PATH=$PWD/bin:$PATH run "$top_builddir/virt-seed" "$@"
    assert_refused 2 'is to another host' "hint: run the command on 'host.example.org'"
    [[ ! -e ssh-ran ]]
}

@test "commands that read the host's files are refused for another host's domain" {
    local command

    for command in start check pending dump build wait status update try known-hosts 'done'; do
        [[ $command = status ]] || set -- web1
        assert_elsewhere -c "$uri" "$command" "$@"
    done
    assert_elsewhere gc --dry-run -c "$uri"
    assert_elsewhere check --all --connect "$uri"
    assert_elsewhere -c qemu+tls://me@host.example.org:16514/system?keyfile=x status
    export LIBVIRT_DEFAULT_URI=$uri
    assert_elsewhere -q status
}

@test "a file needs no other host" {
    domain_xml >web1.xml
    run -0 virt-seed -c "$uri" dump web1.xml meta-data
    run virt-seed -c "$uri" check --no-schema web1.xml
    assert_said '[unwired]'
}
