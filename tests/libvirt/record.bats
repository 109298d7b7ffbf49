#!/usr/bin/env bats
# record.bats: what the host remembers of domains that a real libvirtd starts and ends, and how it
# forgets them.

bats_require_minimum_version 1.5.0

load lab
load domains

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
gone=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
seeds=/run/libvirt/virt-seed
records=/var/lib/virt-seed
reports=/var/log/libvirt/virt-seed

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}

setup_file() {
    # The tests share one libvirtd.
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    LAB_HOOK=$builddir/virt-seed-hook lab_start
}

teardown_file() {
    lab_stop
}

teardown() {
    lab_daemon_log | tail -n 20
    lab_reset
    lab_run sh -c "rm -rf $records/* $reports/*"
}

virt_seed() {
    lab_run "$builddir/virt-seed" "$@"
}

# domain UNTIL_DONE: prints the wired domain web1.
domain() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' $1><ci:user-data>#cloud-config
timezone: Etc/UTC
</ci:user-data></ci:cloud-init>" domain_xml web1 $web1 | virt_seed --quiet wire -
}

define() {
    domain "${1-}" | lab_virsh define /dev/stdin
}

in_record() {
    lab_run cat "$records/$web1.json" | jq -r "$1"
}

# report_success: writes into the domain's report what a guest would at its end.
report_success() {
    lab_run sh -c "cat >>$reports/$web1.report" <<'END'
{"virt-seed":1,"boot":"0f7c3a52-5d7e-4c1b-9a55-000000000001","status":{"v1":{"datasource":"DataSourceNoCloud","stage":null,"modules-final":{"errors":[],"start":3,"finished":4}}},"result":{"v1":{"datasource":"DataSourceNoCloud","errors":[]}}}
END
}

# leave AGE: makes files of that age as the domain $gone may have left them on a host.
leave() {
    lab_run sh -c "mkdir -p $records/secrets/$gone $reports $seeds
        echo '{\"boot\": {\"time\": \"T\", \"name\": \"gone\"}}' >$records/$gone.json
        touch $records/secrets/$gone/key $reports/$gone.report $reports/$gone.report.0 $seeds/$gone.iso \
            $reports/$gone.log $reports/$gone.log.0 $records/$gone.log
        touch -d '$1' $records/$gone.gone $records/$gone.json $records/$gone.log $records/secrets/$gone $reports/$gone.* \
            $seeds/$gone.iso"
}

# left: prints the files of $gone.
left() {
    lab_run sh -c "ls -d $records/$gone* $records/secrets/$gone* $reports/$gone* $seeds/$gone*" \
        2>/dev/null
}

@test "records each boot, and a saved guest keeps its record" {
    local first

    define
    lab_virsh start web1
    [[ $(in_record '.boot.name, .boot."instance-id"') == $'web1\n'"$web1" ]]
    run -0 lab_run stat -c '%a %u' "$records/$web1.json"
    [[ $output = '640 0' ]]
    report_success
    lab_virsh managedsave web1
    [[ $(in_record .result.state) = 'done' ]]
    first=$(in_record .boot.time)
    sleep 1
    lab_virsh start web1
    [[ $(in_record '.result.state, .boot.time') == $'done\n'"$first" ]]
    lab_virsh destroy web1
    lab_virsh start web1
    [[ $(in_record .result) = null && $(in_record .boot.time) != "$first" ]]
}

@test "a guest that reports success gets only its identity at its next start" {
    define 'boots="until-done"'
    lab_virsh start web1
    report_success
    lab_virsh destroy web1
    [[ $(in_record '.result.state, (.done | type)') == $'done\nstring' ]]
    lab_virsh start web1
    run -0 virt_seed inspect "$seeds/$web1.iso"
    [[ $output == *'user-data: 0 bytes'* ]]
}

# libvirt_tells_ends: since 10.5, libvirt tells the hook why a guest has ended.
libvirt_tells_ends() {
    local version

    version=$(lab_virsh version --daemon | sed -n 's/^Running against daemon: //p')
    [[ $(printf '10.5.0\n%s\n' "$version" | sort --version-sort | head -n 1) = 10.5.0 ]]
}

@test "a state that was saved before a later boot does not count as that boot" {
    libvirt_tells_ends || skip 'this libvirt does not tell why a guest has ended'
    define
    lab_virsh start web1
    lab_virsh save web1 /var/lib/libvirt/images/early.save
    lab_virsh restore /var/lib/libvirt/images/early.save
    report_success
    lab_virsh save web1 /var/lib/libvirt/images/early.save
    lab_virsh restore /var/lib/libvirt/images/early.save
    run -0 virt_seed wait --timeout=10 web1
    lab_virsh save web1 /var/lib/libvirt/images/early.save
    lab_virsh start web1
    report_success
    lab_virsh destroy web1
    lab_virsh restore /var/lib/libvirt/images/early.save
    run -124 virt_seed wait --timeout=1 web1
    run -0 virt_seed status --json web1
    [[ $(jq -r '.[0].result' <<<"$output") != "done" ]]
}

@test "a guest survives if its boot cannot be recorded" {
    define
    lab_run mkdir -p "$records/$web1.json"
    lab_virsh start web1
    sleep 0.5
    [[ $(lab_virsh domstate web1) = running* ]]
    lab_virsh destroy web1
    run ! lab_run test -e "$seeds/$web1.iso"
}

# no_files: nothing of web1's start is left.
no_files() {
    ! lab_run sh -c "ls $seeds/$web1* $reports/$web1*" 2>/dev/null
}

@test "a seed goes with its guest, even if the domain no longer names it" {
    define
    lab_virsh start web1
    lab_run test -e "$seeds/$web1.iso"
    lab_virsh dumpxml web1 >"$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh change-media web1 "$(xmllint --xpath \
        "string(//disk[contains(source/@file, 'virt-seed')]/target/@dev)" "$BATS_TEST_TMPDIR/web1.xml")" \
        --eject --live --force
    lab_virsh metadata web1 urn:virt-seed:cloud-init:1 --live --remove
    for port in report log; do
        xmllint --xpath "//channel[target/@name='org.virt-seed.$port.0']" "$BATS_TEST_TMPDIR/web1.xml" |
            lab_virsh detach-device web1 /dev/stdin --live
    done
    wait_until 10 names_nothing
    lab_virsh destroy web1
    no_files
}

names_nothing() {
    [[ $(lab_virsh dumpxml web1) != */virt-seed* ]]
}

@test "a seed goes with its guest, even if the definition has become too large to be read" {
    define
    lab_virsh start web1
    { printf "desc web1 --live --new-desc '" && head -c 3000000 /dev/zero | tr '\0' '"' && echo "'"; } |
        lab_run virsh -c qemu:///system >/dev/null
    # It is too large for virsh, too.
    run ! lab_virsh dumpxml web1
    lab_virsh destroy web1
    no_files
}

@test "gc removes what is left of a domain that is gone, and nothing of others" {
    define
    lab_virsh start web1
    leave '8 days ago'
    lab_run touch "$records/README"
    run -0 virt_seed gc --dry-run
    [[ $output == *"would remove $records/$gone.json"* && $output != *$web1* ]]
    [[ $(left | wc -l) = 9 ]]
    run -0 virt_seed gc
    [[ $(grep -c '^removed ' <<<"$output") = 9 && $output == *"removed $records/secrets/$gone"* ]]
    [[ -z $(left) ]]
    run -0 lab_run ls "$records/README" "$records/$web1.json" "$seeds/$web1.iso"
    run -0 virt_seed gc --all
    [[ $output = '' ]]
    lab_virsh destroy web1
    run -0 virt_seed gc --all
    in_record .boot.name
}

@test "gc keeps for a week what a domain needs if it comes back" {
    leave '6 days ago'
    run -0 virt_seed gc
    [[ $output == *"kept $records/$gone.json: "* ]]
    # It no longer needs the files that it had while it ran.
    [[ $(left) = "$records/$gone.gone"$'\n'"$records/$gone.json"$'\n'"$records/secrets/$gone" ]]
    virt_seed --quiet gc --all
    [[ -z $(left) ]]
}

@test "that week begins when gc first misses the domain, however long it had not run" {
    leave '100 days ago'
    lab_run rm "$records/$gone.gone"
    run -0 virt_seed gc --dry-run
    [[ $output == *"kept $records/$gone.json: "* ]]
    run -0 virt_seed gc
    [[ $(left) = "$records/$gone.gone"$'\n'"$records/$gone.json"$'\n'"$records/secrets/$gone" ]]
    lab_run touch -d '8 days ago' "$records/$gone.gone"
    virt_seed gc
    [[ -z $(left) ]]
    # A domain that is back is not missed any more.
    define
    lab_virsh start web1
    lab_run touch -d '8 days ago' "$records/$web1.gone"
    virt_seed gc
    run ! lab_run test -e "$records/$web1.gone"
}

@test "gc keeps the identity of a guest that is set up, unless all is to go" {
    leave '100 days ago'
    lab_run sh -c "echo '{\"done\": \"2026-01-01T00:00:00Z\"}' >$records/$gone.json
        touch -d '100 days ago' $records/$gone.json"
    run -0 virt_seed gc
    [[ $output == *"kept $records/$gone.json: "*"--all"* ]]
    lab_run ls "$records/$gone.json" "$records/secrets/$gone/key"
    run -0 virt_seed gc --all
    [[ -z $(left) ]]
}

@test "gc keeps files of a transient domain while it runs and for a week after" {
    domain >"$BATS_TEST_TMPDIR/web1.xml"
    lab_virsh create /dev/stdin <"$BATS_TEST_TMPDIR/web1.xml"
    lab_run touch -d '8 days ago' "$records/$web1.json" "$seeds/$web1.iso"
    run -0 virt_seed gc --all
    [[ $output = '' ]]
    lab_virsh destroy web1
    run -0 virt_seed gc
    [[ $output == "kept $records/$web1.json"* ]]
    run -0 virt_seed gc --all
    [[ $output == *"removed $records/$web1.json"* ]]
}
