#!/usr/bin/env bats
# bats file_tags=native
# hook.bats: virt-seed-hook, which libvirt runs for every domain of the host: which domains concern it, and what
# it needs. What it then does is in lifecycle.bats.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    domain_xml >ours.xml
    wired_xml >wired.xml
    sed '/<metadata>/,/<\/metadata>/d' ours.xml >none.xml
    sed "s|/var/lib/libvirt/images/web1.qcow2|$rundir/$uuid.iso|" none.xml >disk.xml
}

# hook OPERATION FILE: for the domain in FILE, below $root.
hook() {
    hook-in-root --root="$root" web1 "$1" begin - <"$2"
}

# concerns_it FILE [OPERATION]: for a domain that concerns it, it looks at the host, which is missing here.
concerns_it() {
    run -1 hook-in-root --root="$PWD/nowhere" web1 "${2-prepare}" begin - <"$1"
    assert_refused 1 "could not open '$PWD/nowhere'"
}

# hook_does_nothing ARGUMENT...: exits 0, and says nothing.
hook_does_nothing() {
    run -0 virt-seed-hook "$@"
    [[ -z $output ]]
}

# in_host COMMAND...: runs it as root of a host whose "/" is $root, with the programs of this one in /usr, and
# those that are tested in /build. An ordinary user is root in a user namespace.
in_host() {
    # shellcheck disable=SC2016  # the words are the inner shell's
    unshare --user --map-root-user --mount bash -c '
        set -e
        root=$1 build=$2
        shift 2
        mkdir -p "$root"/{usr,proc,dev,build}
        for directory in /lib* /bin; do
            if [[ -L $directory ]]; then
                ln -sfn "$(readlink "$directory")" "$root$directory"
            else
                mkdir -p "$root$directory"
                mount --rbind "$directory" "$root$directory"
            fi
        done
        for directory in usr proc dev; do
            mount --rbind "/$directory" "$root/$directory"
        done
        mount --bind "$build" "$root/build"
        exec chroot "$root" "$@"' bash "$root" "$top_builddir" "$@"
}

needs_host() {
    [[ $rundir$statedir$reportdir$confdir != */usr/* ]] || skip 'this build keeps files in /usr'
    in_host true 2>/dev/null || skip 'user namespaces are not allowed here'
}

# --- what it consists of ------------------------------------------------------------------------

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

@test "the maker does not link libvirt" {
    libraries_of virt-seed-maker | grep -q '^libisofs'
    run ! grep -i virt < <(libraries_of virt-seed-maker)
}

# Each library is either loaded, so that its updates arrive, or in the list.
@test "virt-seed-maker --version lists the libraries that are in the programs" {
    local module listed

    run -0 virt-seed-maker --version
    for module in yaml jansson nettle hogweed; do
        listed=0
        if grep -q "^virt-seed-maker includes .*\b${module}[^ ]* [0-9]" <<<"$output"; then
            listed=1
        fi
        echo "$module: $listed"
        if libraries_of virt-seed-maker | grep -q "^lib$module"; then
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

# --- which domains concern it -------------------------------------------------------------------

@test "a domain that asks for a seed concerns the hook" {
    local operation

    for operation in prepare start release restore migrate; do
        concerns_it ours.xml "$operation"
    done
    # The guest goes on.
    run -0 hook-in-root --root="$PWD/nowhere" web1 started begin - <ours.xml
    assert_said "could not open '$PWD/nowhere'"
}

@test "a domain with our seed concerns the hook" {
    concerns_it disk.xml
}

@test "a domain with our report concerns the hook" {
    local path operation

    for path in "$reportdir" "${reportdir%/*}//virt-seed" "$reportdir/." "${reportdir%/*}/./virt-seed/"; do
        sed "s|<devices>|&<channel type='file'><source path='$path/$other_uuid.report'/>\
            <target type='virtio' name='org.example.0'/></channel>|" none.xml >report.xml
        for operation in prepare release; do
            concerns_it report.xml "$operation"
        done
    done
}

@test "a domain that names one of our directories concerns the hook" {
    local path

    for path in "$rundir" "$statedir" "$confdir/secrets" "${confdir#/}"; do
        sed "s|<devices>|&<filesystem><source dir='$path'/></filesystem>|" none.xml >names.xml
        concerns_it names.xml
    done
}

@test "a domain whose emulator is the shim concerns the hook" {
    sed 's|<devices>|&<emulator>/usr/bin/virt-seed-qemu-system-x86_64</emulator>|' none.xml \
        >shim.xml
    concerns_it shim.xml
}

@test "a domain with our URL and no request concerns the hook" {
    domain_xml | sed -e "s|<ci:cloud-init |&datasource='nocloud-net' |" \
        -e "s|</devices>|<interface type='user'/>&|" | virt-seed --quiet wire - >url.xml
    # Only the URL is left.
    sed -i -e '/<metadata>/,/<\/metadata>/d' -e '/<channel/,/<\/channel>/d' \
        -e '/<controller/,/<\/controller>/d' url.xml
    run ! grep virt-seed url.xml
    concerns_it url.xml
}

@test "at release, a domain that has files of ours concerns the hook" {
    local file

    for file in "$rundir/$uuid.iso" "$rundir/$uuid.shim" "$reportdir/$uuid.report" "$statedir/$uuid.next"; do
        (umask 022 && mkdir -p "$root$rundir" "$root$statedir" "$root$reportdir")
        touch "$root$file"
        hook release none.xml
        [[ ! -e $root$file ]] || { echo "$file"; return 1; }
    done
    (umask 022 && mkdir -p "$root$rundir/imds/$uuid")
    hook release none.xml
    [[ ! -e $root$rundir/imds/$uuid ]]
}

@test "the hook does nothing for a domain that only mentions virt-seed's name" {
    sed 's|<name>|<title>like virt-seed-hook</title>&|' none.xml >title.xml
    hook_does_nothing web1 prepare begin - <title.xml
    run -0 hook-in-root --root="$PWD/nowhere" web1 prepare begin - <title.xml
    [[ -z $output ]]
}

@test "the hook does nothing for other domains, at every operation of libvirt" {
    local operation

    for operation in prepare start started stopped release migrate restore reconnect attach; do
        hook_does_nothing web1 "$operation" begin - <none.xml
        hook_does_nothing web1 "$operation" begin - </dev/null
        run -0 hook-in-root --root="$PWD/nowhere" web1 "$operation" begin - <none.xml
        [[ -z $output ]]
    done
}

@test "the hook does nothing at operations that do not concern it, whatever the domain" {
    local operation

    for operation in stopped reconnect attach no-such-operation ''; do
        hook_does_nothing web1 "$operation" begin - <ours.xml
        run -0 hook-in-root --root="$PWD/nowhere" web1 "$operation" begin - <ours.xml
        [[ -z $output ]]
    done
}

@test "the hook reads only the input that it needs" {
    # Nobody ever writes into the pipe, so reading from it would wait forever.
    mkfifo pipe
    exec 9<>pipe
    for operation in stopped reconnect attach; do
        run -0 timeout 10 virt-seed-hook web1 "$operation" begin - <&9
    done
    exec 9>&-
}

@test "the hook does nothing if called without an operation" {
    hook_does_nothing
    hook_does_nothing web1
}

@test "the hook refuses a domain of ours that is too large, and no other" {
    { cat wired.xml; head -c 17000000 /dev/zero; } >large.xml
    run hook prepare large.xml
    assert_refused 1 'File too large' '16 MiB'
    # libvirt makes six bytes of a quote, so a long <description> may come before what concerns us.
    run hook prepare <(head -c 50000000 /dev/zero; cat ours.xml; head -c 30000000 /dev/zero)
    assert_refused 1 'File too large'
    [[ -z $(find "$root" -name "*$uuid*") ]]
    run -0 hook prepare <(head -c 80000000 /dev/zero)
    [[ -z $output ]]
    # It was smaller when it started.
    hook prepare wired.xml
    {
        sed '/<devices>/,$d' wired.xml
        printf '<description>'
        head -c 17000000 /dev/zero | tr '\0' x
        printf '</description>'
        sed -n '/<devices>/,$p' wired.xml
    } >large.xml
    hook release large.xml
    [[ ! -e $root$rundir/$uuid.iso ]]
}

# --- as root --------------------------------------------------------------------------------------

@test "root's hook makes a domain's seed in the host's own directories, whatever the domain is called" {
    local name

    needs_host
    for name in web1 --help --version --root=elsewhere -rf --; do
        run in_host /build/virt-seed-hook "$name" prepare begin - <wired.xml
        [[ $status -eq 0 && -z $output ]]
        virt-seed inspect "$root$rundir/$uuid.iso" >/dev/null
        in_host /build/virt-seed-hook "$name" release end - <wired.xml
        [[ ! -e $root$rundir/$uuid.iso ]]
    done
}

@test "the hook of an ordinary user is that of the user's session, never the system's" {
    needs_host
    become_nobody
    run -1 "${as_nobody[@]}" virt-seed-hook web1 prepare begin - <ours.xml
    [[ $output != *"$rundir"* ]]
    # Other domains start, whatever the user's directories are like.
    sed 's/virt-seed//g' ours.xml >others.xml
    run -0 "${as_nobody[@]}" virt-seed-hook web1 prepare begin - <others.xml
    [[ -z $output ]]
    # Root's looks at it.
    run in_host /build/virt-seed-hook web1 prepare begin - <ours.xml
    assert_refused 1 "domain 'web1'"
}

# --- what it starts -------------------------------------------------------------------------------

# copy_programs: hook-in-root and the maker in bin/.
copy_programs() {
    mkdir bin
    cp "$top_builddir"/{hook-in-root,virt-seed-maker} bin/
    program=$PWD/bin/hook-in-root
}

needs_no_other_maker() {
    [[ ! -e ${VIRT_SEED_SBINDIR-/usr/sbin}/virt-seed-maker ]] || skip 'virt-seed is installed here'
}

@test "the hook finds the maker next to itself, also through a link" {
    needs_no_other_maker
    copy_programs
    mkdir qemu.d
    ln -s "$program" qemu.d/50-virt-seed
    qemu.d/50-virt-seed --root="$root" web1 prepare begin - <wired.xml
    [[ -s $root$rundir/$uuid.iso ]]
}

@test "the hook says that the maker is missing" {
    needs_no_other_maker
    copy_programs
    rm bin/virt-seed-maker
    run --separate-stderr "$program" --root="$root" web1 prepare begin - <wired.xml
    only_stderr
    assert_refused 1 "could not find ${VIRT_SEED_SBINDIR-/usr/sbin}/virt-seed-maker"
    [[ ${#lines[@]} -eq 2 && -z $(find "$root" -name "*$uuid*") ]]
    run -0 "$program" --root="$root" web1 prepare begin - <none.xml
    [[ -z $output ]]
}

@test "a maker that says nothing or cannot run refuses the start" {
    local maker

    copy_programs
    for maker in /bin/true /bin/false wired.xml; do
        cp "$maker" bin/virt-seed-maker
        chmod 0755 bin/virt-seed-maker
        run --separate-stderr "$program" --root="$root" web1 prepare begin - <wired.xml
        only_stderr
        assert_refused 1 "domain 'web1'" 'the process that reads what the domain asks for'
        [[ ${#lines[@]} -eq 2 && -z $(find "$root" -name "*$uuid*") ]]
    done
}

# The guest already runs.
@test "at started, the hook succeeds whatever becomes of the maker" {
    local maker

    copy_programs
    cp bin/virt-seed-maker maker
    for maker in /bin/true /bin/false none; do
        hook prepare wired.xml
        # The maker is only needed if the record has changed since.
        virt-seed --quiet --root="$root" 'done' wired.xml
        rm bin/virt-seed-maker
        [[ $maker = none ]] || cp "$maker" bin/virt-seed-maker
        run -0 "$program" --root="$root" web1 started begin - <wired.xml
        [[ -z $output ]]
        cp maker bin/virt-seed-maker
    done
}

@test "at started, the hook succeeds without XML and when its time is up" {
    run -0 hook started <(cat ours.xml; head -c 17000000 /dev/zero)
    # Not `run … <&-`: its own pipe would become standard input, and the hook wait for its time to be up.
    # shellcheck disable=SC2016  # the words are the inner shell's
    run -0 sh -c 'exec hook-in-root --root="$1" web1 started begin - <&-' sh "$root"
    [[ -z $output ]]
    mkfifo pipe
    exec 9<>pipe
    hook-in-root --root="$root" web1 started begin - <&9 9>&- &
    wait_for_alarm $!
    # As after 20 seconds.
    kill -ALRM $!
    exec 9>&-
    wait $!
}

@test "at started, the hook fails if the seed is not the one that it made, with the reason" {
    hook prepare wired.xml
    printf 'other\n' >"$root$rundir/other"
    mv -f "$root$rundir/other" "$root$rundir/$uuid.iso"
    run --separate-stderr hook started wired.xml
    only_stderr
    assert_refused 1 'another program wrote to the seed'
    [[ ${#lines[@]} -eq 2 ]]
}
