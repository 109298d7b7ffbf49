#!/bin/sh
# virt-seed: tells the host what cloud-init has read, how far it is, and how it ended.
# <ci:cloud-init report="no"> in the domain's metadata leaves this out.

port=org.virt-seed.report.0
status=/run/cloud-init/status.json
result=/run/cloud-init/result.json
instance=/var/lib/cloud/instance
first=$instance/virt-seed-first.json
log=/var/log/cloud-init.log

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

# As text in JSON.
plain() {
    LC_ALL=C tr '"' "'" | LC_ALL=C tr -cd ' !#-[]-~' | head -c 500
}

# Digests alone: the documents may contain secrets.
digests() {
    comma=
    printf '{'
    for name in user-data.txt vendor-data.txt network-config.json; do
        sum=$(sha256sum <$instance/$name) || continue
        printf '%s"%s":"%s"' "$comma" "${name%.*}" "${sum%% *}"
        comma=,
    done
    printf '}'
}

# What cloud-init has read in this boot, and in the first one of this instance, in which
# it applies all of it.
describe_taken() {
    documents=$(digests)
    [ $new = false ] || (umask 077 && printf '%s\n' "$documents" >$first)
    text=
    [ ! -e $first ] || read_line_of $first
    case $text in '{'*'}') ;; *) text='{}' ;; esac
    version=$(sed -n 's/.*Cloud-init v\. \([^ ]*\) running .*/\1/p' $log | tail -n 1 | plain)
    id=$(plain </var/lib/cloud/data/instance-id)
    taken="\"version\":\"$version\",\"instance-id\":\"$id\",\"new\":$new"
    taken="{$taken,\"documents\":$documents,\"first\":$text}"
}

# The module that failed last, and what the log says of that.
describe_failure() {
    line=$(grep 'Running module .* failed$' $log | tail -n 1)
    module=${line#*Running module }
    reason=$(sed -n '/Running module .* failed$/,$ {
        /^[A-Za-z_.]*\(Error\|Exception\)/h
        ${ x; p; }
    }' $log | plain)
    printf '{"module":"%s","log":"%s"}' "$(printf %s "${module%% *}" | plain)" "$reason"
}

follow() {
    read -r boot </proc/sys/kernel/random/boot_id
    # A boot that was cut off may have left half a line.
    echo
    describe_taken
    last=
    seen=
    while :; do
        end=
        if [ -e $result ]; then
            read_line_of $result
            end=",\"result\":$text"
            case $text in
                *'"errors": []'*) ;;
                *) end="$end,\"failed\":$(describe_failure)" ;;
            esac
        fi
        read_line_of $status
        # Only what is still there the next time: the result comes right after the last status.
        if [ -z "$end" ] && [ "$text" != "$seen" ]; then
            seen=$text
        elif [ "$text$end" != "$last" ]; then
            printf '{"virt-seed":1,"boot":"%s","taken":%s,"status":%s%s}\n' "$boot" "$taken" \
                "${text:-null}" "$end"
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
# No module has run in this instance: later, that can no longer be seen.
new=true
for ran in "$instance"/sem/config_*; do
    [ ! -e "$ran" ] || new=false
done
report &
