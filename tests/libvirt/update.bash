# shellcheck shell=bash disable=SC2154  # the variables of common.bash
# update.bash: tests of 'virt-seed update' for any place of the seed; a library to source, next to
# common.bash. The domain web1 is running.
#
#   updates_at_once_leave_one IS_WHOLE   several updates at a time leave the seed of one; IS_WHOLE, a
#                                        command, says that web1 has it, and document what is in it
#   late_updates_leave_nothing LIST...   the domain ends while it is updated, with a request that has
#                                        changed; LIST..., a command, prints what lies of any seed

updates_at_once_leave_one() {
    local first number

    for number in 1 2 3; do
        virt_seed set web1 --hostname="name$number"
        virt_seed update web1 &
        first=$!
        virt_seed update web1 &
        wait "$first" $! || :
        "$1"
        [[ $(document meta-data) = *"name$number"* ]] || return
    done
}

late_updates_leave_nothing() {
    local delay update

    # It waits for this test, and is then too late.
    lab_run flock "$seeds" sleep 2 3>&- &
    sleep 0.5
    virt_seed update web1 >update.log 2>&1 3>&- &
    update=$!
    sleep 0.7
    lab_virsh destroy web1
    wait "$update" || :
    grep -q 'the domain has ended in the meantime' update.log
    [[ $("$@") = '' ]] || return

    for delay in 0.00 0.02 0.04 0.06 0.08 0.10; do
        lab_virsh start web1
        virt_seed set web1 --hostname="name${delay#*.}"
        virt_seed update web1 3>&- &
        update=$!
        sleep "$delay"
        lab_virsh destroy web1
        wait "$update" || :
        [[ $("$@") = '' ]] || return
    done
}
