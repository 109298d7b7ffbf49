#!/usr/bin/env bats
# shim.bats: what virt-seed-qemu makes of the command lines with which libvirt starts QEMU.
#
# A case is a directory of tests/golden/shim: "arguments", as libvirt gave them, a line each, the
# program's path first; "order", which the hook wrote; and the expected "out" or "stderr".
# VIRT_SEED_REGENERATE=1 rewrites these two.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

golden=$top_srcdir/tests/golden/shim
shim_command=$top_builddir/tests/functional/shim-command

setup() {
    local name

    cd "$BATS_TEST_TMPDIR" || return
    make_root
    mkdir -p "$root$rundir" "$root/usr/bin" "$root/usr/libexec" "$root/usr/local/bin"
    for name in bin/qemu-system-{x86_64,aarch64,s390x,ppc64,riscv64} libexec/qemu-kvm; do
        install -m 0755 /dev/null "$root/usr/$name"
    done
    order=$root$rundir/$uuid.shim
    printf 'ds=nocloud;dsmode=net\n' >"$order"
    mkdir -p "$root$reportdir"
    report=$root$reportdir/$uuid.libvirt-$uuid
    : >"$report"
}

# shim [FILE]: prints what becomes of the arguments in the file, or of the usual ones.
shim() {
    to_build <"${1-$golden/q35/arguments}" | "$shim_command" "$root"
}

# The pipe has whatever number is free.
without_number() {
    sed 's|^\(set=[0-9]*,fd=\)[0-9]*|\1N|'
}

# shim_with SED-SCRIPT...: the same of the usual arguments, edited by sed.
shim_with() {
    sed "$@" "$golden/q35/arguments" >"$BATS_TEST_TMPDIR/arguments"
    shim "$BATS_TEST_TMPDIR/arguments"
}

# same_as FILE: standard input is the file's content, or replaces it if cases are regenerated.
same_as() {
    if [[ -n ${VIRT_SEED_REGENERATE-} ]]; then
        cat >"$1"
    else
        diff -u --label expected --label found "$1" -
    fi
}

@test "the arguments of each golden case become the expected ones" {
    local case failed=0

    for case in "$golden"/*/; do
        if [[ -e $case/order ]]; then
            cp "$case/order" "$order"
        else
            rm -f "$order"
        fi
        echo "$case"
        if [[ -e $case/stderr ]]; then
            shim "$case/arguments" 2>&1 | from_build | same_as "$case/stderr" || failed=1
        else
            shim "$case/arguments" | from_build | without_number | same_as "$case/out" ||
                failed=1
        fi
    done
    [[ $failed = 0 ]]
}

@test "keeps the given arguments first and in order" {
    local case

    for case in "$golden"/*/out; do
        diff <(tail -n +2 "${case%out}arguments") \
            <(tail -n +2 "$case" | head -n "$(($(wc -l <"${case%out}arguments") - 1))")
    done
}

@test "passes on probing and commands that boot nothing unchanged, without an order" {
    local arguments

    rm "$order"
    for arguments in '-machine none,accel=kvm:tcg' '-M none' '--machine type=none' '-version' \
        '--version' '-help' '-h'; do
        # shellcheck disable=SC2086  # several words
        printf '%s\n' /x/virt-seed-qemu-system-x86_64 $arguments >given
        run -0 shim given
        [[ $output = "$(sed 1s,.*,/usr/bin/qemu-system-x86_64, given)" ]]
    done
}

@test "refuses a start without -uuid, with two, or with a malformed one" {
    run shim_with '/^-uuid$/,+1d'
    assert_refused 1 "no -uuid in the arguments"
    run shim_with '/^-uuid$/{p;s/.*/other/}'
    assert_refused 1 "expected a UUID as libvirt writes it"
    run shim_with "\$a --uuid\n$uuid"
    assert_refused 1 "2 -uuid in the arguments"
    run shim_with 's/^4dea22b3/4DEA22B3/'
    assert_refused 1 "-uuid is '4DEA22B3"
    run shim_with "s/^$uuid/&0/"
    assert_refused 1 "-uuid is '${uuid}0'"
    run shim_with "s/^$uuid/..\/..\/etc\/passwd/"
    assert_refused 1 "-uuid is '../../etc/passwd'"
}

@test "a domain's start is not taken for probing, whatever other arguments it has" {
    rm "$order"
    run shim_with "\$a -version"
    assert_refused 1 "could not open $rundir/$uuid.shim"
    run shim_with "\$a -machine\nnone"
    assert_refused 1 "machine 'none'"
}

@test "a kernel's command line is not taken for an option" {
    run -0 shim_with '1a -append\n-uuid'
    assert_said "scsi-cd"
    run -0 shim_with '1a -append\n-h'
    assert_said "scsi-cd"
}

@test "refuses an order that is missing, malformed, a link or another user's" {
    rm "$order"
    run shim
    assert_refused 1 "could not open $rundir/$uuid.shim" "virt-seed-hook creates it"
    printf 'ds=nocloud\n' >"$root$rundir/$other_uuid.shim"
    run shim
    assert_refused 1 "could not open $rundir/$uuid.shim"

    ln -s "$other_uuid.shim" "$order"
    run shim
    assert_refused 1 "Too many levels of symbolic links"
    rm "$order"
    mkfifo "$order"
    run shim
    assert_refused 1 "is not a regular file"
    rm "$order"
    mkdir "$order"
    run shim
    assert_refused 1 "is not a regular file"
    rmdir "$order"

    for content in '' 'ds=nocloud' 'a\nb\n' 'a\001\n' 'a\000\n' 'a\177\n' 'caf\303\251\n'; do
        # shellcheck disable=SC2059  # the escapes are meant
        printf "$content" >"$order"
        run shim
        assert_refused 1 "is not a line of printable"
    done
    for content in 'ds\nreport' 'ds\nother\n' 'ds\n\n' 'ds\nreport\n\n' 'ds\nreport\nreport\n' \
        'report' 'ds\nreport\000'; do
        # shellcheck disable=SC2059  # the escapes are meant
        printf "$content" >"$order"
        run shim
        assert_refused 1 "is not a line of printable" "with or without 'report'"
    done
    head -c 5000 /dev/zero | tr '\0' x >"$order"
    echo >>"$order"
    run shim
    assert_refused 1 "is not a line of printable"

    printf 'ds=nocloud\n' >"$order"
    chmod 0664 "$order"
    run shim
    assert_refused 1 "is writable by others"
    chmod 0644 "$order"
    chmod 0777 "$root$rundir"
    run shim
    assert_refused 1 "is in a directory that is writable by others"
    chmod 0711 "$root$rundir"
    run -0 shim
}

@test "refuses an order that belongs to QEMU's user" {
    [[ $EUID -eq 0 ]] || skip "only root can give files away"
    chown 64055 "$order"
    run shim
    assert_refused 1 "does not belong to the owner of its directory"
}

@test "refuses a run-time directory that is a link or missing" {
    mv "$root$rundir" "$root/elsewhere"
    run shim
    assert_refused 1 "could not open $rundir/$uuid.shim"
    ln -s "$root/elsewhere" "$root$rundir"
    run shim
    assert_refused 1 "could not open $rundir/$uuid.shim"
}

@test "keeps the user's serial first, with its commas" {
    run -0 shim_with 's/serial=[^"]*$/serial=A,,B/'
    assert_said 'type=1,serial=A,,B ds=nocloud;dsmode=net'
    run -0 shim_with 's/^type=1,.*/type=1,serial=first,serial=second/'
    assert_said 'type=1,serial=second ds=nocloud;dsmode=net'
    run -0 shim_with 's/^type=1,.*/type=2,serial=board/'
    assert_said $'\ntype=1,serial=ds=nocloud;dsmode=net'
    run shim_with "s/^type=1,.*/type=1,serial=$(printf 'x%.0s' {1..4090})/"
    assert_refused 1 "the SMBIOS serial would have" "shorten your own"
}

@test "refuses an emulator that is missing or not a program, and does not search PATH" {
    rm "$root/usr/bin/qemu-system-x86_64"
    PATH=/usr/bin:$PATH run shim
    assert_refused 1 "no 'qemu-system-x86_64' in /usr/bin, /usr/libexec"
    install -m 0644 /dev/null "$root/usr/libexec/qemu-system-x86_64"
    run shim
    assert_refused 1 "no 'qemu-system-x86_64'"
    install -m 0755 /dev/null "$root/usr/local/bin/qemu-system-x86_64"
    run -0 shim
    [[ ${lines[0]} = /usr/local/bin/qemu-system-x86_64 ]]
    run -0 shim_with 1s,.*,/usr/bin/virt-seed-qemu-kvm,
    [[ ${lines[0]} = /usr/libexec/qemu-kvm ]]
}

@test "refuses a name that is not an emulator's" {
    local name

    for name in virt-seed-qemu virt-seed-hook qemu-system-x86_64 virt-seed- virt-seed-qemux; do
        run shim_with "1s,.*,/usr/bin/$name,"
        assert_refused 1 "called as '$name'" "<emulator>"
    done
}

@test "refuses a start by its own name, and has --version and --help" {
    run virt-seed-qemu -uuid $uuid
    assert_refused 1 "virt-seed-qemu: called as 'virt-seed-qemu'"
    run -0 virt-seed-qemu --version
    assert_said "virt-seed "
    run -0 virt-seed-qemu --help
    assert_said "Usage:"
}

# --- the report -------------------------------------------------------------------------------

# shim_runs SCRIPT: becomes an emulator that runs the script, with the pipe to the report as its
# standard output.
shim_runs() {
    printf 'report\n' >>"$order"
    cat >"$root/usr/bin/qemu-system-x86_64" <<END
#!/bin/bash
for word; do
    [[ \$word != set=*,fd=* ]] || fd=\${word#*,fd=}
done
fd=\${fd%%,*}
exec >&"\$fd" {fd}>&-
$1
END
    to_build <"$golden/q35/arguments" | "$shim_command" --run "$root"
}

# find_copier: sets $copier, the process that has the report as its standard output.
find_copier() {
    local process

    copier=
    for process in /proc/[0-9]*; do
        if [[ $process/fd/1 -ef $report ]]; then
            copier=${process#/proc/}
        fi
    done
    [[ -n $copier ]]
}

has_gone() {
    ! kill -0 "$1" 2>/dev/null
}

has_size() {
    [[ $(stat -c %s "$1") -eq $2 ]]
}

@test "appends what the emulator writes for the guest to its report" {
    echo earlier >"$report"
    shim_runs 'echo one; sleep 0.1; echo two'
    wait_until 60 grep -q two "$report"
    [[ $(<"$report") = $'earlier\none\ntwo' ]]
}

@test "a report grows to 2 MiB in all, and the guest never has to wait" {
    head -c 1000 /dev/zero >"$report"
    shim_runs 'head -c 3145728 /dev/zero && echo done >'"$PWD/went-on"
    [[ -e went-on ]]
    wait_until 60 has_size "$report" 2097152
    run ! find_copier

    head -c 3145728 /dev/zero >"$report"
    printf 'ds=nocloud\n' >"$order"
    shim_runs 'echo more'
    has_size "$report" 3145728
}

@test "the copying process has no files of the emulator, can only read and write, and ends with it" {
    local emulator shell

    mkfifo fifo
    # If the test fails, it ends by itself, and bats does not wait for it.
    # shellcheck disable=SC2016  # the emulator's $$
    shim_runs 'echo $$; read -r -t 120 word <>'"$PWD/fifo" 3>&- 5>other &
    shell=$!
    wait_until 60 test -s "$report"
    emulator=$(<"$report")
    find_copier
    [[ $(ls "/proc/$copier/fd") = $'0\n1\n2' ]]
    [[ $(readlink "/proc/$copier/fd/0") = pipe:* && $(readlink "/proc/$copier/fd/2") = /dev/null ]]
    [[ $(readlink "/proc/$copier/cwd") = / && $(<"/proc/$copier/comm") = virt-seed-repor ]]
    # 1: the system calls of the kernel's strict mode.
    grep -qx $'Seccomp:\t1' "/proc/$copier/status"
    [[ $(ps -o sid= -p "$copier") -ne $(ps -o sid= -p "$emulator") ]]
    run ! ps -o pid= --ppid "$emulator"

    kill -TERM "$copier"
    kill -HUP "$copier"
    sleep 0.2
    find_copier
    echo end >fifo
    wait "$shell"
    wait_until 60 has_gone "$copier"
}

# devices: prints only the -device options, without their backends.
devices() {
    grep -A 1 -x -e -device | grep -v -e '^-'
}

@test "warns and adds the same devices if the report cannot be opened" {
    local expected

    printf 'report\n' >>"$order"
    expected=$(shim | devices)
    : >precious

    unreported() {
        run --separate-stderr -0 shim
        [[ $(devices <<<"$output") = "$expected" ]]
        grep -qx 'null,id=virt-seed-report' <<<"$output"
        [[ $output != *fdset* ]]
        output=$stderr
        assert_said "virt-seed: warning: cannot keep the guest's report in $reportdir" \
            'virt-seed: hint: ' "$1"
    }
    rm "$report"
    unreported 'No such file'
    ln -s "$PWD/precious" "$report"
    unreported 'Too many levels of symbolic links'
    rm "$report"
    mkfifo "$report"
    unreported ''
    rm "$report"
    mkdir "$report"
    unreported 'Is a directory'
    rmdir "$report"
    : >"$report"
    chmod 0777 "$root$reportdir"
    unreported 'Operation not permitted'
    chmod 0711 "$root$reportdir"
    mv "$root$reportdir" "$root/elsewhere"
    ln -s "$root/elsewhere" "$root$reportdir"
    unreported 'Not a directory'
}

# AppArmor's parser without a kernel: what a guest's profile may do once the file is included.
@test "AppArmor's abstraction lets a guest open only its own seed and report" {
    local rules

    [[ -x $(type -P apparmor_parser || echo /sbin/apparmor_parser) ]] ||
        skip "apparmor is not installed"
    [[ -e /etc/apparmor.d/abstractions/libvirt-qemu ]] ||
        skip "libvirt's abstraction for guests is not installed"
    cp "$top_builddir/hooks/virt-seed-qemu" .
    cat >profile <<END
abi <abi/3.0>,
#include <tunables/global>
profile libvirt-$uuid flags=(attach_disconnected) {
  #include <abstractions/libvirt-qemu>
  #include "$PWD/virt-seed-qemu"
}
END
    rules=$(PATH=$PATH:/sbin:/usr/sbin apparmor_parser -Q -K -D rule-exprs profile 2>&1)
    grep -F "/virt-seed/*" <<<"$rules"
    [[ $rules = *"aare: $rundir/*.libvirt-$uuid "* && $rules = *"aare: $rundir/*.shim "* ]]
    [[ $rules = *"aare: $reportdir/*.libvirt-$uuid "* ]]
    [[ $rules = *"/virt-seed-qemu "* ]]
    run ! grep -F -e "$rundir/*.iso" -e "$rundir/** " -e "$reportdir/** " -e '*.report' \
        <<<"$rules"
}
