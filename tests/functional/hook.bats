#!/usr/bin/env bats
# bats file_tags=native
# hook.bats: virt-seed-hook, which libvirt runs for every domain of the host.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

# A stand-in next to the hook records how it was called and what it read.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    cp "$top_builddir/virt-seed-hook" bin/
    cat >bin/virt-seed-lifecycle <<END
#!/bin/sh
printf '%s\n' "\$0" "\$@" >'$PWD/arguments'
readlink /proc/self/fd/0 >'$PWD/input'
cat >'$PWD/xml'
echo 'virt-seed: error: a stand-in' >&2
exit 3
END
    chmod +x bin/virt-seed-lifecycle
    domain_xml >ours.xml
    sed '/<metadata>/,/<\/metadata>/d' ours.xml >none.xml
    sed "s|/var/lib/libvirt/images/web1.qcow2|$rundir/$uuid.iso|" none.xml >disk.xml
}

# run_as_root STATUS COMMAND...: as `run`; an ordinary user is root in a user namespace.
run_as_root() {
    local wanted=$1 as_root=()

    shift
    if [[ $EUID -ne 0 ]]; then
        as_root=(unshare --user --map-root-user)
        "${as_root[@]}" true 2>/dev/null || skip 'user namespaces are not allowed here'
    fi
    run "-$wanted" "${as_root[@]}" "$@"
}

# hook_does_nothing ARGUMENT...: exits 0, says nothing, and becomes nothing else.
hook_does_nothing() {
    run -0 bin/virt-seed-hook "$@"
    [[ -z $output && ! -e arguments ]]
}

# The libraries that a program links, without those of a sanitizer.
libraries_of() {
    readelf --dynamic "$top_builddir/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -v -e '^lib[at]san' -e '^libubsan' -e '^libm\.' -e '^libgcc_s' -e '^ld-linux'
}

@test "the hook and the emulator shim link only libc" {
    # Or nothing, if libc's static archive is installed.
    [[ $(libraries_of virt-seed-hook) =~ ^(libc\.so\.6)?$ ]]
    [[ $(libraries_of virt-seed-qemu) =~ ^(libc\.so\.6)?$ ]]
}

@test "virt-seed-lifecycle does not link libvirt" {
    libraries_of virt-seed-lifecycle | grep -q '^libisofs'
    run ! grep -i virt < <(libraries_of virt-seed-lifecycle)
}

# Each library is either loaded, so that its updates arrive, or in the list.
@test "virt-seed-lifecycle --version lists the libraries that are in the programs" {
    local module listed

    run -0 virt-seed-lifecycle --version
    for module in yaml jansson nettle hogweed uuid; do
        listed=0
        if grep -q "^virt-seed-lifecycle includes .*\b${module}[^ ]* [0-9]" <<<"$output"; then
            listed=1
        fi
        echo "$module: $listed"
        if libraries_of virt-seed-lifecycle | grep -q "^lib$module"; then
            [[ $listed = 0 ]]
        else
            [[ $listed = 1 ]]
        fi
    done
    if libraries_of virt-seed-hook | grep -q '^libc\.'; then
        [[ $output != *virt-seed-hook* ]]
    else
        [[ $output = *"virt-seed-hook and virt-seed-qemu include libc"* ]]
    fi
}

@test "the hook becomes virt-seed-lifecycle for a domain that asks for a seed" {
    for operation in prepare start release restore migrate; do
        rm -f arguments xml
        run_as_root 3 bin/virt-seed-hook web1 "$operation" begin - <ours.xml
        [[ $output = 'virt-seed: error: a stand-in' ]]
        [[ $(<arguments) = "$PWD/bin/virt-seed-lifecycle"$'\n--\nweb1\n'"$operation"$'\nbegin\n-' ]]
        cmp xml ours.xml
        [[ $(<input) == /memfd:* ]]
    done
}

@test "at started, the hook succeeds whatever the child that becomes virt-seed-lifecycle does" {
    run_as_root 0 bin/virt-seed-hook web1 started begin - <ours.xml
    [[ -z $output ]]
    [[ $(<arguments) = "$PWD/bin/virt-seed-lifecycle"$'\n--\nweb1\nstarted\nbegin\n-' ]]
    cmp xml ours.xml
    [[ $(<input) == /memfd:* ]]
    printf '#!/bin/sh\nkill -SEGV $$\n' >bin/virt-seed-lifecycle
    run_as_root 0 bin/virt-seed-hook web1 started begin - <ours.xml
    rm bin/virt-seed-lifecycle
    run_as_root 0 bin/virt-seed-hook web1 started begin - <ours.xml
}

@test "at started, the hook fails if virt-seed-lifecycle says that the guest must end" {
    printf '#!/bin/sh\nexit 100\n' >bin/virt-seed-lifecycle
    run_as_root 100 bin/virt-seed-hook web1 started begin - <ours.xml
    # Whoever ignores this signal would not learn how the child ended.
    run_as_root 100 env --ignore-signal=CHLD bin/virt-seed-hook web1 started begin - <ours.xml
    assert_said 'virt-seed: error: the guest was ended' 'virt-seed: hint: ' 'journalctl'
}

@test "at started, the child keeps no descriptor open that libvirt waits for" {
    # shellcheck disable=SC2016  # the words are the inner shell's
    printf '#!/bin/sh\nreadlink /proc/self/fd/1 /proc/self/fd/2 >"%s"\nls /proc/self/fd >>"%s"\n' \
        "$PWD/outputs" "$PWD/outputs" >bin/virt-seed-lifecycle
    exec 8>&1
    run_as_root 0 bin/virt-seed-hook web1 started begin - <ours.xml
    exec 8>&-
    # ls itself opens one, for the directory.
    [[ $(<outputs) = $'/dev/null\n0\n1\n2\n3' || $(<outputs) = *$'/dev/null\n0\n1\n2\n3' ]]
}

@test "at started, the hook succeeds without XML and when its time is up" {
    run_as_root 0 bin/virt-seed-hook web1 started begin - \
        < <(cat ours.xml; head -c 17000000 /dev/zero)
    # Not `run … <&-`: its own pipe would become standard input, and the hook wait for its time to be up.
    run_as_root 0 sh -c 'exec bin/virt-seed-hook web1 started begin - <&-'
    [[ -z $output ]]
    mkfifo pipe
    exec 9<>pipe
    # SIGALRM, as after 20 seconds.
    # shellcheck disable=SC2016  # the words are the inner shell's
    run_as_root 0 bash -c 'source "$0"
        bin/virt-seed-hook web1 started begin - <&9 & hook=$!
        wait_until 60 grep -q "^SigCgt:.*[2367abef]...$" "/proc/$hook/status"
        kill -ALRM "$hook"
        wait "$hook"' "$top_srcdir/tests/wait.bash"
    exec 9>&-
    [[ ! -e arguments ]]
}

@test "a domain whose name looks like an option gets its seed like any other" {
    local name

    for name in --help --version --root=elsewhere -rf --; do
        rm -f arguments xml
        run_as_root 3 bin/virt-seed-hook "$name" prepare begin - <ours.xml
        [[ $(<arguments) = "$PWD/bin/virt-seed-lifecycle"$'\n--\n'"$name"$'\nprepare\nbegin\n-' ]]
    done
}

@test "the hook becomes virt-seed-lifecycle for a domain with our seed" {
    run_as_root 3 bin/virt-seed-hook web1 prepare begin - <disk.xml
    cmp xml disk.xml
}

@test "the hook becomes virt-seed-lifecycle for a domain with our report" {
    local path operation

    for path in "$reportdir" "${reportdir%/*}//virt-seed" "$reportdir/." "${reportdir%/*}/./virt-seed/"; do
        sed "s|<devices>|&<channel type='file'><source path='$path/$other_uuid.report'/>\
            <target type='virtio' name='org.example.0'/></channel>|" none.xml >report.xml
        for operation in prepare release; do
            rm -f xml
            run_as_root 3 bin/virt-seed-hook web1 "$operation" begin - <report.xml
            cmp xml report.xml
        done
    done
}

@test "the hook becomes virt-seed-lifecycle for a domain that names one of our directories" {
    local path

    for path in "$rundir" "$statedir" "$confdir/secrets" "${confdir#/}"; do
        rm -f xml
        sed "s|<devices>|&<filesystem><source dir='$path'/></filesystem>|" none.xml >names.xml
        run_as_root 3 bin/virt-seed-hook web1 prepare begin - <names.xml
        cmp xml names.xml
    done
}

@test "the hook becomes virt-seed-lifecycle for a domain whose emulator is the shim" {
    sed 's|<devices>|&<emulator>/usr/bin/virt-seed-qemu-system-x86_64</emulator>|' none.xml \
        >shim.xml
    run_as_root 3 bin/virt-seed-hook web1 prepare begin - <shim.xml
    cmp xml shim.xml
}

@test "the hook becomes virt-seed-lifecycle for a domain with our URL and no request" {
    domain_xml | sed -e "s|<ci:cloud-init |&datasource='nocloud-net' |" \
        -e "s|</devices>|<interface type='user'/>&|" | virt-seed --quiet wire - >url.xml
    # Only the URL is left.
    sed -i -e '/<metadata>/,/<\/metadata>/d' -e '/<channel/,/<\/channel>/d' \
        -e '/<controller/,/<\/controller>/d' url.xml
    run ! grep virt-seed url.xml
    run_as_root 3 bin/virt-seed-hook web1 prepare begin - <url.xml
    cmp xml url.xml
}

@test "the hook does nothing for a domain that only mentions virt-seed's name" {
    sed 's|<name>|<title>like virt-seed-hook</title>&|' none.xml >title.xml
    hook_does_nothing web1 prepare begin - <title.xml
}

@test "the hook finds its program next to itself, also through a link" {
    mkdir qemu.d
    ln -s "$PWD/bin/virt-seed-hook" qemu.d/50-virt-seed
    run_as_root 3 qemu.d/50-virt-seed web1 prepare begin - <ours.xml
    [[ $(head -n 1 arguments) = "$PWD/bin/virt-seed-lifecycle" ]]
}

@test "the hook says that virt-seed-lifecycle is missing" {
    rm bin/virt-seed-lifecycle
    run_as_root 1 bin/virt-seed-hook web1 prepare begin - <ours.xml
    assert_said 'virt-seed: error: ' "$PWD/bin/virt-seed-lifecycle"
    hook_does_nothing web1 prepare begin - <none.xml
}

@test "the hook passes on a large domain whole" {
    { cat ours.xml; head -c 12000000 /dev/zero | tr '\0' x; } >large.xml
    run_as_root 3 bin/virt-seed-hook web1 prepare begin - <large.xml
    cmp xml large.xml
}

@test "the hook refuses a domain of ours that is too large, and no other" {
    run_as_root 1 bin/virt-seed-hook web1 prepare begin - \
        < <(cat ours.xml; head -c 17000000 /dev/zero)
    assert_refused 1 'File too large'
    [[ ! -e arguments ]]
    # libvirt makes six bytes of a quote, so a long <description> may come before what concerns us.
    run_as_root 1 bin/virt-seed-hook web1 prepare begin - \
        < <(head -c 50000000 /dev/zero; cat ours.xml; head -c 30000000 /dev/zero)
    assert_refused 1 'File too large'
    [[ ! -e arguments ]]
    run_as_root 0 bin/virt-seed-hook web1 prepare begin - < <(head -c 80000000 /dev/zero)
    [[ -z $output && ! -e arguments ]]
}

@test "the hook does nothing for other domains, at every operation of libvirt" {
    local operation

    for operation in prepare start started stopped release migrate restore reconnect attach; do
        hook_does_nothing web1 "$operation" begin - <none.xml
        hook_does_nothing web1 "$operation" begin - </dev/null
    done
}

@test "the hook does nothing at operations that do not concern it, whatever the domain" {
    local operation

    for operation in stopped reconnect attach no-such-operation ''; do
        hook_does_nothing web1 "$operation" begin - <ours.xml
    done
}

@test "the hook reads only the input that it needs" {
    # Nobody ever writes into the pipe, so reading from it would wait forever.
    mkfifo pipe
    exec 9<>pipe
    for operation in stopped reconnect attach; do
        run -0 timeout 10 bin/virt-seed-hook web1 "$operation" begin - <&9
    done
    exec 9>&-
}

@test "the hook does nothing if called without an operation" {
    hook_does_nothing
    hook_does_nothing web1
}

@test "the hook does nothing for users other than root" {
    become_nobody
    run -0 "${as_nobody[@]}" bin/virt-seed-hook web1 prepare begin - <ours.xml
    [[ -z $output && ! -e arguments ]]
}
