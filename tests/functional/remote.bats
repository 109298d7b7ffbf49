#!/usr/bin/env bats
# remote.bats: commands that run themselves on the host of a qemu+ssh:// URI; here ssh is a script that
# runs the command line, as a login shell would. tests/libvirt/remote.bats has a real sshd.
# shellcheck disable=SC2016,SC2119  # what must stay as it is, in quotes; as set.bats

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    mkdir bin there
    cat >bin/ssh <<'END'
#!/bin/bash
printf '%s\n' "${@:1:$#-1}" >ssh-words
PATH=$PWD/there:$PATH exec sh -c "${!#}"
END
    cat >there/virt-seed <<'END'
#!/bin/bash
printf '<%s>\n' "$@"
exit "${STATUS-0}"
END
    chmod +x bin/ssh there/virt-seed
    here=$top_builddir/virt-seed
    PATH=$PWD/bin:$PATH
    uri=qemu+ssh://host.example.org/system
}

@test "commands that read the host's files run on the host of the URI, and say so" {
    local command

    for command in start check pending dump wait status update; do
        run -0 --separate-stderr "$here" -c "$uri" "$command" web1
        [[ $output = $'<--connect=qemu:///system>\n'"<$command>"$'\n<-->\n<web1>' ]]
        [[ $stderr = "on host.example.org: virt-seed "* ]]
        [[ $(<ssh-words) = $'-T\n--\nhost.example.org' ]]
        run -0 --separate-stderr "$here" -q -c "$uri" "$command" web1
        [[ -z $stderr && $output = *'<--quiet>'* ]]
    done
    LIBVIRT_DEFAULT_URI=$uri run -0 "$here" -q status
    [[ $output = *'<status>'* ]]
}

@test "options and operands arrive as they were given" {
    local -a words=("it's" '$(touch injected)' '`touch injected`' '; touch injected' 'a  b' '')

    run -0 "$here" -q -c "$uri" wait --timeout='$(touch injected)' --json -- "${words[@]}"
    [[ $output = "$(printf '<%s>\n' --connect=qemu:///system --quiet wait '--timeout=$(touch injected)' \
        --json -- "${words[@]}")" ]]
    run -0 "$here" -q -c "$uri" --root='/a b' dump --show-secrets --domain='-web 1' user-data
    [[ $output = "$(printf '<%s>\n' --connect=qemu:///system '--root=/a b' --quiet dump --show-secrets \
        '--domain=-web 1' -- user-data)" ]]
    [[ ! -e injected ]]
}

@test "the exit status is that of the command over there" {
    local status_there

    for status_there in 0 1 3 124; do
        STATUS=$status_there run "$here" -q -c "$uri" wait web1
        [[ $status -eq $status_there ]]
    done
}

@test "user, port, key and the other words of libvirt's URIs are given to ssh" {
    run -0 "$here" -q -c 'qemu+ssh://me@[2001:db8::1]:2222/session?keyfile=/k%20ey&no_verify=1&no_tty=1&mode=auto' status
    [[ $(<ssh-words) = "$(printf '%s\n' -p 2222 -l me -i '/k ey' -o StrictHostKeyChecking=no \
        -o BatchMode=yes -T -- 2001:db8::1)" ]]
    [[ $output = *'<--connect=qemu:///session>'* ]]
    cp bin/ssh other-ssh
    rm bin/ssh
    run -0 "$here" -q -c "$uri?command=$PWD/other-ssh" status
    run "$here" -q -c "$uri?command=$PWD/none" status
    assert_refused 1 "could not run '$PWD/none'" 'run the command on host.example.org'
}

@test "ssh gets a terminal if there is one" {
    run -0 script -qec "$here -q -c $uri wait web1" /dev/null
    [[ $(<ssh-words) = $'-t\n--\nhost.example.org' ]]
}

@test "what could be an option of ssh's, or is not a host's daemon, is refused" {
    run "$here" -c 'qemu+ssh://-oProxyCommand=touch%20injected/system' status
    [[ $status -ne 0 && ! -e injected && ! -e ssh-words ]]
    run "$here" -c 'qemu+ssh://-lroot@host/system' status
    assert_refused 2 'begins with a dash'
    run "$here" -c 'qemu+ssh://host/elsewhere' status
    assert_refused 2 'is not /system or /session'
    run "$here" -c 'qemu+ssh://host/system?socket=/run/other' status
    assert_refused 2 'names another socket'
    [[ ! -e ssh-words ]]
}

@test "a file is looked at here, and other commands do not travel" {
    wired_xml >web1.xml
    run -0 "$here" --root="$root" -c "$uri" check --no-schema web1.xml
    run -0 "$here" --root="$root" -c "$uri" dump - user-data <web1.xml
    run -0 "$here" --root="$root" -c "$uri" pending web1.xml
    run "$here" -c "$uri?command=$PWD/none" known-hosts web1
    [[ $status -eq 1 && ! -e ssh-words ]]
}
