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

# count INPUT COMMAND...: prints how many instructions the command takes, which must succeed, in
# the environment that libvirt gives to a hook.
count() {
    local input=$1 log=$BATS_TEST_TMPDIR/log profile=$BATS_TEST_TMPDIR/profile
    local environment=(env -i LC_ALL=C PATH=/usr/bin:/bin)

    shift
    # The hook does nothing for users other than root.
    if [[ $EUID -ne 0 ]]; then
        environment=(unshare --user --map-root-user "${environment[@]}")
    fi
    if ! "${environment[@]}" valgrind --tool=callgrind --callgrind-out-file="$profile" "$@" \
        <"$input" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
    sed -n 's/^totals: //p' "$profile"
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
    within_limit lifecycle-prepare "$found"
    found=$(count "$root/domain.xml" "$top_builddir/hook-in-root" --root="$root" \
        web1 release end -)
    [[ ! -e $seed ]]
    within_limit lifecycle-release "$found"
}

@test "a seed with 1 MiB of user-data takes no more of the heap than the limit" {
    local profile=$BATS_TEST_TMPDIR/massif

    needs_openat2
    bench_seed_domain "$uuid" 1048576 >"$root/domain.xml"
    env -i LC_ALL=C PATH=/usr/bin:/bin valgrind --tool=massif --massif-out-file="$profile" \
        "$top_builddir/hook-in-root" --root="$root" web1 prepare begin - <"$root/domain.xml"
    [[ -s $root$rundir/$uuid.iso ]]
    within_limit lifecycle-prepare-heap \
        "$(sed -n 's/^mem_heap_B=//p' "$profile" | sort --numeric-sort | tail -n 1)"
}
