#!/bin/sh
# virt-seed: tells the host how far cloud-init is, and how it ended. <ci:cloud-init report="no">
# in the domain's metadata leaves this out.

port=org.virt-seed.report.0
status=/run/cloud-init/status.json
result=/run/cloud-init/result.json

# It comes when its driver is loaded, perhaps after this.
find_device() {
    for name in /sys/class/virtio-ports/*/name; do
        device=${name%/name}
        device=/dev/${device##*/}
        read -r found <"$name" && [ "$found" = $port ] && [ -c "$device" ] && return
    done
    return 1
}

# Often for the first ten minutes.
pause() {
    count=$((count + 1))
    if [ $count -gt 3000 ]; then sleep 2; else sleep 0.2 || sleep 1; fi
}

# By the shell alone: this is done several times a second.
read_line_of() {
    text=
    while IFS= read -r line || [ -n "$line" ]; do text=$text$line; done <"$1"
}

follow() {
    read -r boot </proc/sys/kernel/random/boot_id
    # A boot that was cut off may have left half a line.
    echo
    last=
    while :; do
        end=
        if [ -e $result ]; then
            read_line_of $result
            end=",\"result\":$text"
        fi
        read_line_of $status
        if [ "$text$end" != "$last" ]; then
            printf '{"virt-seed":1,"boot":"%s","status":%s%s}\n' "$boot" "${text:-null}" "$end"
            last=$text$end
        fi
        [ -z "$end" ] || return
        pause
    done
}

report() {
    # Not beside the call: a shell would keep what it is to restore behind a function, and
    # cloud-init wait for the end of its output.
    exec </dev/null >/dev/null 2>&1
    count=0
    until find_device; do
        [ $count -lt 50 ] || return
        pause
    done
    follow >"$device"
}

# Once a boot; cloud-init does not wait for it.
mkdir /run/virt-seed-report 2>/dev/null || exit 0
report &
