#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of common.bash and report.bash
# wait.bats: virt-seed wait and status with a real libvirtd, whose guests say what the test writes.

bats_require_minimum_version 1.5.0

load lab
load domains
load common
load ../manual
load report

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
web2=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57

teardown() {
    # A test may have left it stopped.
    to_daemon CONT
    lab_reset
    lab_run sh -c "rm -rf $state_dir/*"
}

# define NAME UUID [ATTRIBUTES]: defines a wired domain.
define() {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${3-}/>" domain_define "$1" "$2"
    virt_seed --quiet wire "$1"
}

# start NAME UUID: the same, and starts it.
start() {
    define "$@"
    lab_virsh start "$1"
}

runs=$(report_line "$boot1" "$(report_runs)")
ended=$(report_line "$boot1" "$(report_ended)" "$(report_result)")

# begin_waiting ARGUMENT...: runs virt-seed wait in the background, and waits until it has printed something.
begin_waiting() {
    # A process that stays must not have the descriptors for which bats waits.
    as_owner timeout 60 "${virt_seed[@]}" wait "$@" \
        >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- &
    waiting=$!
    wait_until 60 test -s "$BATS_TEST_TMPDIR/out"
}

# end_waiting STATUS: waits until it has ended with this status; sets $output and $stderr.
end_waiting() {
    report_end_command "$waiting" "$1"
}

# write_record UUID RESULT: writes the record of a last boot with this result.
write_record() {
    # shellcheck disable=SC2016  # the variable is the inner shell's
    as_owner sh -c 'mkdir -p "$1" && cat >"$1/$2.json"' sh "$state_dir" "$1" <<END
{"boot": {"time": "2026-01-02T03:04:05Z", "name": "web1", "version": "0.1.0", "label": "cidata",
    "datasource": "nocloud", "instance-id": "an-id", "documents": []}, "result": $2}
END
}

done_record='{"state": "done", "time": "2026-01-02T03:05:00Z"}'
failed_record='{"state": "failed", "time": "2026-01-02T03:05:00Z", "errors": ["it broke"]}'

# --- how it ends ------------------------------------------------------------------------------

@test "prints a line for each stage and exits 0 when the guest is done" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    report_say $web1 "$ended"
    end_waiting 0
    diff - <(echo "$output") <<'END'
web1: the guest boots
web1: init-local finished, 1.2 s
web1: init runs
web1: init finished, 3.5 s
web1: modules-config finished, 0.5 s
web1: modules-final finished, 8.5 s
web1: done
END
    [[ $stderr = "" ]]
    # What the guest said before the command began counts, too.
    run -0 virt_seed --quiet wait --timeout=5 web1
    [[ $output = "" ]]
}

@test "prints errors, and where to look in the guest" {
    local error='"('"'scripts_user'"', RuntimeError('"'1 failed'"'))"'

    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    report_say $web1 "$(report_line "$boot1" "$(report_ended "$error")" \
        "$(report_result "$error" '"another"')")"
    end_waiting 1
    diff - <(echo "$stderr") <<'END'
virt-seed: error: domain 'web1': modules-final: ('scripts_user', RuntimeError('1 failed'))
virt-seed: error: domain 'web1': another
virt-seed: error: domain 'web1': cloud-init has finished with 2 errors
virt-seed: hint: see why: virt-seed logs web1; for all of it, see /var/log/cloud-init-output.log and cloud-init.log in the guest
END
}

@test "logs prints what the guest has sent, until it boots again, and nobody else reads it" {
    start web1 $web1
    run -1 virt_seed logs web1
    [[ $output = *"'web1' has no log"*'virt-seed status web1' ]]
    # shellcheck disable=SC2016  # for the shell in the lab
    as_owner sh -c 'printf "it said \033[2J\n" >>"$1"; touch -d 2026-01-02T03:05:00Z "$1"' sh "$report_dir/$web1.log"
    run -0 --separate-stderr as_owner TZ=XYZ-2 "${virt_seed[@]}" logs web1
    [[ $output = 'it said ?[2J' && $stderr = 'web1: sent 2026-01-02 05:05:00 +0200, since the domain was started' ]]
    run -0 virt_seed --quiet logs web1
    [[ $output = 'it said ?[2J' ]]
    if [[ $scope = system ]] && lab_run setpriv --reuid=65534 test -x "$builddir/virt-seed"; then
        run -1 lab_run setpriv --reuid=65534 --regid=65534 --clear-groups "$builddir/virt-seed" -c qemu:///system logs web1
        echo "$output"
        [[ $output = *"$web1.log: Permission denied"*hint:*root* ]]
    fi
    lab_virsh destroy web1
    run -0 --separate-stderr as_owner TZ=XYZ-2 "${virt_seed[@]}" logs web1
    [[ $output = 'it said ?[2J' && $stderr = 'web1: sent 2026-01-02 05:05:00 +0200, before it was shut off' ]]
    run -0 lab_run stat -c %a "$state_dir/$web1.log"
    [[ $output = 600 ]]
    lab_virsh start web1
    run -1 virt_seed logs web1
}

@test "names the last stage when the time is up" {
    start web1 $web1
    run -124 virt_seed wait --timeout=0 web1
    [[ $output = *"domain 'web1': not done after 0 s; the guest has not reported"*'hint: see on its console'* ]]
    report_say $web1 "$runs"
    run -124 virt_seed wait --timeout=1 web1
    [[ $output = *"domain 'web1': not done after 1 s; the last stage was init"*'hint: see /var/log/'* ]]
}

# to_daemon SIGNAL: sends it to libvirt's daemon.
to_daemon() {
    lab_run pkill "-$1" -u "$owner" -x "$(lab_daemon_name)"
}

@test "ends when the time is up if libvirt's daemon hangs, before or after it was reached" {
    start web1 $web1
    report_say $web1 "$runs"
    to_daemon STOP
    run -124 as_owner timeout --signal=KILL 100 "${virt_seed[@]}" wait --timeout=1 web1
    to_daemon CONT
    [[ $output = *"error: timed out, and libvirt's daemon does not respond"*'hint: '* ]]
    begin_waiting --timeout=20 web1
    to_daemon STOP
    end_waiting 124
    to_daemon CONT
    [[ $stderr = *"error: timed out, and libvirt's daemon does not respond"* ]]
}

@test "Ctrl-C ends it though libvirt's daemon hangs" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    to_daemon STOP
    lab_run pkill -TERM -x virt-seed
    wait_until 20 waiting_is_over
    to_daemon CONT
}

waiting_is_over() {
    ! lab_run pgrep -x virt-seed >/dev/null
}

@test "exits 3 if the domain stops first" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    lab_virsh destroy web1
    end_waiting 3
    [[ $stderr = *"'web1' was destroyed before cloud-init had finished; the last stage was init"* ]]
}

@test "exits 0 if the guest powers off as soon as it is done" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    report_say $web1 "$ended"
    lab_virsh destroy web1
    end_waiting 0
}

@test "reads what the guest wrote before the domain stopped" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    # virtlogd has the file open, too, when the hook removes it.
    exec 7>>"$outside$report_dir/$web1.report"
    lab_virsh destroy web1
    echo "$ended" >&7
    exec 7>&-
    end_waiting 0
}

@test "does not wait for a domain that is not running" {
    define web1 $web1
    run -3 virt_seed wait web1
    [[ $output = *"domain 'web1' is not running"$'\n'*'wait --next'* ]]
}

@test "ignores a leftover report of a stopped domain" {
    define web1 $web1
    as_owner mkdir -p -m "0$pass_mode" "$report_dir"
    report_say $web1 "$ended"
    run -3 virt_seed wait web1
    run -124 virt_seed wait --next --timeout=1 web1
    run -0 virt_seed status --json web1
    jq -e '.[0].result == null' <<<"$output"
    report_say $web1 "$(report_line "$boot2" "$(report_runs)")"
    run -124 --separate-stderr virt_seed wait --next --timeout=2 web1
    [[ $output = 'web1: waiting for the domain to start' ]]
}

@test "a guest that was done when it was saved is done when it is resumed" {
    start web1 $web1
    report_say $web1 "$ended"
    lab_virsh managedsave web1
    run -3 virt_seed wait web1
    [[ $output = *"domain 'web1' is not running"* ]]
    lab_virsh start web1
    [[ ! -s $outside$report_dir/$web1.report ]]
    run -0 virt_seed wait --timeout=5 web1
    run -0 virt_seed status --json web1
    jq -e '.[0] | .state == "running" and .result == "done"' <<<"$output"
    write_record $web1 "$failed_record"
    run -1 virt_seed wait --timeout=5 web1
    [[ $output = *"error: domain 'web1': it broke"* ]]
}

@test "does not take the previous boot's result for this one's" {
    start web1 $web1
    write_record $web1 "$done_record"
    run -124 virt_seed wait --timeout=0 web1
}

# --- what is waited for -----------------------------------------------------------------------

@test "--next skips a finished boot and waits for the one after it" {
    start web1 $web1
    report_say $web1 "$ended"
    run -124 virt_seed wait --next --timeout=1 web1
    report_say $web1 "$(report_line "$boot2" "$(report_runs)")"
    begin_waiting --next web1
    report_say $web1 "$(report_line "$boot2" "$(report_ended)" "$(report_result)")"
    end_waiting 0
}

@test "--next says that no other boot has begun when the time is up" {
    define web1 $web1
    run -124 virt_seed wait --next --timeout=0 web1
    [[ $output = *"domain 'web1': not done after 0 s; it has not been started"* ]]
    lab_virsh start web1
    run -124 virt_seed wait --next --timeout=0 web1
    [[ $output = *"domain 'web1': not done after 0 s; the guest has not reported"*'hint: see on its console'* ]]
    report_say $web1 "$ended"
    run -124 virt_seed wait --next --timeout=0 web1
    [[ $output = *"domain 'web1': not done after 0 s; its guest has not booted again"* ]]
}

@test "--next waits for a start, even if the domain stops first" {
    start web1 $web1
    report_say $web1 "$ended"
    (
        sleep 0.5
        lab_virsh destroy web1
        lab_virsh start web1
        report_say $web1 "$(report_line "$boot2" "$(report_runs)")"
    ) >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- 4>&- &
    begin_waiting --next web1
    wait_until 20 grep -q 'init runs' "$BATS_TEST_TMPDIR/out"
    lab_virsh destroy web1
    end_waiting 3
    [[ $output = $'web1: waiting for the next boot\nweb1: stopped\nweb1: started\nweb1: the guest boots\n'* ]]
    (
        sleep 0.5
        lab_virsh start web1
        report_say $web1 "$ended"
    ) >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- 4>&- &
    run -0 virt_seed wait --next --timeout=30 web1
}

@test "starts over when the guest reboots" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    report_say $web1 "$(report_line "$boot2" "$(report_runs)")" \
        "$(report_line "$boot2" "$(report_ended)" "$(report_result)")"
    end_waiting 0
    [[ $output = *$'\nweb1: the guest boots again\nweb1: init-local finished'* ]]
}

@test "follows a report that virtlogd renames" {
    local report=$outside$report_dir/$web1.report

    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    # virtlogd needs no time between the two.
    mv "$report" "$report.0"
    sleep 0.2
    printf '%s' "${ended:0:100}" >"$report"
    sleep 0.2
    printf '%s\n' "${ended:100}" >>"$report"
    end_waiting 0
}

@test "waits for all of several domains, and exits with the worst status" {
    start web1 $web1
    start web2 $web2
    report_say $web1 "$ended"
    report_say $web2 "$runs"
    run -124 --separate-stderr virt_seed wait --timeout=1 web1 web2 $web1
    [[ $(grep -c ': done$' <<<"$output") = 1 ]]
    begin_waiting web1 web2
    report_say $web2 "$(report_line "$boot1" "$(report_ended '"x"')")"
    end_waiting 1
    define web3 ""
    run -1 virt_seed wait web3 web1 web2
    run -3 virt_seed wait web3 web1
}

@test "says at once that a domain will never report, and why" {
    domain_define plain
    define quiet "" 'report="no"'
    define web1 $web1
    lab_virsh start plain
    lab_virsh start quiet
    run -1 virt_seed wait plain
    [[ $output = *"domain 'plain' will never report: it asks for no seed"* ]]
    run -1 virt_seed wait --next quiet
    [[ $output = *"domain 'quiet' will never report: its <cloud-init> says report=\"no\""* ]]
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:user-data format='raw'>version: v1alpha1</ci:user-data></ci:cloud-init>" \
        domain_define appliance
    virt_seed --quiet wire appliance
    lab_virsh start appliance
    run -1 virt_seed wait appliance
    [[ $output = *"domain 'appliance' will never report: its <user-data format=\"raw\"> is for a guest without cloud-init"* ]]
    lab_virsh start web1
    rm "$outside$report_dir/$web1.report"
    run -1 virt_seed wait web1
    [[ $output = *"will never report: its report is missing"* ]]
    lab_virsh destroy web1
    lab_virsh dumpxml --inactive web1 | sed '/<channel/,/<\/channel>/d' | lab_virsh define /dev/stdin
    run -1 virt_seed wait --next web1
    [[ $output = *"it has no report channel"*"virt-seed wire"* ]]
}

@test "refuses an unknown domain, one on another host, and a malformed time" {
    local seconds

    run -4 virt_seed wait nobody
    [[ $output = *"there is no domain 'nobody'"* ]]
    start web1 $web1
    # What ssh(1) would run on the other host.
    printf '#!/bin/sh\nexec virt-ssh-helper %s\n' "$uri" >"$LAB_DIR/ext"
    chmod +x "$LAB_DIR/ext"
    run -2 virt_seed -c "qemu+ext://other.example.org/$scope?command=$LAB_DIR/ext" wait web1
    [[ $output = *"run the command on 'other.example.org'"* ]]
    for seconds in '' -1 1s 0x1 2000001 99999999999999999999; do
        run -2 virt_seed wait "--timeout=$seconds" web1
    done
}

# --- how quick it is --------------------------------------------------------------------------

# Half of the time is the kernel's, which waits for all processors when inotify's file is closed. What other
# processes do must not make the test fail: a slow or busy machine is allowed what some programs' starts take.
@test "ends less than 50 ms after the guest's last message" {
    local begin allowed took=()

    start web1 $web1
    # On a busy machine, one attempt in a while is quick enough.
    for _ in {1..40}; do
        : >"$outside$report_dir/$web1.report"
        report_say $web1 "$runs"
        begin_waiting web1
        begin=${EPOCHREALTIME/./}
        env true
        allowed=$((50000 + 10 * (${EPOCHREALTIME/./} - begin)))
        begin=${EPOCHREALTIME/./}
        report_say $web1 "$ended"
        wait "$waiting"
        took+=($((${EPOCHREALTIME/./} - begin)))
        if [[ ${took[-1]} -lt $allowed ]]; then
            break
        fi
    done
    echo "# after ${took[*]} µs, $allowed allowed" >&3
    [[ ${took[-1]} -lt $allowed ]]
}

# switches_of PROCESS: prints how often it has been switched to.
switches_of() {
    # shellcheck disable=SC2016  # awk's field
    lab_run awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$1/status"
}

@test "does nothing while nothing happens" {
    local pid switches

    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    pid=$(lab_run pgrep -x virt-seed)
    sleep 0.5
    switches=$(switches_of "$pid")
    sleep 1.5
    # libvirt's keepalive may fall into this time, and on a busy machine a switch of another kind.
    (($(switches_of "$pid") - switches <= 6))
    report_say $web1 "$ended"
    end_waiting 0
}

# --- what it prints ---------------------------------------------------------------------------

# members_of EVENT: a filter for what objects of the event have more than all have.
members_of() {
    echo "select(.event == \"$1\") | del(.version, .domain, .uuid, .event)"
}

@test "--json prints one object a line" {
    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting --json web1
    report_say $web1 "$(report_line "$boot1" "$(report_ended '"it broke"')" \
        '{"v1":{"errors":["it broke"],"recoverable_errors":{"WARNING":["hm"]}}}')"
    end_waiting 1
    [[ $stderr = "" ]]
    jq -es --arg uuid $web1 'all(.domain == "web1" and .uuid == $uuid)' <<<"$output"
    # The members that all events have, and those that this one adds.
    jq '{version, domain, uuid, event}' <<<"$output" | matches_manual event
    matches_manual 'event boot' "$(members_of boot)" <<<"$output"
    matches_manual 'event stage' "$(members_of stage)" <<<"$output"
    matches_manual 'event warning' "$(members_of warning)" <<<"$output"
    matches_manual 'event error' "$(members_of error)" <<<"$output"
    matches_manual 'event end' "$(members_of end)" <<<"$output"
    diff - <(jq -r .event <<<"$output" | uniq -c | sed 's/^ *//') <<'END'
1 boot
5 stage
1 warning
1 error
1 end
END
    jq -es '.[2] | .stage == "init" and .state == "running" and .seconds == null' <<<"$output"
    jq -es '.[3] | .stage == "init" and .state == "finished" and .seconds == 3.5' <<<"$output"
    jq -es '.[-2] | .stage == "modules-final" and .message == "it broke"' <<<"$output"
    jq -es '.[-1] | .outcome == "failed" and ."exit-status" == 1 and .errors == ["it broke"] and
        .stage == "modules-final" and (.datasource | startswith("DataSourceNoCloud"))' <<<"$output"
}

@test "a malicious guest can neither control the terminal nor stop the command" {
    local hostile
    hostile=$(report_line "$boot1" "$(report_ended '"a\u001b[2Jb\u009b31m\u0000\u007f\u0085\r\n"')")

    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    {
        head -c 4M /dev/zero
        printf '\e[2J\e]0;owned\a\n'
        head -c 4M /dev/zero | tr '\0' '['
        printf '\n'
        head -c 100K /dev/urandom
        printf '\n{"virt-seed":1,"boot":"%s","status":{"v1":{"stage":"\\u001b[2J"}}}\n' "$boot1"
        echo "$hostile"
    } >>"$outside$report_dir/$web1.report"
    end_waiting 1
    [[ $stderr = *"domain 'web1': modules-final: a?[2Jb"* ]]
    printf '%s\n' "$output" "$stderr" >"$BATS_TEST_TMPDIR/printed"
    run ! grep -P '[\x00-\x08\x0b-\x1f\x7f]' "$BATS_TEST_TMPDIR/printed"
    run ! grep -F -e $'\u9b' -e $'\u85' "$BATS_TEST_TMPDIR/printed"
    run -0 --separate-stderr virt_seed status web1
    run ! grep -P '[\x00-\x08\x0b-\x1f\x7f]' <<<"$output"
}

@test "limits what it shows of a talkative guest" {
    local other
    other=$(report_line "$boot2" "$(report_runs)")

    start web1 $web1
    report_say $web1 "$runs"
    begin_waiting web1
    for _ in {1..200}; do printf '%s\n' "$other" "$runs"; done >"$BATS_TEST_TMPDIR/says"
    for _ in {1..10}; do cat "$BATS_TEST_TMPDIR/says"; done >>"$outside$report_dir/$web1.report"
    report_say $web1 "$(report_line "$boot1" "$(report_ended '"x"')")"
    end_waiting 1
    [[ $(wc -l <<<"$output") -eq 1001 && ${output##*$'\n'} = 'web1: silenced' ]]
    [[ $stderr = *"cloud-init has finished with 1 error"* ]]
}

@test "tells a user who may not read the report who may" {
    system_only "others do not reach a user's session"
    start web1 $web1
    report_say $web1 "$ended"
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    lab_run "${as_nobody[@]}" test -x "$builddir/virt-seed" || skip 'the build is closed to others'
    run -1 lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///system wait web1
    [[ $output = *"$web1.report: Permission denied"*"hint: "*"group"* ]]
    run -0 --separate-stderr lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///system status \
        --output=domain,state,wired,seed,datasource,instance-id,cloud-init web1
    [[ ${lines[1]} = 'web1 '*'running '*'yes '*'yes '*'nocloud '*"$web1 "*'?'* ]]
    [[ ${stderr_lines[0]} = 'virt-seed: warning: '*"$web1.report: Permission denied" ]]
    [[ ${stderr_lines[1]} = 'virt-seed: hint: '*root*group*"$web1.report" ]]

    chmod o+r "$outside$report_dir/$web1.report"
    run -0 lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///system wait web1
}

# --- status -----------------------------------------------------------------------------------

@test "tells an ordinary user whose session it looks at" {
    system_only 'session.bats tells it'
    local home=/tmp/session
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CONFIG_HOME -u XDG_CACHE_HOME
        HOME="$home" XDG_RUNTIME_DIR="$home")

    lab_run "${as_nobody[@]}" test -x "$builddir/virt-seed" || skip 'the build is closed to others'
    define web1 $web1
    lab_run install -d -m 0700 -o 65534 -g 65534 $home
    run -0 --separate-stderr lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///session status 3>&- 4>&-
    [[ $output != *web1* && $stderr = 'virt-seed: note: '*'in your session (qemu:///session)'*'-c qemu:///system'* ]]
    run -1 --separate-stderr lab_run "${as_nobody[@]}" "$builddir/virt-seed" -c qemu:///session check web1
    [[ $stderr = *"there is no domain 'web1'"*'hint: '*'own session'*'-c qemu:///system' ]]
}

@test "status has a row for each domain" {
    start web1 $web1
    define web2 $web2 'datasource="configdrive"'
    domain_define plain
    domain_define 'ü日本'
    report_say $web1 "$runs"
    write_record $web2 "$done_record"
    run -0 --separate-stderr virt_seed status
    diff - <(sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} /TIME       /; s/[0-9]{2}:[0-9]{2}:[0-9]{2} /TIME     /; s/ +$//' \
        <<<"$output" | tr -s ' ') <<END
DOMAIN STATE CLOUD-INIT SINCE ADDRESS GUEST SAYS
plain off - - - -
web1 running running, init TIME - -
web2 off done TIME - -
ü日本 off - - - -
END
    run -0 --separate-stderr virt_seed status --output=Domain,WIRED,seed,datasource,instance-id,guest-says
    diff - <(sed -E 's/ +$//' <<<"$output") <<END
DOMAIN  WIRED  SEED  DATASOURCE  INSTANCE-ID                           GUEST SAYS
plain   -      -     -           -                                     -
web1    yes    yes   nocloud     $web1  -
web2    yes    no    nocloud     an-id                                 -
ü日本   -      -     -           -                                     -
END
    report_say $web1 "$(report_line "$boot1" "$(report_ended '"x"')")"
    run -0 virt_seed status --json web1 plain
    jq -e --arg uuid $web1 '(.[0] | .domain == "web1" and .uuid == $uuid and .state == "running" and
        .wired == true and .seed == true and .datasource == "nocloud" and ."instance-id" == $uuid and
        .result == "failed" and .stage == "modules-final" and .errors == ["x"] and
        (.since | test("^20..-")))' <<<"$output"
    jq -e '.[1] | .domain == "plain" and .state == "off" and .wired == false and .seed == false and
        .datasource == null and .result == null' <<<"$output"
    run -1 --separate-stderr virt_seed status nobody
    [[ $stderr = *"there is no domain 'nobody'"* && ! $output ]]
    # It hides no other.
    run -1 --separate-stderr virt_seed status web1 nobody plain
    [[ $stderr = *"there is no domain 'nobody'"* && ${lines[1]} = 'web1 '* && ${lines[2]} = 'plain '* ]]
    run -1 --separate-stderr virt_seed status --json nobody plain
    jq -e 'map(.domain) == ["plain"]' <<<"$output"
    run -2 virt_seed status -o domain,adress
    [[ $output = *"there is no column 'adress'"* && $output = *'address and guest-says'* ]]
}

@test "status of one domain says all that is known of it, also when it is off" {
    define web1 $web1
    write_record $web1 '{"state": "failed", "time": "2026-01-02T03:05:00Z", "errors": ["it \u001b[2J broke", "too"],
        "warnings": ["deprecated"], "taken": {"version": "25.1.4", "instance-id": "an-id", "new": true,
        "documents": {}, "first": {}}, "failed": {"module": "runcmd", "log": "RuntimeError: 7"}}'
    run -0 --separate-stderr as_owner TZ=XYZ-2 "${virt_seed[@]}" status web1
    diff - <(echo "$output") <<END
domain       web1
uuid         $web1
state        off
wired        yes
seed         no
documents    -
datasource   nocloud
instance-id  an-id
cloud-init   failed, since 2026-01-02 05:05:00 +0200
version      25.1.4
guest says   -
address      -
error        it ?[2J broke
error        too
warning      deprecated
module       runcmd
log          RuntimeError: 7
END
    run -3 virt_seed wait web1
    [[ $output = *"domain 'web1' is not running; cloud-init failed in its last boot: runcmd: RuntimeError: 7"* ]]
    run -0 virt_seed status --json web1
    jq -e '.[0] | .warnings == ["deprecated"] and .address == null' <<<"$output"
    matches_manual status <<<"$output"
    matches_manual guest-says '.[]."guest-says"' <<<"$output"
}

@test "tells a guest that has not reported yet from one that never will" {
    start web1 $web1
    start web2 $web2 'report="no"'
    run -0 virt_seed status --json
    [[ $(jq -c 'map(.result)' <<<"$output") = '["none",null]' ]]
    virt_seed unset --wiring-only web2
    lab_virsh destroy web2
    run -0 virt_seed status web2
    [[ ${lines[2]} = 'state        off' && ${lines[3]} = 'wired        no' && ${lines[4]} = 'seed         no' ]]
}

@test "tells a domain that does not exist from a libvirt that does not answer" {
    run -4 virt_seed wait no-such-domain
    [[ $output = *"there is no domain 'no-such-domain'"* ]]
    run -5 virt_seed -c qemu+unix:///system?socket=/run/none wait web1
    [[ $output = *'could not reach libvirt'* ]]
}
