#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# readme.bats: what the README shows is what a reader sees.

bats_require_minimum_version 1.5.0

load lab
load domains
load report
load common
load ../readme

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

# guest_answers: a guest says what a real one does, as soon as its domain runs; that it is really so is
# shown by check-guest.
guest_answers() {
    wait_until 60 lab_run test -e "$report_dir/$web1.report" &&
        report_say $web1 "$(report_line "$boot1" "$(report_runs)")" \
            "$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
}

@test "the README's commands print what it shows, from the first one to the last" {
    local guest

    devices=$(domain_disk_xml "$(domain_disk_image web1)") domain_define web1 $web1
    guest_answers 3>&- &
    guest=$!
    readme_walk
    wait $guest
}
