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
    may_include seed base domain
    may_include image base domain seed
    may_include store base domain seed image
    may_include check base domain seed image store
    may_include lifecycle base domain seed image store
    may_include cli base domain seed image store check
    may_include vdsm base domain image store
    may_include shim base
    may_include imds base store
    # And there are no others.
    [[ $(printf '%s\n' */) = $'base/\ncheck/\ncli/\ndomain/\nimage/\nimds/\nlifecycle/\nseed/\nshim/\nstore/\nvdsm/' ]]
}

@test "libvirt is called by the command alone" {
    run ! grep -l 'libvirt/libvirt.h' base/*.[ch] domain/*.[ch] seed/*.[ch] image/*.[ch] check/*.[ch] \
        store/*.[ch] lifecycle/*.[ch] vdsm/*.[ch] imds/*.[ch]
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

@test "each file of tests is in a makefile, so that a ring runs it" {
    local makefile

    cd ../tests || return
    for makefile in local.mk */local.mk; do
        sed "s|%D%|${makefile%local.mk}|" "$makefile"
    done | grep -oE '[a-z]+/+[a-z-]+\.bats' | tr -s / | sort -u >"$BATS_TEST_TMPDIR/run"
    diff <(printf '%s\n' */*.bats | sort) "$BATS_TEST_TMPDIR/run"
}
