#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# readme.bats: what the README and the guide show is what a reader sees.

bats_require_minimum_version 1.5.0

load lab
load domains
load report
load common
load ../readme

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

# guest_answers: once its domain runs, the guest says what a real one says, which check-guest shows.
guest_answers() {
    local folder=$BATS_TEST_TMPDIR/taken

    wait_until 60 lab_run test -e "$report_dir/$web1.report" &&
        wait_until 60 virt_seed inspect --extract="$folder" "/run/libvirt/virt-seed/$web1.iso" >/dev/null &&
        report_say $web1 "$(report_line "$boot1" "$(report_runs)")" \
            "$(report_line "$boot1" "$(report_ended)" "$(report_result)" "$(report_taken $web1 "$folder")")"
}

# walk [SECONDS [FILE]]: types what both, or the file, show, with a guest that is set up at once.
walk() {
    local guest

    devices=$(domain_disk_xml "$(domain_disk_image web1)") domain_define web1 $web1
    guest_answers 3>&- &
    guest=$!
    readme_walk "$@"
    wait $guest
}

@test "the commands of the README and the guide print what these show, from the first one to the last" {
    walk
}

# What is said while the guest boots is not compared: how long that takes differs.
@test "the README's picture shows what its first commands print" {
    local shown=$BATS_TEST_TMPDIR/picture.md

    {
        # shellcheck disable=SC2016  # Markdown's backquotes
        sed -n '/`web1.yaml`:$/,/^```$/p' "$BATS_TEST_DIRNAME/../../README.md"
        echo '```console'
        sed -e 's/<[^>]*>//g' -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' -e '/^#\? *$/d' \
            -e '/^web1: \(waiting\|the guest\|init\|modules\)/d' -e '/^web1: done/{s/^/...\n/; q}' \
            "$BATS_TEST_DIRNAME/../../docs/first-start.svg"
        echo '```'
    } >"$shown"
    cat "$shown"
    [[ $(grep -c '^# [cv]' "$shown") -eq 4 ]]
    walk 120 "$shown"
}
