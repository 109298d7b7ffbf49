# shellcheck shell=bash
# vm.bash: the host of build-host as a virtual machine; a library to source. It needs no privilege.
#
# $vm is the machine's directory, with its sockets, and in "console" what it has printed. HOST is a
# directory that build-host made; no path has a quote in it. All functions return 0, or 1 after a message.
#
#   vm_overlay DISK NEW            make a copy-on-write disk over another
#   vm_boot HOST DISK [OPTION…]    switch it on, with more options of QEMU's
#   vm_resume HOST DISK MEMORY     let it run on from where vm_save left it; DISK is as it was then
#   vm_login SECONDS               wait until root can log in
#   vm_run SECONDS COMMAND…        run a command in it as root; its exit status, or 124
#   vm_save MEMORY                 end it, and keep the content of its memory
#   vm_wait_off SECONDS            wait until it has switched itself off, or wants to start again
#   vm_kill                        cut its power
#
# The machine is emulated, unless VIRT_SEED_ACCEL=kvm.

# shellcheck disable=SC2154  # vm is the other script's


vm_overlay() {
    qemu-img create -q -f qcow2 -F qcow2 -b "$1" "$2"
}

vm_boot() {
    _vm_start "$@"
}

vm_resume() {
    local second

    _vm_start "$1" "$2" -incoming "exec:cat '$3'" || return
    for second in {1..120}; do
        if [[ $(vm_monitor '{"execute": "query-status"}') = *'"running": true'* ]]; then
            return
        fi
        sleep 0.5
    done
    echo "the machine does not run $second rounds after it was resumed" >&2
    return 1
}

_vm_start() {
    local host=$1 disk=$2 accel=tcg,thread=multi

    shift 2
    ln -sf "$host/key" "$vm/key"
    [[ ${VIRT_SEED_ACCEL:-tcg} != kvm ]] || accel=kvm
    rm -f "$vm"/monitor.{in,out}
    mkfifo "$vm"/monitor.{in,out}
    # Nothing of the caller's is held, and a machine that is forgotten ends by itself.
    timeout --signal=KILL 3h qemu-system-x86_64 -pidfile "$vm/pid" -nodefaults -display none \
        -no-reboot -machine q35,hpet=off -accel "$accel" -cpu max,la57=off -smp 2 -m 4096 \
        -kernel "$host/vmlinuz" -initrd "$host/initrd.img" -append "$(<"$host/cmdline")" \
        -drive "file=$disk,format=qcow2,if=virtio,cache=unsafe" \
        -netdev user,id=control,hostfwd=tcp:127.0.0.1:0-:22 \
        -device virtio-net-pci,netdev=control,mac=52:54:00:00:00:01 -device virtio-rng-pci \
        -chardev "file,id=console,path=$vm/console,append=on" -serial chardev:console \
        -chardev "pipe,id=monitor,path=$vm/monitor" -mon monitor,mode=control "$@" \
        >>"$vm/qemu.log" 2>&1 3>&- 4>&- &
    disown
    vm_monitor '{"execute": "qmp_capabilities"}' >/dev/null || {
        cat "$vm/qemu.log" >&2
        return 1
    }
}

# vm_monitor MESSAGE: prints QEMU's answer. What else QEMU has said since is passed over.
vm_monitor() {
    local line questions answers

    # Open the FIFOs read-write: otherwise open() blocks until QEMU, which may have failed to start,
    # opens its end.
    exec {questions}<>"$vm/monitor.in" {answers}<>"$vm/monitor.out"
    printf '%s\n' "$1" >&"$questions"
    while read -r -t 120 line <&"$answers"; do
        case $line in
        *'"return"'* | *'"error"'*)
            exec {questions}>&- {answers}>&-
            echo "$line"
            [[ $line != *'"error"'* ]]
            return
            ;;
        esac
    done
    exec {questions}>&- {answers}>&-
    echo "QEMU does not answer to $1" >&2
    return 1
}

vm_login() {
    local end=$((SECONDS + $1)) ports

    # QEMU has chosen the port.
    ports=$(vm_monitor '{"execute": "human-monitor-command",
        "arguments": {"command-line": "info usernet"}}') || return
    [[ $ports =~ HOST_FORWARD\]\ +[0-9]+\ +127\.0\.0\.1\ +([0-9]+) ]] || return
    echo "${BASH_REMATCH[1]}" >"$vm/port"
    while ((SECONDS < end)); do
        # All others use this connection, which stays in the background and must hold nothing of the
        # caller's.
        if timeout 120 ssh "${_vm_ssh[@]}" -i "$vm/key" -p "$(<"$vm/port")" -o ControlPath="$vm/ssh" \
            -M -N -f root@127.0.0.1 </dev/null >"$vm/login.log" 2>&1 3>&- 4>&-; then
            # Its clock may be a copy of one that has stood still.
            vm_run "$1" date -s "@$(date +%s)" >/dev/null
            return
        fi
        sleep 1
    done
    echo "nobody can log in after $1 seconds" >&2
    tail -n 20 "$vm/login.log" "$vm/console" >&2
    return 1
}

_vm_ssh=(
    -F none -o BatchMode=yes -o LogLevel=ERROR -o ServerAliveInterval=30 -o ServerAliveCountMax=10
    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null
)

# Only through vm_login's connection: a new one would go to this system's own port 22.
vm_run() {
    local seconds=$1

    shift
    timeout "$seconds" ssh "${_vm_ssh[@]}" -o ProxyCommand=false -o ControlPath="$vm/ssh" \
        root@127.0.0.1 "${*@Q}"
}

vm_save() {
    local second message

    ssh -F none -O exit -o ControlPath="$vm/ssh" root@127.0.0.1 2>/dev/null || :
    # Stopped at once: nothing is sent a second time.
    message='{"execute": "migrate-set-parameters",
        "arguments": {"max-bandwidth": 100000000000, "downtime-limit": 1000000}}'
    vm_monitor "$message" >/dev/null &&
        vm_monitor '{"execute": "migrate", "arguments": {"uri": "exec:cat >'"'$1'"'"}}' >/dev/null ||
        return
    for second in {1..240}; do
        message=$(vm_monitor '{"execute": "query-migrate"}') || return
        if [[ $message = *'"status": "completed"'* ]]; then
            vm_kill
            return
        fi
        sleep 0.5
    done
    echo "the machine's memory is not saved after $second rounds: $message" >&2
    return 1
}

vm_wait_off() {
    local end=$((SECONDS + $1)) pid

    pid=$(cat "$vm/pid" 2>/dev/null) || return 0
    while [[ -e /proc/$pid ]]; do
        if ((SECONDS > end)); then
            echo "the machine is still on after $1 seconds" >&2
            return 1
        fi
        sleep 0.2
    done
    rm -f "$vm/pid" "$vm/ssh"
}

vm_kill() {
    kill -KILL "$(cat "$vm/pid" 2>/dev/null)" 2>/dev/null || :
    vm_wait_off 20
}
