#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash and session.bash
# session.bats: a real guest in the session of an ordinary user, from a definition that nobody has wired to
# the guest's report that it is done.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../../scripts/guest/guest
load ../libvirt/session
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

setup_file() {
    common_start_lab
    session_make_user
}

teardown() {
    cat "$LAB_DIR/ann.log"
    end_session
}

@test "an ordinary user's guest is set up, and reports that it is done" {
    begin runtime
    her mkdir -m 0700 "$home/images"
    guest_provide "$guest" "$home/images"
    guest_overlay "$home/images" web1
    lab_run chown -R "$ann:$ann" "$home/images"
    guest_xml "$home/images" web1 "$web1" "$home/images/web1.console" >"$LAB_DIR/web1.xml" <<'END'
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1">
  <ci:hostname>web1.example.org</ci:hostname>
  <ci:user-data secret="web1"/>
</ci:cloud-init>
END
    her sh -c "umask 077; mkdir -p '$home/.config/virt-seed/secrets/web1'
        printf '#cloud-config\\ntimezone: Europe/Zurich\\n' >'$home/.config/virt-seed/secrets/web1/userdata'"
    chmod 0644 "$LAB_DIR/web1.xml"
    her_virsh define "$LAB_DIR/web1.xml"

    run her_virt_seed start --timeout="$boot_seconds" web1
    echo "$output"
    [[ $status -eq 0 ]]
    [[ $output = *'web1: done'* ]]
    run -0 her_virt_seed status web1
    [[ $output = *done* ]]
    # How to log in: the image's user, which cloud-init has made.
    tail -n 1 "$state/$web1.report" | jq -c .login
    tail -n 1 "$state/$web1.report" | jq -e '.login | .user == "debian" and has("host-keys") and has("addresses")'
    wait_until "$boot_seconds" guest_has_reported "$home/images/web1.console"
    run -0 guest_report "$home/images/web1.console"
    [[ $output = *web1.example.org* && $output = *Europe/Zurich* ]]
}
