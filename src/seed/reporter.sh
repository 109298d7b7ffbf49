#!/bin/sh
# virt-seed: tells the host what cloud-init has read, how far it is, and how it ended.
# <ci:cloud-init report="no"> in the domain's metadata leaves this out.

status=/run/cloud-init/status.json
result=/run/cloud-init/result.json
instance=/var/lib/cloud/instance
first=$instance/virt-seed-first.json
log=/var/log/cloud-init.log
output=/var/log/cloud-init-output.log

# Sets the device of the port. It comes when its driver is loaded, perhaps after this.
find_device() {
    for name in /sys/class/virtio-ports/*/name; do
        device=${name%/name}
        device=/dev/${device##*/}
        read -r found <"$name" && [ "$found" = "$1" ] && [ -c "$device" ] && return
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

# The log's lines of this boot.
log_of_boot() {
    from=$(sed -n "/running 'init-local' at /=" $log | tail -n 1)
    tail -n "+${from:-1}" $log
}

# In messages of cloud-init, also within JSON, what they quote of a document, which may be a secret.
without_quotes() {
    rest='([^"\\]|\\.)*'
    LC_ALL=C sed -E "
        s/(Unhandled [a-z -]+ \([^ \"\\]*\) userdata)$rest/\1/g
        s/(Failed loading yaml blob(\. (Invalid format at line [0-9]+ column [0-9]+|Yaml load allows [^\"\\]* instead))?)$rest/\1/g
        s/(Failed at merging in cloud config part from [^:\"\\]*(: empty cloud config)?)$rest/\1/g
        s/(Could not render jinja template variables in file [^:\"\\]*)$rest/\1/g
        s/(Ignoring jinja template for [^:\"\\]*(: '[A-Za-z_ ]+' (is undefined|has no attribute '[A-Za-z0-9_]+'))?)$rest/\1/g"
}

# What cloud-init has not used of its documents in this boot, as "DOCUMENT: MESSAGE"; its events in the
# log tell which document it was. Without a log, its status has the messages, since 23.4.
find_dropped() {
    unknown=
    log_of_boot | grep -q consume-user-data || unknown='a document'
    if [ -s $log ]; then log_of_boot; else printf '%s\n' "$text" | tr '"' '\n'; fi |
        LC_ALL=C tr '"' "'" | without_quotes | LC_ALL=C sed -nE "
            1 { x; s/.*/$unknown/; x; t reset
                : reset
            }
            # Without content there is nothing to use.
            /loaded blob returned None/ { n; /Failed at merging/ d; }
            /: empty cloud config$/ d
            # The same again, with a traceback.
            /\[DEBUG\]: (Failed|Boothooks)/ d
            / start: .*consume-(user|vendor)-data/ { s/.*consume-([a-z]+-data).*/\1/; h; d; }
            / finish: .*consume-/ { s/.*//; h; d; }
            /Applying network configuration from / { s/.* from ds .*/network-config/; s/.* from .*//; h; d; }
            s/^(.*\[[A-Z]+\]: )?((Unhandled|Failed loading yaml blob|Failed at merging|Failed calling handler|Failed at registering|Ignoring jinja|Could not render jinja|Jinja not available|Boothooks|allow_userdata = False|Unable to render networking).*)/\2/
            t found
            d
            : found
            G
            s/(.*)\n(.+)/\2: \1/
            /^([a-z]+-data|a document|network-config: Unable)/ p"
    # A MIME message whose parts cannot be told apart: no message tells of it.
    if [ -s $instance/user-data.txt ] && [ -e $instance/user-data.txt.i ] &&
        ! grep -q '^Number-Attachments: [1-9]' $instance/user-data.txt.i; then
        echo 'user-data: cloud-init has found no part in it'
    fi
}

# As members of a list in JSON.
describe_dropped() {
    find_dropped | head -n 50 | LC_ALL=C tr -cd '\n !#-[]-~' |
        LC_ALL=C sed -e 's/^\(.\{300\}\).*/\1/' -e 's/.*/"&"/' -e '$!s/$/,/' | tr -d '\n'
}

# How the guest is about to end: cloud-init does at its own end what power_state asks for.
describe_end() {
    # power_state is one of the last modules.
    asked=$(tail -n 200 $log | sed -n '/After pid .* ends, will execute: /p')
    case ${asked:-$(systemctl list-jobs; cat /run/systemd/shutdown/scheduled)} in
        *'execute: shutdown -r'* | *'execute: reboot'* | *' reboot.target '* | *MODE=reboot*)
            printf ',"then":"reboot"' ;;
        *'execute: '* | *' poweroff.target '* | *' halt.target '* | *MODE=*)
            printf ',"then":"poweroff"' ;;
    esac
}

# The module that failed last, and what the log says of that.
describe_failure() {
    # Not by grep: a cut-off boot leaves NUL bytes, and it calls that a binary file.
    line=$(sed -n '/Running module .* failed$/p' $log | tail -n 1)
    module=${line#*Running module }
    reason=$(sed -n '/Running module .* failed$/,$ {
        /^[A-Za-z_.]*\(Error\|Exception\)/h
        ${ x; p; }
    }' $log | plain)
    printf '{"module":"%s","log":"%s"}' "$(printf %s "${module%% *}" | plain)" "$reason"
}

# The names that the default user may have: what the user-data says, then the vendor-data, then the image.
# The image's own file is indented by two, three or four spaces.
names_of_default_user() {
    for file in $instance/cloud-config.txt $instance/vendor-cloud-config.txt \
            /etc/cloud/cloud.cfg.d/*.cfg /etc/cloud/cloud.cfg; do
        awk '
            /^user: [A-Za-z0-9_.-]+$/ && length($2) <= 32 { print $2 }
            depth && !/^ *(#|$)/ {
                here = match($0, /[^ ]/)
                if (here <= depth)
                    depth = 0
                else if (/^ *name: [A-Za-z0-9_.-]+$/ && length($2) <= 32)
                    print $2
            }
            /^(user| *default_user):$/ { depth = match($0, /[^ ]/) }' "$file"
    done
}

# The first of them that exists.
default_user() {
    for user in $(names_of_default_user); do
        while IFS=: read -r account rest; do
            [ "$account" != "$user" ] || { printf %s "$user"; return; }
        done </etc/passwd
    done
}

# As members of a list in JSON: public keys without their comments.
host_keys() {
    cat /etc/ssh/ssh_host_*_key.pub | head -n 8 | head -c 16384 |
        sed -nE 's/^([a-z0-9-]+ [A-Za-z0-9+\/]+=*)( .*)?$/"\1"/p' | sed '$!s/$/,/' | tr -d '\n'
}

# The same of the addresses: not of the loopback interface, and none that is valid on its link alone.
addresses() {
    comma=
    ip -o addr | sed -nE '/ (temporary|deprecated|tentative|dadfailed) /d
        s/^[0-9]+: ([A-Za-z0-9._-]+) +inet6? ([0-9a-f.:]+)[ \/].* scope global.*/\1 \2/p' | head -n 32 |
        while read -r nic address; do
            mac=
            read -r mac </sys/class/net/"$nic"/address
            printf '%s{"nic":"%s","mac":"%s","address":"%s"}' "$comma" "$nic" "$mac" "$address"
            comma=,
        done
}

# For who wants to know why it failed. Both logs have all boots.
send_log() {
    find_device org.virt-seed.log.0 || return
    {
        printf '==> the end of %s <==\n' $output
        tail -c 49152 $output
        printf '\n==> warnings and errors in %s, of this boot <==\n' $log
        log_of_boot | sed -n '/\[\(WARNING\|ERROR\|CRITICAL\)\]/p
            /^Traceback/,/^[^ ]/p' | tail -c 15360
    } | LC_ALL=C tr -d '\r' | timeout -s KILL 20 cat >"$device"
}

# How to log in.
describe_login() {
    printf '{"user":"%s","host-keys":[%s],"addresses":[%s]}' "$(default_user)" "$(host_keys)" "$(addresses)"
}

follow() {
    read -r boot </proc/sys/kernel/random/boot_id
    # A boot that was cut off may have left half a line.
    echo
    describe_taken
    last=
    seen=
    dropped=
    login=
    # A guest that shuts down by itself may do so right after the result.
    ending=
    trap ending=true TERM
    while :; do
        end=
        last_look=$ending
        if [ -e $result ]; then
            # Nor may that end what the line is made with.
            trap '' TERM
            read_line_of $result
            end=",\"result\":$text$(describe_end)"
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
            # When the result is there, it has long been found.
            [ -n "$end" ] && [ -n "$last" ] || dropped=$(describe_dropped)
            # Once, as soon as there are a user, keys and addresses; not of a guest that is about to end.
            case $text$end in
                *'"stage": "modules-'[cf]* | *'"result":'*)
                    [ -n "$login$last_look" ] || login=$(describe_login) ;;
            esac
            # Before the result, after which somebody looks for it.
            case $end in
                *'"failed":'*) send_log ;;
                ?*) [ -z "$dropped" ] || send_log ;;
            esac
            printf '{"virt-seed":1,"boot":"%s","taken":%s,"status":%s%s,"dropped":[%s],"login":%s}\n' \
                "$boot" "$taken" "${text:-null}" "$end" "$dropped" "${login:-null}" | without_quotes
            last=$text$end
        fi
        [ -z "$end$last_look" ] || return
        pause
    done
}

report() {
    # Not beside the call: a shell would keep what it is to restore behind a function, and
    # cloud-init wait for the end of its output.
    exec </dev/null >/dev/null 2>&1
    count=0
    until find_device org.virt-seed.report.0; do
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
