#!/usr/bin/env bats
# clock.bats: the clock of a whole host is set while a guest runs, is saved, and is off.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"
load ../libvirt/report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
seed=/run/libvirt/virt-seed/$web1.iso
report=/var/log/libvirt/virt-seed/$web1.report

seed_sum() {
    on_host sha256sum "$seed" | cut -d' ' -f1
}

# set_clock CHANGE: as date(1) understands it, such as '-2 years'.
set_clock() {
    on_host date --set "$1" >/dev/null
}

status_of_web1() {
    on_host virt-seed status --json web1 | jq -c '.[0] | [.state, .wired, .seed, .result]'
}

@test "a guest is set up while the clock goes back" {
    metadata="<ci:cloud-init xmlns:ci='$namespace'><ci:hostname>web1</ci:hostname></ci:cloud-init>" \
        tiny_xml web1 $web1 | on_host virsh define /dev/stdin
    on_host virt-seed wire web1
    on_host virsh start web1
    set_clock '-2 years'
    # shellcheck disable=SC2154  # boot1 is report.bash's
    report_line "$boot1" "$(report_runs)" | on_host tee -a "$report" >/dev/null
    run -124 on_host virt-seed wait --timeout=2 web1
    # shellcheck disable=SC2154  # the same
    report_line "$boot1" "$(report_ended)" "$(report_result)" | on_host tee -a "$report" >/dev/null
    run -0 on_host virt-seed wait --timeout=30 web1
    [[ $(status_of_web1) = '["running",true,true,"done"]' ]]
}

@test "a saved guest is resumed years later, and years before, with its seed and its result" {
    local before change

    host_need saving
    before=$(seed_sum)
    for change in '+5 years' '-9 years'; do
        on_host virsh managedsave web1
        run ! on_host test -e "$seed"
        set_clock "$change"
        on_host virsh start web1
        [[ $(seed_sum) = "$before" && $(status_of_web1) = '["running",true,true,"done"]' ]]
    done
    assert_no_denials
}

@test "after the clock was set, a cold boot is another boot, and nothing is lost or left" {
    local before change

    before=$(seed_sum)
    for change in '+9 years' '-1 hour'; do
        on_host virsh destroy web1
        run ! on_host test -e "$seed"
        set_clock "$change"
        on_host virsh start web1
        [[ $(seed_sum) = "$before" && $(status_of_web1) = '["running",true,true,'*'"'* ]]
        run -0 on_host virt-seed gc --dry-run
        [[ $output != *$web1* ]]
    done
    on_host virsh destroy web1
    run -0 on_host find /run/libvirt/virt-seed -type f
    [[ $output = '' ]]
    on_host test -e "/var/lib/virt-seed/$web1.json"
}
