#!/usr/bin/env bats
# golden.bats: real input and expected output, a directory for each case (README).
#
# VIRT_SEED_REGENERATE=1 rewrites what is expected; read the difference before it is committed.

load ../functional/common

# each_case KIND FUNCTION: calls the function in each of the kind's directories and names those in
# which it failed. ${args[@]} are the case's arguments.
each_case() {
    local directory failed=0
    local -a args

    for directory in "$top_srcdir/tests/golden/$1"/*/; do
        args=()
        if [[ -e $directory/args ]]; then
            read -ra args <"$directory/args"
        fi
        if ! (cd "$directory" && set -o pipefail && "$2"); then
            echo "failed: $directory"
            failed=1
        fi
    done
    return "$failed"
}

# same_as FILE: standard input is the file's content; or becomes it.
same_as() {
    if [[ -n ${VIRT_SEED_REGENERATE-} ]]; then
        cat >"$1"
    else
        diff -u --label expected --label found "$1" -
    fi
}

# --- wire -------------------------------------------------------------------------------------

wires() {
    to_build <in.xml | virt-seed --quiet wire "${args[@]}" - | from_build | same_as out.xml
}

wires_once() {
    to_build <out.xml | virt-seed --quiet wire "${args[@]}" - | from_build | diff -u out.xml -
}

canonical() {
    xmllint --c14n - | sed -z 's|>[[:space:]]*<|><|g'
}

unwires() {
    [[ -e no-inverse ]] ||
        diff -u <(canonical <in.xml) \
            <(to_build <out.xml | virt-seed --quiet unset --wiring-only - | from_build | canonical)
}

# nodes XPATH: prints what it finds, a line each, or nothing.
nodes() {
    xmllint --xpath "$1" out.xml 2>/dev/null || :
}

# No name of a target and no address on a bus is there twice; the seed's path is there once.
does_not_collide() {
    local found

    found=$(
        nodes '//devices/disk/target/@dev' | sort | uniq -d
        nodes "//devices/disk[target/@bus='sata']/address[@type='drive']" | sort | uniq -d
        nodes "//devices/disk[target/@bus='ide']/address[@type='drive']" | sort | uniq -d
        nodes "//devices/disk[target/@bus='scsi']/address[@type='drive'] |
               //devices/hostdev[@type='scsi']/address[@type='drive']" | sort | uniq -d
        nodes "//devices/controller[@type='scsi']/@index" | sort | uniq -d
    )
    if [[ -n $found ]]; then
        echo "twice: $found"
        return 1
    fi
    [[ $(nodes "count(//disk/source[starts-with(@file, '/run/libvirt/virt-seed/')])") = 1 ]] &&
        [[ $(nodes "count(//disk/source[@file = concat('/run/libvirt/virt-seed/',
                    /domain/uuid, '.iso')])") = 1 ]]
}

@test "wire: each case gives its output" {
    each_case wire wires
}

@test "wire: what is wired stays as it is, byte for byte" {
    each_case wire wires_once
}

@test "wire: unset gives back what was there" {
    each_case wire unwires
}

@test "wire: the seed's disk collides with nothing" {
    each_case wire does_not_collide
}

# refuses COMMAND...: status 1, nothing on standard output, the expected words on standard error.
refuses() {
    local message=$BATS_TEST_TMPDIR/message printed status=0

    printed=$(to_build <in.xml | "$@" 2>"$message") || status=$?
    if [[ $status -ne 1 || -n $printed ]]; then
        echo "status $status, on standard output: $printed"
        return 1
    fi
    grep -q '^virt-seed: hint: ' "$message" && from_build <"$message" | same_as stderr
}

wire_refuses() {
    refuses virt-seed wire "${args[@]}" -
}

@test "wire: each bad input is refused with what to do" {
    each_case wire-errors wire_refuses
}
