#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2154  # the script's own variables; those of common.bash
# reporter.bats: what the script in the seed reports at which moment, of a guest in a directory.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p bin dev run/cloud-init sys/class/virtio-ports/vport1p1 var/lib/cloud/{data,instance/sem} var/log
    echo org.virt-seed.report.0 >sys/class/virtio-ports/vport1p1/name
    : >dev/vport1p1
    mkfifo ticks
    : >pauses
    # It pauses until the test says that time has passed.
    printf '#!/bin/sh\necho >>"%s"\nread -r tick <"%s"\n' "$PWD/pauses" "$PWD/ticks" >bin/sleep
    chmod +x bin/sleep
    sed -e "s#\([ =]\)/\(run\|sys\|var\|dev\)/#\1$PWD/\2/#g" -e "s#$PWD/dev/null#/dev/null#g" \
        -e 's/-c "$device"/-e "$device"/' "$top_srcdir/src/seed/reporter.sh" >reporter
}

# status STAGE FINISHED: what cloud-init says of its last stage.
status() {
    printf '{"v1": {"stage": %s, "modules-final": {"errors": ["it failed"], "start": 1, "finished": %s}}}\n' "$@" \
        >run/cloud-init/status.new
    mv run/cloud-init/status.new run/cloud-init/status.json
}

paused() {
    [[ $(wc -l <pauses) -eq $1 ]]
}

# tick NUMBER: lets it look again, once it has looked so often.
tick() {
    wait_until 20 paused "$1" && timeout 20 sh -c 'echo >ticks'
}

@test "the line with the last stage's end has the result and the module that failed" {
    echo "2026-01-01 00:00:00,000 - util.py[WARNING]: Running module runcmd (<module>) failed" \
        >var/log/cloud-init.log
    status '"modules-final"' null
    PATH=$PWD/bin:$PATH sh reporter 3>&-
    tick 1
    wait_until 20 paused 2
    # It looks between the two files.
    status null 2
    tick 2
    wait_until 20 paused 3
    echo '{"v1": {"errors": ["it failed"]}}' >run/cloud-init/result.json
    tick 3
    wait_until 20 grep -q '"result"' dev/vport1p1
    cat dev/vport1p1
    [[ $(grep -c '"finished": null' dev/vport1p1) -eq 1 ]]
    [[ $(grep -c '"finished": 2' dev/vport1p1) -eq 1 ]]
    run -0 grep '"finished": 2' dev/vport1p1
    [[ $output = *'"failed":{"module":"runcmd"'* ]]
}
