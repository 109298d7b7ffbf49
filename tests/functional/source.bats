#!/usr/bin/env bats
# source.bats: rules for the source itself.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

# Each rule is a function that prints what breaks it in the current directory, and is also run in
# one where something has been planted.
setup() {
    cd "$top_srcdir/src" || return
}

# plant PATH [LINE...]: a file in a directory of its own, which becomes the current one.
plant() {
    mkdir -p "$BATS_TEST_TMPDIR/planted/$(dirname "$1")"
    cd "$BATS_TEST_TMPDIR/planted" || return
    printf '%s\n' "${@:2}" >"$1"
}

# finds RULE... FILE: the rule prints this file, and nothing else.
finds() {
    run "${@:1:$#-1}"
    echo "$output"
    [[ $output = *"${*: -1}"* && ${#lines[@]} -eq 1 ]]
}

# finds_nothing RULE...
finds_nothing() {
    run "$@"
    echo "$output"
    [[ $status -eq 0 && -z $output ]]
}

# foreign_includes LAYER OTHER...: the files of the layer that include from others than those and itself.
foreign_includes() {
    local layers

    layers=$(IFS='|' && echo "$*")
    find "$1" -name '*.[ch]' -exec grep -HE '^ *# *include "[a-z]+/' {} + |
        grep -vE "include \"($layers)/" || :
}

# other_layers LAYER...: the directories that are none of these.
other_layers() {
    printf '%s\n' */ | grep -vxF "$(printf '%s/\n' "$@")" || :
}

# may_include LAYER OTHER...: the layer includes only from those and itself.
may_include() {
    finds_nothing foreign_includes "$@"
}

@test "layers include one another in one direction only" {
    may_include base
    may_include host base
    may_include domain base host
    may_include wire base host domain
    may_include seed base host domain
    may_include image base host domain seed wire
    may_include store base host domain wire seed image
    may_include maker base host domain wire seed image store
    may_include check base host domain wire seed image store
    may_include import base host domain wire seed image store
    may_include cli base host domain wire seed image store maker check import
    may_include vdsm base host domain wire image store
    # Root's process reads no XML.
    may_include lifecycle base host
    may_include shim base
    may_include imds base host store
    finds_nothing other_layers base host domain wire seed image store check maker lifecycle import cli vdsm shim imds

    plant sixteenth/planted.c
    finds other_layers base sixteenth/
    plant cli/deep/planted.c '#include "cli/cli.h"' '#include "imds/path.h"'
    finds foreign_includes cli base cli/deep/planted.c
    plant lifecycle/planted.c '#include "host/maker.h"' '#include "domain/domain.h"' '#include "lifecycle/lifecycle.h"'
    finds foreign_includes lifecycle base host lifecycle/planted.c
    plant lifecycle/planted.c '#include "store/record.h"'
    finds foreign_includes lifecycle base host lifecycle/planted.c
    rm lifecycle/planted.c
    plant host/planted.c '#include "wire/url.h"'
    finds foreign_includes host base host/planted.c
}

includes_of_libvirt() {
    find . -name '*.[ch]' ! -path './cli/*' -exec grep -l '<libvirt/' {} + || :
}

@test "only the command calls libvirt" {
    finds_nothing includes_of_libvirt

    plant lifecycle/deep/planted.c '#include <libvirt/libvirt-qemu.h>'
    plant cli/deep/allowed.c '#include <libvirt/libvirt.h>'
    finds includes_of_libvirt lifecycle/deep/planted.c
}

# wrong_heads: prints the files that do not begin with the licence and then a guard or config.h.
wrong_heads() {
    local file

    find . -name '*.[ch]' | while read -r file; do
        if [[ $(head -n 1 "$file") != '/* SPDX-License-Identifier: GPL-2.0-or-later */' ]]; then
            echo "$file: no licence"
        elif [[ $file = *.h ]]; then
            grep -q -x '#pragma once' "$file" || echo "$file: no #pragma once"
        elif [[ $(grep -m 1 '^#include' "$file") != '#include "config.h"' ]]; then
            echo "$file: config.h is not its first include"
        fi
    done
}

@test "each file begins with its licence, then config.h or a header guard" {
    local licence='/* SPDX-License-Identifier: GPL-2.0-or-later */'

    finds_nothing wrong_heads

    plant cli/deep/planted.c '/* Mine. */' '#include "config.h"'
    finds wrong_heads cli/deep/planted.c
    plant cli/deep/planted.c "$licence" '#include <stdio.h>' '#include "config.h"'
    finds wrong_heads cli/deep/planted.c
    plant cli/deep/planted.c "$licence" '#include "config.h"'
    plant planted.h "$licence" '#ifndef PLANTED_H'
    finds wrong_heads ./planted.h
}

# includes_again: prints the includes of what base/base.h has, but for those of the headers that it has itself.
includes_again() {
    find . -name '*.[ch]' ! -path './base/b*.h' ! -path './base/failure.h' ! -path './base/limits.h' \
        ! -path './base/memory.h' ! -path './base/text.h' \
        -exec grep -nH -F -x -f <(grep '^#include' "$top_srcdir/src/base/base.h") {} + || :
}

@test "no file includes again what base/base.h has" {
    finds_nothing includes_again

    plant seed/deep/planted.c '#include <sys/mman.h>' '#include "base/base.h"'
    finds_nothing includes_again
    plant seed/deep/planted.c '#include <string.h>'
    finds includes_again seed/deep/planted.c
}

# Calls that start a shell, write past the end of an array, or cannot report an error.
forbidden_calls() {
    find . -name '*.[ch]' -exec grep -nHE \
        '\<(system|popen|ato(i|l|ll|f)|v?sprintf|str(cpy|cat|ncpy|ncat|tok)|gets|tmpnam|tempnam|mktemp) *\(' {} + || :
}

@test "uses no function that starts a shell or cannot report an error" {
    finds_nothing forbidden_calls

    plant base/deep/planted.c 'xstrcpy(a, b);' 'int system;' 'strcpy(a, b);'
    finds forbidden_calls base/deep/planted.c:3:
    plant base/deep/planted.c '    return atoi (text);'
    finds forbidden_calls base/deep/planted.c:1:
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

@test "each waiting loop in the tests has an end" {
    cd ../tests || return
    # A lab's first process stays until the lab ends; this file has examples of such loops.
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

# not_run: prints the tests' files below the current directory that no local.mk names, and what one names
# that is not there.
not_run() {
    local makefile

    for makefile in local.mk */local.mk; do
        sed "s|%D%|${makefile%local.mk}|" "$makefile"
    done | grep -oE '[a-z]+/+[a-z-]+\.bats' | tr -s / | sort -u |
        diff <(printf '%s\n' */*.bats | sort) - | grep '^[<>]' || :
}

@test "each test file is in a makefile, so that a ring runs it" {
    cd ../tests || return
    finds_nothing not_run

    plant local.mk '%D%/deep/named.bats'
    plant deep/local.mk '%D%/local.bats'
    touch deep/{named,local,planted}.bats
    finds not_run deep/planted.bats
}
