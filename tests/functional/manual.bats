#!/usr/bin/env bats
# manual.bats: the manual pages and --help say the same.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

docs=$top_srcdir/docs

# plain PAGE: the page's source without roff's escapes and font changes.
plain() {
    sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/"//g' "$docs/$1"
}

# section PAGE HEADING: that section of the page.
section() {
    plain "$1" | sed -n "/^\.SH $2\$/,/^\.SH /p"
}

# identifiers HEADER...: the words in its tables.
identifiers() {
    sed -n 's/^ *X([A-Z0-9_]*, *"\([a-z-]*\)").*/\1/p' "$@"
}

options() {
    grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# options_of_page PAGE: those that its OPTIONS describe.
options_of_page() {
    section "$1" OPTIONS | awk '/^\.T[PQ]$/ { getline; print }' | options
}

# global_options: those that --help describes.
global_options() {
    virt-seed --help | sed -n '/^Options,/,/^$/p' | options
}

# options_of_all: those that every command has.
options_of_all() {
    global_options | grep -vxE -e '--(json|dry-run|verbose)'
}

@test "each command has a manual page, and each such page a command" {
    diff <(commands | sort) <(cd "$docs" && printf '%s\n' virt-seed-*.1 | sed 's/^virt-seed-\(.*\)\.1$/\1/' | sort)
}

@test "each command's page is installed, and virt-seed(1) refers to it" {
    local command

    for command in $(commands); do
        grep -qF "%D%/virt-seed-$command.1 " "$docs/local.mk"
        section virt-seed.1 'SEE ALSO' | grep -qxF ".BR virt-seed-$command (1),"
        section "virt-seed-$command.1" 'SEE ALSO' | grep -q '^\.BR virt-seed (1)'
        virt-seed "$command" --help | grep -qxF "See virt-seed-$command(1)."
    done
}

@test "apropos finds a command by the summary in --help" {
    local command

    for command in $(commands); do
        diff <(virt-seed help --all | sed -n "s/^  $command  *\(.*\)/virt-seed-$command - \1/p") \
            <(section "virt-seed-$command.1" NAME | sed -e 1d -e '$d')
    done
}

@test "the manual's table of commands is that of help --all" {
    diff <(virt-seed help --all | sed -nE -e 's/^  ([a-z][a-z-]*) +/\1 /p' -e 's/^([A-Z][a-z ]+):$/\1/p') \
        <(section virt-seed.1 COMMANDS | sed -n '/^\.TS/,/^\.TE/{s/^\\0\([a-z-]*\)\t/\1 /p; /^[A-Z]/p}')
}

# documented_options COMMAND: those of its page; that of new refers to the page of set for the settings.
documented_options() {
    {
        options_of_page "virt-seed-$1.1"
        if [[ $1 = new ]]; then
            comm -12 <(options_of_page virt-seed-set.1) <(virt-seed new --help | options)
        fi
    } | sort -u
}

@test "options in --help and in each command's page match" {
    local command

    for command in $(commands); do
        echo "$command"
        diff <(virt-seed "$command" --help | options | comm -23 - <(options_of_all)) \
            <(documented_options "$command")
    done
}

@test "common options and those in the manual match" {
    diff <(global_options) <(options_of_page virt-seed.1)
}

@test "the synopsis of each command is that of its --help" {
    local command

    for command in $(commands); do
        diff <(virt-seed "$command" --help | sed -n '1s/^Usage: //p') \
            <(section "virt-seed-$command.1" SYNOPSIS | sed -n '/^virt-seed /{s/\.\.\./…/g;p}')
    done
}

@test "each page about a command shows an example before the third paragraph" {
    local page

    for page in virt-seed{,-{set,start,wait,status,check,edit}}.1; do
        echo "$page"
        section "$page" DESCRIPTION | awk '/^\.EX$/ { found = 1; exit } /^\.PP$/ { if (++paragraphs > 2) exit }
            END { exit !found }'
    done
}

@test "no page hyphenates names and paths" {
    local page

    for page in "$docs"/*.[1-8]; do
        grep -qx '\.nr HY 0' "$page"
    done
}

@test "options of the metadata server's --help and its manual match" {
    type -P virt-seed-imds >/dev/null || skip 'the metadata server is not built'
    diff <(virt-seed-imds --help | options) <(options_of_page virt-seed-imds.8)
}

@test "the manual pages have no errors" {
    local page

    command -v man >/dev/null || skip "man is not installed"
    for page in "$docs"/*.[1-8]; do
        [[ $(man --warnings=all -l "$page" 2>&1 >/dev/null) = "" ]]
    done
}

@test "the manual has every finding that check can print" {
    local id

    while read -r id; do
        plain virt-seed-check.7 | grep -qE "^\.B (.*, )?(R, )?$id(R?,.*)?\$" || case $id in
        # These are not findings: they end the command.
        usage | libvirt | libvirt-missing | domain-missing | image | system | xml | domain-uuid | unasked-seed) ;;
        *)
            echo "missing: $id"
            return 1
            ;;
        esac
    done < <(identifiers "$top_srcdir"/src/{base/failure,check/check}.h)
}
