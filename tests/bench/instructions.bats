#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# instructions.bats: what libvirt waits for costs no more instructions, and no more memory, than the
# file "limits" says.
#
# callgrind and massif count them: neither the machine nor its load matters, but compiler and
# libraries do.
# VIRT_SEED_REGENERATE=1 rewrites the limits; say in the commit what made them rise.

# shellcheck source-path=SCRIPTDIR source=../functional/common.bash
source "$BATS_TEST_DIRNAME/../functional/common.bash"
# shellcheck source-path=SCRIPTDIR source=input.bash
source "$BATS_TEST_DIRNAME/input.bash"

limits=$top_srcdir/tests/bench/limits

setup() {
    type -P valgrind >/dev/null || skip "valgrind is not installed"
    is_debian_12 || skip "the limits are those of Debian 12 on x86_64"
    grep -q '^CFLAGS = .*-O2' "$top_builddir/Makefile" || skip "the limits are those of -O2"
    ! ldd "$top_builddir/virt-seed-maker" | grep -q 'lib[a-z]*san\.so' ||
        skip "built with sanitizers"
    [[ $EUID -eq 0 ]] || unshare --user --map-root-user true 2>/dev/null ||
        skip "user namespaces are not allowed here"
    make_root
}

is_debian_12() {
    # shellcheck source=/dev/null
    [[ $(. /etc/os-release && echo "$ID $VERSION_ID") = "debian 12" && $(uname -m) = x86_64 ]]
}

# environment: sets ${environment[@]}, words to put before a command to give it the environment that libvirt gives
# to a hook. The hook does nothing for users other than root.
environment() {
    environment=(env -i LC_ALL=C PATH=/usr/bin:/bin VALGRIND_LIB="${VALGRIND_LIB-}")
    [[ -n ${VALGRIND_LIB-} ]] || unset 'environment[-1]'
    if [[ $EUID -ne 0 ]]; then
        environment=(unshare --user --map-root-user "${environment[@]}")
    fi
}

# run_in TOOL INPUT COMMAND...: runs the command, which must succeed, and what it starts in valgrind; leaves a file
# in "profiles" for each program, PROGRAM.PROCESS. The maker's filter would kill valgrind; with the filter, only
# the hook is in valgrind.
run_in() {
    local tool=$1 input=$2 log=$BATS_TEST_TMPDIR/log children=yes file program
    local -a environment

    shift 2
    environment
    ! has_sandbox || children=no
    rm -rf "$BATS_TEST_TMPDIR/profiles"
    mkdir -m 1777 "$BATS_TEST_TMPDIR/profiles"
    if ! "${environment[@]}" valgrind --tool="$tool" --trace-children="$children" \
        "--$tool-out-file=$BATS_TEST_TMPDIR/profiles/%p" "$@" <"$input" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
    for file in "$BATS_TEST_TMPDIR"/profiles/*; do
        program=$(sed -n 's/^cmd: *\([^ ]*\).*/\1/p' "$file" | head -n 1)
        mv "$file" "$BATS_TEST_TMPDIR/profiles/${program##*/}.${file##*/}"
    done
}

# count INPUT COMMAND...: prints how many instructions the command takes itself. The part of a process that becomes
# another program counts with what it was.
count() {
    run_in callgrind "$@" || return
    shift
    instructions_of "${1##*/}"
}

# instructions_of PROGRAM: prints how many it took in the last run.
instructions_of() {
    sed -n 's/^totals: //p' "$BATS_TEST_TMPDIR/profiles/$1".* | paste -sd+ | bc
}

# within_limit NAME COUNT: the count does not exceed the limit of that name. If limits are regenerated, the
# count and 5 % for the next point release of a library become the limit.
within_limit() {
    local limit

    if [[ -n ${VIRT_SEED_REGENERATE-} ]]; then
        sed -i "s/^$1 .*/$1 $(($2 * 105 / 100))/" "$limits"
    fi
    limit=$(sed -n "s/^$1 //p" "$limits")
    echo "$1: $2, limit $limit"
    [[ $2 -gt 0 && $2 -le $limit ]]
}

@test "the hook costs little at an operation for which it has nothing to do" {
    bench_domain "$uuid" >"$root/domain.xml"
    found=$(count "$root/domain.xml" "$top_builddir/virt-seed-hook" web1 stopped end -)
    within_limit hook-other-operation "$found"
}

@test "the hook costs little for a domain that asks for nothing" {
    bench_domain "$uuid" >"$root/domain.xml"
    found=$(count "$root/domain.xml" "$top_builddir/virt-seed-hook" web1 prepare begin -)
    within_limit hook-nothing-asked "$found"
}

# needs_openat2: the check of paths, which fails closed, uses openat2(2); valgrind knows it from 3.24 on.
needs_openat2() {
    [[ $(printf 'valgrind-3.24\n%s\n' "$(valgrind --version)" | sort --version-sort | head -n 1) = valgrind-3.24 ]] ||
        skip 'this valgrind does not know openat2(2)'
}

@test "a seed with 4 KiB of user-data is made, and removed, within the limits" {
    needs_openat2
    seed=$root$rundir/$uuid.iso
    bench_seed_domain "$uuid" 4096 >"$root/domain.xml"
    found=$(count "$root/domain.xml" "$top_builddir/hook-in-root" --root="$root" \
        web1 prepare begin -)
    [[ -s $seed ]]
    within_limit hook-prepare "$found"
    has_sandbox || within_limit maker-prepare "$(instructions_of virt-seed-maker)"
    found=$(count "$root/domain.xml" "$top_builddir/hook-in-root" --root="$root" \
        web1 started begin -)
    within_limit hook-started "$found"
    [[ -z $(find "$BATS_TEST_TMPDIR/profiles" -name 'virt-seed-maker.*') ]]
    found=$(count "$root/domain.xml" "$top_builddir/hook-in-root" --root="$root" \
        web1 release end -)
    [[ ! -e $seed ]]
    within_limit hook-release "$found"
    # The guest has not reported, so nobody reads its report.
    [[ -z $(find "$BATS_TEST_TMPDIR/profiles" -name 'virt-seed-maker.*') ]]
}

@test "a seed with 1 MiB of user-data takes no more of the heap than the limit" {
    ! has_sandbox || skip "the maker's filter would kill valgrind"
    needs_openat2
    bench_seed_domain "$uuid" 1048576 >"$root/domain.xml"
    run_in massif "$root/domain.xml" "$top_builddir/hook-in-root" --root="$root" web1 prepare begin -
    [[ -s $root$rundir/$uuid.iso ]]
    within_limit maker-prepare-heap \
        "$(sed -n 's/^mem_heap_B=//p' "$BATS_TEST_TMPDIR/profiles"/virt-seed-maker.* | sort --numeric-sort | tail -n 1)"
}
