#!/usr/bin/env bats
# golden.bats: real input and expected output, a directory for each case.
#
#   in.xml      the domain; args, if it exists, has the arguments of the command
#   out.xml     of wire: the wired domain
#   no-inverse  of wire: why unset cannot restore the original
#   out.txt     of dump: what it prints
#   out.txt     of check: its findings
#   no-server   of check: nothing on the host serves seeds; otherwise a server listens for a domain that asks
#   etc/        of dump and check: the host's /etc/virt-seed; the file links lists its links, a line each,
#               LINK TARGET
#   in.yaml     of import-kubevirt: the manifests; of import-ovirt: in.xml
#   out.xml     of import-*: the element; dump.txt is what the guest of such a domain would read
#   notes       of import-*: the notes it prints
#   stderr      of input that is refused: the message
#
# VIRT_SEED_REGENERATE=1 rewrites the expected output; read the difference before you commit it.

# shellcheck source-path=SCRIPTDIR source=../functional/common.bash
source "$BATS_TEST_DIRNAME/../functional/common.bash"

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

# The token of a URL is random; lifecycle.bats looks at that.
with_one_token() {
    sed -E 's|(;s=http://[^ <]*/)[0-9a-f]{32}/|\10123456789abcdef0123456789abcdef/|'
}

wires() {
    to_build <in.xml | virt-seed --quiet wire - "${args[@]}" | from_build | with_one_token | same_as out.xml
}

wires_once() {
    # shellcheck disable=SC2094  # diff reads, too
    to_build <out.xml | virt-seed --quiet wire - "${args[@]}" | from_build | diff -u out.xml -
}

canonical() {
    xmllint --c14n - | sed -z 's|>[[:space:]]*<|><|g'
}

unwires() {
    [[ -e no-inverse ]] ||
        diff -u <(canonical <in.xml) \
            <(to_build <out.xml | virt-seed --quiet unset --wiring-only - | from_build | canonical)
}

# The one disk of the seed has the domain's path, and a target and a place of its own; where there is
# to be none, there is none.
does_not_collide() {
    if grep -q 'datasource="nocloud-net"' out.xml; then
        run ! grep -F '/run/libvirt/virt-seed/' out.xml
        return
    fi
    local seed="//disk[starts-with(source/@file, '/run/libvirt/virt-seed/')]"
    local neighbours="//disk[target/@bus = $seed/target/@bus] |
                      //hostdev[@type = 'scsi' and $seed/target/@bus = 'scsi']"
    local place="@controller = $seed/address/@controller and @bus = $seed/address/@bus and
                 @target = $seed/address/@target and @unit = $seed/address/@unit"
    local scsi="controller[@type = 'scsi']"
    local uuid="translate((/domain/uuid | //sysinfo/system/entry[@name = 'uuid'])[1], 'ABCDEF', 'abcdef')"

    [[ $(xmllint --xpath "count($seed) = 1 and
        $seed/source/@file = concat('/run/libvirt/virt-seed/', $uuid, '.iso') and
        count(//disk[target/@dev = $seed/target/@dev]) = 1 and
        count(($neighbours)[address[$place]]) = count($seed/address) and
        not(//${scsi}[@index = following-sibling::$scsi/@index])" out.xml) = true ]]
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

# libxml2's own words for what is not well-formed are not the same in all its versions.
without_reason() {
    sed 's/\(is not well-formed XML: line [0-9]*\): .*/\1: …/'
}

# refuses COMMAND...: status 1, nothing on standard output, the expected words on standard error.
refuses() {
    local message=$BATS_TEST_TMPDIR/message printed status=0

    printed=$(to_build <in.* | "$@" 2>"$message") || status=$?
    if [[ $status -ne 1 || -n $printed ]]; then
        echo "status $status, on standard output: $printed"
        return 1
    fi
    grep -q '^virt-seed: hint: ' "$message" &&
        from_build <"$message" | without_reason | same_as stderr
}

wire_refuses() {
    refuses virt-seed wire - "${args[@]}"
}

@test "wire: each bad input is refused with what to do" {
    each_case wire-errors wire_refuses
}

# --- dump -------------------------------------------------------------------------------------

# The reporter is the same in all of them: as a document, a part of one, or a text in JSON.
without_reporter() {
    sed -e 's|# virt-seed: tells .*nreport &|(the reporter)|' \
        -e '/^# virt-seed: tells /,/^report &$/c (the reporter)'
}

dumps() {
    make_case_root
    to_build <in.xml | virt-seed --root="$root" dump --full - "${args[@]}" | without_reporter |
        from_build | same_as out.txt
}

dump_refuses() {
    make_case_root
    refuses virt-seed --root="$root" dump - "${args[@]}"
}

@test "dump: each case gives its documents" {
    each_case dump dumps
}

@test "dump: each bad input is refused with what to do" {
    each_case dump-errors dump_refuses
}

# --- check ------------------------------------------------------------------------------------

# make_case_server: makes the server that the case's domain asks, if it does: at an address of the
# test's, where the case has the usual one.
make_case_server() {
    imds_address=169.254.169.254
    grep -q 'datasource="nocloud-net"' in.xml || return 0
    make_server
    if [[ -e no-server ]]; then
        end_server
        rmdir "$root$rundir/imds"
    fi
}

# The exit status says whether there are errors.
checks() {
    local found=$BATS_TEST_TMPDIR/found status=0 imds_address

    make_case_root
    make_case_server
    to_build <in.xml | sed "s|http://169.254.169.254/|http://$imds_address/|" |
        virt-seed --root="$root" check --no-schema "${args[@]}" - >"$found" || status=$?
    [[ $status -eq $(grep -c -m 1 ': error: ' "$found") ]] &&
        from_build <"$found" | sed "s|$imds_address|169.254.169.254|g" | same_as out.txt
}

@test "check: each case gives its findings" {
    each_case check checks
}

@test "check: no finding holds anything of a secret" {
    run ! grep -ri hunter2 "$top_srcdir"/tests/golden/check/*/out.txt
}

# --- import -----------------------------------------------------------------------------------

# imports SYSTEM: the element, and the notes printed with it.
imports() {
    local message=$BATS_TEST_TMPDIR/message

    make_case_root
    virt-seed --root="$root" import --secrets "$1" - "${args[@]}" <in.* 2>"$message" |
        same_as out.xml || return
    if [[ -s $message || -e notes ]]; then
        from_build <"$message" | same_as notes
    fi
}

# The domain that has the element of the case.
imported_domain() {
    domain_xml | sed -e '/<ci:cloud-init/{
        r out.xml
        d
    }' -e "s|</devices>|<interface type='user'><mac address='52:54:00:00:00:01'/></interface>\
        <interface type='user'><mac address='52:54:00:00:00:02'/></interface>\
        <interface type='user'><mac address='52:54:00:00:00:03'/></interface>\
        </devices>|"
}

imported_is_dumped() {
    make_case_root
    imported_domain >"$BATS_TEST_TMPDIR/domain.xml"
    imports "$1" || return
    virt-seed --root="$root" dump --full --show-secrets "$BATS_TEST_TMPDIR/domain.xml" |
        without_reporter | same_as dump.txt
}

imports_kubevirt() {
    imports kubevirt
}

imports_ovirt() {
    imports ovirt
}

dumps_kubevirt() {
    imported_is_dumped kubevirt
}

dumps_ovirt() {
    imported_is_dumped ovirt
}

import_kubevirt_refuses() {
    refuses virt-seed import kubevirt - "${args[@]}"
}

import_ovirt_refuses() {
    refuses virt-seed import ovirt - "${args[@]}"
}

@test "import kubevirt: each manifest gives its element" {
    each_case import-kubevirt imports_kubevirt
}

@test "import ovirt: each document gives its element" {
    each_case import-ovirt imports_ovirt
}

@test "import kubevirt: each element gives the guest what KubeVirt would" {
    each_case import-kubevirt dumps_kubevirt
}

@test "import ovirt: each element gives the guest what oVirt would" {
    each_case import-ovirt dumps_ovirt
}

@test "import kubevirt: each bad manifest is refused with the path of the field" {
    each_case import-kubevirt-errors import_kubevirt_refuses
}

@test "import ovirt: each bad document is refused with the path of the element" {
    each_case import-ovirt-errors import_ovirt_refuses
}

@test "no message holds anything of a secret" {
    run ! grep -r hunter2 "$top_srcdir"/tests/golden/*/*/stderr
}
