#!/usr/bin/env bats
# vdsm.bats: virt-seed-vdsm, run as VDSM runs its hooks at before_vm_start.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own
# shellcheck disable=SC2016,SC2154  # hooks are written here; vdsm.bash sets variables

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=vdsm.bash
source "$BATS_TEST_DIRNAME/vdsm.bash"

golden=$top_srcdir/tests/golden/vdsm
element="<ci:cloud-init xmlns:ci='$namespace'><ci:hostname>web1</ci:hostname></ci:cloud-init>"

setup() {
    vdsm_user=()
    hooks=$BATS_TEST_TMPDIR/hooks
    point=$hooks/before_vm_start
    export TMPDIR=$BATS_TEST_TMPDIR/exchange
    mkdir -p "$point" "$TMPDIR"
    cp "$top_builddir/virt-seed-vdsm" "$point/50_virt_seed"
}

# vm_xml [METADATA]: prints an oVirt-style VM.
vm_xml() {
    to_build <"$golden/request/in.xml" | sed '/<ci:cloud-init/,/<\/ci:cloud-init>/d' |
        awk -v metadata="${1-}" '{ print } /<metadata>/ && metadata { print metadata }'
}

property() {
    printf 'cloudinit=%s' "$(base64 -w0)"
}

starts() {
    vdsm_run_hooks "$hooks" before_vm_start "$@"
}

# is_stopped XML PATTERN [PROPERTY...]: the VM does not start, its XML is as it was, the message is
# the two lines, and no temporary file is left.
is_stopped() {
    local xml=$1 pattern=$2

    shift 2
    if starts "$xml" "$@"; then
        echo 'started'
        return 1
    fi
    echo "$vdsm_error"
    [[ $vdsm_xml = "$xml" ]] && no_file_is_left &&
        [[ $(wc -l <<<"$vdsm_error") -eq 2 ]] &&
        [[ $vdsm_error = 'virt-seed: error: '*"$pattern"*$'\nvirt-seed: hint: '* ]]
}

no_file_is_left() {
    [[ $(ls -A "$TMPDIR") = '' ]]
}

# hook NAME: adds a hook, whose text is on standard input.
hook() {
    { echo '#!/bin/bash' && cat; } >"$point/$1"
    chmod +x "$point/$1"
}

@test "each golden case gives its output" {
    local directory failed=0
    local -a properties

    for directory in "$golden"/*/; do
        properties=()
        if [[ -e $directory/cloudinit ]]; then
            properties=("$(property <"$directory/cloudinit")")
        fi
        starts "$(to_build <"$directory/in.xml")" "${properties[@]}" || echo "$vdsm_error"
        if [[ -n ${VIRT_SEED_REGENERATE-} ]]; then
            from_build <<<"$vdsm_xml" >"$directory/out.xml"
        fi
        diff -u "$directory/out.xml" <(from_build <<<"$vdsm_xml") || failed=1
        no_file_is_left
    done
    [[ $failed -eq 0 ]]
}

@test "running the hook again changes nothing" {
    local directory

    cp "$point/50_virt_seed" "$point/51_again"
    for directory in "$golden"/*/; do
        properties=()
        if [[ -e $directory/cloudinit ]]; then
            properties=("$(property <"$directory/cloudinit")")
        fi
        starts "$(to_build <"$directory/in.xml")" "${properties[@]}"
        [[ $vdsm_ran = '50_virt_seed 51_again ' ]]
        diff -u "$directory/out.xml" <(from_build <<<"$vdsm_xml")
    done
}

@test "libvirt's hook accepts what VDSM's hook wires" {
    starts "$(vm_xml "$element")"
    run -0 virt-seed wire - <<<"$vdsm_xml"
    assert_said 'already wired'
    starts "$(vm_xml)" "$(property <<<"#!/bin/sh")"
    [[ $(virt-seed dump - user-data <<<"$vdsm_xml") = '#!/bin/sh' ]]
}

@test "a VM with a served seed gets a URL at each start and no disk" {
    local pattern=';s=http://169\.254\.169\.254/[0-9a-f-]{36}/[0-9a-f]{32}/'

    starts "$(vm_xml "${element/<ci:cloud-init/<ci:cloud-init datasource=\'nocloud-net\'}")"
    [[ $vdsm_xml =~ $pattern ]]
    [[ $vdsm_xml != *"$rundir"* ]]
}

@test "keeps the exchange file of a VM without a request" {
    local exchange=$TMPDIR/vm.xml before

    # It is not even well-formed, because nothing parses it.
    for xml in "$(vm_xml)" '<domain>' "$(<"$golden/payload-alone/in.xml")"; do
        printf '%s' "$xml" >"$exchange"
        touch -d '2001-01-01' "$exchange"
        before=$(stat -c '%i %Y' "$exchange")
        run --separate-stderr -0 env cloudinit= _hook_domxml="$exchange" virt-seed-vdsm
        [[ $output = '' && $stderr = '' && $(stat -c '%i %Y' "$exchange") = "$before" ]]
    done
}

@test "the exchange file keeps its mode and owner, and is replaced whole" {
    local exchange=$TMPDIR/vm.xml before

    for mode in 600 640; do
        vm_xml "$element" >"$exchange"
        chmod "$mode" "$exchange"
        before=$(stat -c '%u %g %a' "$exchange")
        _hook_domxml=$exchange virt-seed-vdsm
        [[ $(stat -c '%u %g %a' "$exchange") = "$before" ]]
        grep -q ua-virt-seed "$exchange"
        rm "$exchange"
        no_file_is_left
    done
}

@test "hooks before and after it see each other's work, in the order of their names" {
    hook 49_before <<<'sed -i "s/<name>web1</<name>before</" "$_hook_domxml"'
    hook 51_behind <<<'grep -q ua-virt-seed "$_hook_domxml" || exit 2
sed -i "s/<name>before</<name>behind</" "$_hook_domxml"'
    starts "$(vm_xml "$element")"
    [[ $vdsm_xml = *'<name>behind</name>'* && $vdsm_xml = *ua-virt-seed* ]]
}

@test "a refusal stops later hooks, and the engine shows two lines" {
    hook 90_behind <<<'exit 0'
    is_stopped "$(vm_xml '<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1" bus="moon"/>')" \
        "VM 'web1': <cloud-init> has bus=\"moon\""
    [[ $vdsm_ran = '50_virt_seed ' ]]
}

@test "refuses oVirt's payload together with our request" {
    local payload

    payload=$(<"$golden/payload-alone/in.xml")
    is_stopped "$payload" '/run/vdsm/payload/' "$(property <<<"$element")"
    [[ $vdsm_error = *'Initial Run'* ]]
}

@test "refuses a CD with a seed's name together with our request" {
    is_stopped "$(vm_xml "$element" | sed "s|<source file=''[^>]*/>|<source file='/isos/seed.iso'/>|")" \
        '/isos/seed.iso'
}

@test "refuses a malformed property without quoting it" {
    is_stopped "$(vm_xml)" 'is not base64' 'cloudinit=hunter2!'
    is_stopped "$(vm_xml)" 'neither XML nor user-data' "$(property <<<'hunter2')"
    is_stopped "$(vm_xml)" 'neither XML nor user-data' "$(property <<<' ')"
    is_stopped "$(vm_xml)" 'not well-formed XML (line 1)' "$(property <<<'<a>&hunter2;</a>')"
    [[ $vdsm_error != *hunter2* ]]
    is_stopped "$(vm_xml)" 'not well-formed XML' \
        "$(property <<<'<!DOCTYPE a [<!ENTITY hunter2 "x">]><a/>')"
    is_stopped "$(vm_xml)" 'not a <cloud-init> element' "$(property <<<'<cloud-init>hunter2</cloud-init>')"
    [[ $vdsm_error != *hunter2* ]]
    # Its words may be, but no document.
    is_stopped "$(vm_xml)" 'must be base64' \
        "$(property <<<"<ci:cloud-init xmlns:ci='$namespace'><ci:user-data encoding='base64'>hunter2!</ci:user-data></ci:cloud-init>")"
    [[ $vdsm_error != *hunter2* ]]
    is_stopped "$(vm_xml)" 'unknown element' "$(property <<<"${element//hostname/hunter2}")"
}

@test "a property may request what the metadata may, and nothing else" {
    starts "$(vm_xml "$element")" "$(property <<<"$element")"
    [[ $(grep -o '<ci:hostname>' <<<"$vdsm_xml" | wc -l) -eq 1 ]]
    is_stopped "$(vm_xml "$element")" 'asks for another seed' \
        "$(property <<<"${element//web1/web2}")"
}

@test "other custom properties cannot replace the exchange file" {
    starts "$(vm_xml "$element")" _hook_domxml=/etc/passwd cloudinit=
    [[ $vdsm_xml = *ua-virt-seed* ]]
}

@test "refuses a call without an exchange file, or with arguments" {
    run --separate-stderr env -u _hook_domxml virt-seed-vdsm
    only_stderr
    assert_refused 2 '_hook_domxml'
    run --separate-stderr env _hook_domxml= virt-seed-vdsm
    only_stderr
    assert_refused 2 '_hook_domxml'
    run --separate-stderr virt-seed-vdsm --wire
    only_stderr
    assert_refused 2 'takes no arguments'
}

@test "refuses an exchange file that is not VDSM's, and leaves it unchanged" {
    local file=$TMPDIR/vm.xml

    run env _hook_domxml="$TMPDIR/none" virt-seed-vdsm
    assert_refused 2 'No such file'
    vm_xml "$element" >"$file"
    ln -s vm.xml "$TMPDIR/link"
    run env _hook_domxml="$TMPDIR/link" virt-seed-vdsm
    assert_refused 2 "could not open '$TMPDIR/link'"
    mkfifo "$TMPDIR/fifo"
    run timeout 5 env _hook_domxml="$TMPDIR/fifo" virt-seed-vdsm
    assert_refused 2 'not a regular file'
    run env _hook_domxml="$TMPDIR" virt-seed-vdsm
    assert_refused 2 "could not open"
    diff "$file" <(vm_xml "$element")
}

@test "refuses an exchange file or a directory that it may not write to" {
    local file=$TMPDIR/vm.xml

    become_nobody
    chmod 777 "$TMPDIR"
    vm_xml "$element" >"$file"
    chmod 666 "$file"
    if [[ $EUID -eq 0 ]]; then
        run "${as_nobody[@]}" env _hook_domxml="$file" virt-seed-vdsm
        assert_refused 2 'not a regular file owned by user 65534'
        chown 65534 "$file"
    fi
    chmod 444 "$file"
    run "${as_nobody[@]}" env _hook_domxml="$file" virt-seed-vdsm
    assert_refused 2 'Permission denied'
    chmod 600 "$file"
    chmod 555 "$TMPDIR"
    run "${as_nobody[@]}" env _hook_domxml="$file" virt-seed-vdsm
    chmod 755 "$TMPDIR"
    assert_refused 2 "could not replace '$file'"
    diff "$file" <(vm_xml "$element")
}

@test "refuses XML that is empty, cut off or too large, and leaves it unchanged" {
    local file=$TMPDIR/vm.xml property

    property=$(property <<<"$element")
    : >"$file"
    run env "$property" _hook_domxml="$file" virt-seed-vdsm
    assert_refused 2 'is empty'
    vm_xml "$element" | head -c 1000 >"$file"
    run env "$property" _hook_domxml="$file" virt-seed-vdsm
    assert_refused 2 'is not well-formed'
    vm_xml "$element" | head -c 1000 | cmp - "$file"
    truncate -s 17M "$file"
    run env "$property" _hook_domxml="$file" virt-seed-vdsm
    assert_refused 2 "could not read '$file'"
}

# From the start, the alarm is pending and blocked, as VDSM's threads may leave it.
@test "an alarm ends it with a message, even if the signal was blocked" {
    local file=$TMPDIR/vm.xml

    vm_xml "$element" >"$file"
    run env --block-signal=ALRM _hook_domxml="$file" \
        sh -c 'kill -ALRM $$; exec virt-seed-vdsm'
    assert_refused 2 'more than 20 seconds'
    diff "$file" <(vm_xml "$element")
    [[ $(ls -A "$TMPDIR") = vm.xml ]]
}

@test "a full disk leaves the exchange file unchanged" {
    local file=$TMPDIR/vm.xml

    vm_xml "$element" >"$file"
    run bash -c 'ulimit -f 1; _hook_domxml=$1 virt-seed-vdsm' - "$file"
    assert_refused 2 'could not replace'
    diff "$file" <(vm_xml "$element")
    [[ $(ls -A "$TMPDIR") = vm.xml ]]
}

# bats test_tags=native
@test "make install-vdsm installs the program where VDSM looks for it" {
    local destination=$BATS_TEST_TMPDIR/destination hook

    make -s -C "$top_builddir" install-vdsm DESTDIR="$destination"
    hook=$(find "$destination" -type f)
    [[ $hook = */vdsm/hooks/before_vm_start/50_virt_seed && $(stat -c %a "$hook") = 755 ]]
    make -s -C "$top_builddir" uninstall-vdsm DESTDIR="$destination"
    [[ $(find "$destination" -type f) = '' ]]
}
