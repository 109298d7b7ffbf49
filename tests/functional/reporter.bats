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
    # It pauses until the test says that time has passed; whoever said so last may still have the pipe open.
    printf '#!/bin/sh\necho >>"%s"\nfor _ in 1 2 3 4 5; do read -r tick <"%s" && exit; done\n' "$PWD/pauses" "$PWD/ticks" >bin/sleep
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
    # Where a boot was cut off, the log has NUL bytes.
    printf '\0\0\n2026-01-01 00:00:00,000 - util.py[WARNING]: Running module runcmd (<module>) failed\n' \
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
    # How to log in is found once, in a stage in which it is known.
    [[ $(grep -c '"login":{"user":' dev/vport1p1) -eq 2 ]]
}

# drops LINE...: what it reports as dropped if the log has these lines.
drops() {
    printf '2026-01-01 00:00:00,000 - %s\n' "$@" >var/log/cloud-init.log
    sed '/^# Once a boot/,$d' reporter >functions
    sh -c '. ./functions; exec 2>/dev/null; text={}; printf "[%s]" "$(describe_dropped)"'
}

@test "only what this boot has not used of its documents is dropped, without what messages quote" {
    local user='handlers.py[DEBUG]: start: init-network/consume-user-data: reading and applying user-data'
    local end='handlers.py[DEBUG]: finish: init-network/consume-user-data: SUCCESS: reading'
    local vendor='handlers.py[DEBUG]: start: init-network/consume-vendor-data: reading'
    local boot="util.py[DEBUG]: Cloud-init v. 25.1 running 'init-local' at Thu, 01 Jan 2026"
    local merge='cloud_config.py[WARNING]: Failed at merging in cloud config part from part-001'

    [[ $(drops "$boot" "$user" "$end") = '[]' ]]
    # The boot before, outside of the events, and what has no content.
    [[ $(drops "$boot" "$user" "$merge" "$end" "$boot" "$merge" "$user" "$end" "$merge") = '[]' ]]
    [[ $(drops "$boot" "$user" "$merge: empty cloud config" "$end") = '[]' ]]
    [[ $(drops "$boot" "$user" "$end" "$vendor" '__init__.py[WARNING]: Unhandled non-multipart (text/x-a) userdata: '\
"'b'hunter2\"...'") = '["vendor-data: Unhandled non-multipart (text/x-a) userdata"]' ]]
    # The same of a package of Python, as 24.1 and newer name it.
    [[ $(drops "$boot" "$user" 'handlers[WARNING]: Unhandled unknown content-type (text/x-a) userdata: '\
"'b'hunter2'...'") = '["user-data: Unhandled unknown content-type (text/x-a) userdata"]' ]]
    # From syslog; and the image forbids user-data.
    [[ $(drops "$boot" "host [CLOUDINIT] $user" "host [CLOUDINIT] $merge") = '["user-data: '*'part-001"]' ]]
    [[ $(drops "$boot" "$user" 'stages.py[DEBUG]: allow_userdata = False: discarding user-data') = \
        '["user-data: allow_userdata = False: discarding user-data"]' ]]
    [[ $(drops "$boot" 'stages.py[INFO]: Applying network configuration from ds bringup=False: {}' \
        'stages.py[ERROR]: Unable to render networking. Network config is likely broken: no' "$user") = \
        '["network-config: Unable to render networking.'* ]]
    [[ $(drops "$boot" 'stages.py[INFO]: Applying network configuration from fallback bringup=False: {}' \
        'stages.py[ERROR]: Unable to render networking. Network config is likely broken: no' "$user") = '[]' ]]
    # Logged without the events that tell which.
    [[ $(drops "$boot" "$merge") = '["a document: Failed at merging in cloud config part from part-001"]' ]]
}

@test "the logs of a boot that failed are sent before its result, and no others" {
    mkdir -p sys/class/virtio-ports/vport1p2
    echo org.virt-seed.log.0 >sys/class/virtio-ports/vport1p2/name
    : >dev/vport1p2
    { head -c 60000 /dev/zero | tr '\0' b && printf 'said by a command\r\n'; } >var/log/cloud-init-output.log
    printf '2026-01-01 00:00:00,000 - %s\n' "util.py[DEBUG]: Cloud-init v. 25.1 running 'init-local' at Thu" \
        'util.py[WARNING]: of the boot before' \
        "util.py[DEBUG]: Cloud-init v. 25.1 running 'init-local' at Fri" 'util.py[DEBUG]: all is well' \
        'util.py[WARNING]: Running module runcmd (<module>) failed' >var/log/cloud-init.log
    printf 'Traceback (most recent call last):\n  File "x"\nRuntimeError: 1 failed\n' >>var/log/cloud-init.log
    status null 2
    echo '{"v1": {"errors": ["it failed"]}}' >run/cloud-init/result.json
    PATH=$PWD/bin:$PATH sh reporter 3>&-
    wait_until 20 grep -q '"result"' dev/vport1p1
    tr -s b <dev/vport1p2
    [[ $(wc -c <dev/vport1p2) -le 65536 && $(grep -c . dev/vport1p2) -eq 7 ]]
    grep 'bsaid by a command$' dev/vport1p2
    grep 'Running module runcmd' dev/vport1p2
    grep -x 'RuntimeError: 1 failed' dev/vport1p2
    run ! grep -e 'all is well' -e 'boot before' dev/vport1p2
    # All went well.
    : >dev/vport1p1
    : >dev/vport1p2
    rm -r run/virt-seed-report
    echo '{"v1": {"datasource": "x", "errors": []}}' >run/cloud-init/result.json
    : >var/log/cloud-init.log
    PATH=$PWD/bin:$PATH sh reporter 3>&-
    wait_until 20 grep -q '"result"' dev/vport1p1
    [[ ! -s dev/vport1p2 ]]
}

@test "the line with the result says how the guest is about to end" {
    local command expected

    while read -r expected command; do
        printf '\0x.py[DEBUG]: After pid 7 ends, will execute: %s\n' "$command" >var/log/cloud-init.log
        sed '/^# Once a boot/,$d' reporter >functions
        run -0 sh -c '. ./functions; exec 2>/dev/null; systemctl() { :; }; describe_end'
        [[ $output = ",\"then\":\"$expected\"" ]]
    done <<'END'
reboot shutdown -r now
poweroff shutdown -P now
poweroff shutdown -H +5
END
    : >var/log/cloud-init.log
    run -0 sh -c '. ./functions; exec 2>/dev/null; systemctl() { :; }; describe_end'
    [[ ! $output ]]
    run -0 sh -c '. ./functions; exec 2>/dev/null; systemctl() { echo "77 reboot.target start waiting"; }; describe_end'
    [[ $output = ',"then":"reboot"' ]]
}

# says FUNCTION: what a function of the script prints.
says() {
    sed '/^# Once a boot/,$d' reporter >functions
    run -0 sh -c ". ./functions; exec 2>/dev/null; $1"
}

@test "the line says how to log in, and nothing of what does not leave the guest" {
    mkdir -p etc/ssh sys/class/net/ens3
    sed -i -e "s#/etc/#$PWD/etc/#g" -e "s#<[/]sys#<$PWD/sys#" reporter
    echo 52:54:00:00:00:01 >sys/class/net/ens3/address
    ssh-keygen -q -t ed25519 -N '' -C 'a "comment"' -f etc/ssh/ssh_host_ed25519_key
    ssh-keygen -q -t rsa -b 2048 -N '' -f etc/ssh/ssh_host_rsa_key
    printf 'root:x:0:0::/root:/bin/sh\ndebian:x:1000:1000::/home/debian:/bin/sh\nann:x:1001:1001::/:/bin/sh\n' >etc/passwd
    cat >bin/ip <<'END'
#!/bin/sh
cat <<'ADDRESSES'
1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever preferred_lft forever
2: ens3    inet 192.0.2.7/24 metric 100 brd 192.0.2.255 scope global dynamic ens3\       valid_lft 86sec preferred_lft 86sec
2: ens3    inet6 fd00::9/64 scope global temporary dynamic \       valid_lft 86sec preferred_lft 86sec
2: ens3    inet6 fd00::7/64 scope global dynamic mngtmpaddr \       valid_lft 86sec preferred_lft 86sec
2: ens3    inet6 fe80::7/64 scope link \       valid_lft forever preferred_lft forever
ADDRESSES
END
    chmod +x bin/ip
    mkdir -p etc/cloud/cloud.cfg.d
    printf '%s\n' 'system_info:' '   distro: debian' '   default_user:' '     gecos: Debian' '' '# A comment' \
        '     name: debian' '     groups: [adm]' '   paths:' '     name: root' \
        >etc/cloud/cloud.cfg
    # Many comments take no longer.
    for _ in {1..30}; do echo '     # a comment'; done >comments
    sed -i '/default_user/r comments' etc/cloud/cloud.cfg
    PATH=$PWD/bin:$PATH says describe_login
    jq -e --arg ed25519 "$(cut -d' ' -f 1,2 etc/ssh/ssh_host_ed25519_key.pub)" \
        --arg rsa "$(cut -d' ' -f 1,2 etc/ssh/ssh_host_rsa_key.pub)" '. == {user: "debian", "host-keys": [$ed25519, $rsa],
        addresses: [{nic: "ens3", mac: "52:54:00:00:00:01", address: "192.0.2.7"},
                    {nic: "ens3", mac: "52:54:00:00:00:01", address: "fd00::7"}]}' <<<"$output"
    # The user-data names another one; and one who does not exist.
    printf 'user: ann\n' >var/lib/cloud/instance/cloud-config.txt
    says default_user
    [[ $output = ann ]]
    printf 'system_info:\n    default_user:\n        name: ann\n' >var/lib/cloud/instance/vendor-cloud-config.txt
    printf 'user:\n    name: eve\n' >var/lib/cloud/instance/cloud-config.txt
    says default_user
    [[ $output = ann ]]
    printf 'user:\n    name: root\n' >var/lib/cloud/instance/cloud-config.txt
    says default_user
    [[ $output = root ]]
    # The image has been given another one.
    rm var/lib/cloud/instance/*.txt
    printf 'system_info:\n  default_user:\n    name: ann\n' >etc/cloud/cloud.cfg.d/90_user.cfg
    says default_user
    [[ $output = ann ]]
    # Nobody of these exists.
    echo eve:x:7:7::/:/bin/sh >etc/passwd
    says default_user
    [[ ! $output ]]
    # A guest without any of this.
    rm -r etc/ssh etc/cloud
    printf '#!/bin/sh\nexit 1\n' >bin/ip
    PATH=$PWD/bin:$PATH says describe_login
    [[ $output = '{"user":"","host-keys":[],"addresses":[]}' ]]
}
