#!/usr/bin/env bats
# source.bats: what holds for the source itself.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$top_srcdir/src" || return
}

# includes LAYER: the layers that its files include from.
includes() {
    find "$1" -name '*.[ch]' -exec sed -n 's|^#include "\([a-z]*\)/.*|\1|p' {} + | sort -u
}

# may_include LAYER OTHER...: those, and itself.
may_include() {
    local layer=$1

    run ! grep -v -x -e "$layer" "${@/#/--regexp=}" < <(includes "$layer")
}

@test "layers include one another in one direction" {
    may_include base
    may_include domain base
    may_include wire base domain
    may_include seed base domain
    may_include image base domain seed wire
    may_include store base domain wire seed image
    may_include check base domain wire seed image store
    may_include lifecycle base domain wire seed image store check
    may_include import base domain wire seed store
    may_include cli base domain wire seed image store check import
    may_include vdsm base domain wire image store
    may_include shim base
    may_include imds base store
    # And there are no others.
    [[ $(printf '%s\n' */) = $'base/\ncheck/\ncli/\ndomain/\nimage/\nimds/\nimport/\nlifecycle/\nseed/\nshim/\nstore/\nvdsm/\nwire/' ]]
}

@test "libvirt is called by the command alone" {
    run ! grep -l 'libvirt/libvirt.h' base/*.[ch] domain/*.[ch] wire/*.[ch] seed/*.[ch] image/*.[ch] check/*.[ch] \
        store/*.[ch] lifecycle/*.[ch] vdsm/*.[ch] imds/*.[ch] import/*.[ch]
}

@test "each file begins with its licence" {
    local file

    for file in */*.[ch]; do
        [[ $(head -n 1 "$file") = '/* SPDX-License-Identifier: GPL-2.0-or-later */' ]]
    done
}

@test "each source file includes config.h first, and each header is included once" {
    local file

    for file in */*.c; do
        [[ $(grep -m 1 '^#include' "$file") = '#include "config.h"' ]]
    done
    for file in */*.h; do
        grep -q -x '#pragma once' "$file"
    done
}

@test "no function is used that starts a shell or cannot report an error" {
    run ! grep -n -w -E '(system|popen|atoi|atol|sprintf|strcpy|strcat|gets|tmpnam|mktemp) *\(' \
        ./*/*.[ch]
}

# endless_waits FILE...: prints the loops of shell that wait without an end: those that sleep, or go on
# whatever comes, and look at no clock; and a 'wait' for all there is, to which bats adds a process.
endless_waits() {
    awk '
        function judge() {
            if (head !~ /SECONDS/ && (head ~ /until |while (:|true) *;/ || body ~ /sleep /))
                print FILENAME ":" line ": " head
            head = ""
        }
        FNR == 1 { head = "" }
        /^ *wait *$/ { print FILENAME ":" FNR ": " $0 }
        match($0, /(until|while) .*;? *do( |$)/) && !/while .*read / {
            head = body = substr($0, RSTART)
            line = FNR
            indent = match($0, /[^ ]/)
            if (head !~ /; *done/)
                next
            judge()
        }
        head { body = body "\n" $0 }
        head && $1 ~ /^done/ && match($0, /[^ ]/) == indent { judge() }
    ' "$@"
}

@test "every loop of the tests that waits has an end" {
    cd ../tests || return
    # A lab's first process stays until the lab ends; this file has what is to be found.
    mapfile -t files < <(find . '(' -name '*.bats' -o -name '*.bash' ')' ! -name wait.bash \
        ! -name lab-namespace.bash ! -name source.bats)
    run endless_waits "${files[@]}"
    echo "$output"
    [[ $status -eq 0 && -z $output ]]

    endless_waits - <<'END' >"$BATS_TEST_TMPDIR/found"
until grep -q ready log; do
    sleep 0.1
done
bash -c 'until grep -q ready log; do sleep 0.1; done'
while :; do
    break
done
    while [[ ! -e ready ]]; do
        sleep 0.1
    done
while [[ ! -e ready ]] && ((SECONDS < end)); do
    sleep 0.1
done
while read -r line; do
    sleep 0.1
done
while [[ $# -gt 0 ]]; do
    shift
done
wait
END
    cut -d : -f 2 "$BATS_TEST_TMPDIR/found" | diff - <(printf '%s\n' 1 4 5 8 20)
}

@test "each file of tests is in a makefile, so that a ring runs it" {
    local makefile

    cd ../tests || return
    for makefile in local.mk */local.mk; do
        sed "s|%D%|${makefile%local.mk}|" "$makefile"
    done | grep -oE '[a-z]+/+[a-z-]+\.bats' | tr -s / | sort -u >"$BATS_TEST_TMPDIR/run"
    diff <(printf '%s\n' */*.bats | sort) "$BATS_TEST_TMPDIR/run"
}
