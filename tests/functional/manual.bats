#!/usr/bin/env bats
# manual.bats: the manual pages and --help say the same.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

manual=$top_srcdir/docs/virt-seed.1

# plain: the page's source without roff's escapes and font changes.
plain() {
    sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/"//g' "$manual"
}

# section COMMAND: its part of the page.
section() {
    plain | sed -n "/^\.SS $1\$/,/^\.S[SH]/p"
}

# identifiers HEADER...: the words in its tables.
identifiers() {
    sed -n 's/^ *X([A-Z0-9_]*, *"\([a-z-]*\)").*/\1/p' "$@"
}

options() {
    grep -oE -- '--[a-z][a-z-]*' | sort -u
}

@test "commands and sections of the manual match" {
    diff <(commands | sort) <(plain | sed -n '/^\.SH COMMANDS/,$s/^\.SS //p' | sort)
}

@test "the manual's table of commands is that of --help" {
    diff <(virt-seed --help | sed -nE -e '/^Options,/q' -e 's/^  ([a-z][a-z-]*) +/\1 /p' -e 's/^([A-Z][a-z ]+):$/\1/p') \
        <(plain | sed -n '/^\.SS Commands at a glance/,/^\.TE/{s/^\\0\([a-z-]*\)\t/\1 /p; /^[A-Z]/p}')
}

@test "options in --help and in the manual's sections match" {
    local command

    for command in $(commands); do
        echo "$command"
        diff <(virt-seed "$command" --help | options) \
            <(section "$command" | awk '/^\.T[PQ]$/ { getline; print }' | options)
    done
}

@test "common options and those in the manual match" {
    diff <(virt-seed --help | sed -n '/^Options,/,$p' | options) \
        <(plain | sed -n '/^\.SH OPTIONS/,/^\.SH COMMANDS/p' |
            awk '/^\.TP$/ { getline; print }' | options)
}

@test "the synopsis is that of --help" {
    local command

    diff <(for command in $(commands); do virt-seed "$command" --help | head -n 1; done |
        sed -e 's/^Usage: virt-seed //' | sort) \
        <(plain | sed -n '/^\.SH SYNOPSIS/,/^\.fi/s/^virt-seed \[OPTION\]\.\.\. //p' |
            sed 's/\.\.\./…/g' | sort)
}

@test "options of the metadata server's --help and its manual match" {
    type -P virt-seed-imds >/dev/null || skip 'the metadata server is not built'
    manual=$top_srcdir/docs/virt-seed-imds.8
    diff <(virt-seed-imds --help | options) \
        <(plain | sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' | awk '/^\.TP$/ { getline; print }' | options)
}

@test "the manual pages have no errors" {
    local page

    command -v man >/dev/null || skip "man is not installed"
    for page in "$top_srcdir"/docs/*.[1-8]; do
        [[ $(man --warnings=all -l "$page" 2>&1 >/dev/null) = "" ]]
    done
}

@test "the manual has every finding that check can print" {
    local id

    manual=$top_srcdir/docs/virt-seed-check.7
    while read -r id; do
        plain | grep -qE "^\.B (.*, )?(R, )?$id(R?,.*)?\$" || case $id in
        # These are not findings: they end the command.
        usage | libvirt | libvirt-missing | domain-missing | image | system | xml | domain-uuid | unasked-seed) ;;
        *)
            echo "missing: $id"
            return 1
            ;;
        esac
    done < <(identifiers "$top_srcdir"/src/{base/failure,check/check}.h)
}
