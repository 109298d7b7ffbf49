# shellcheck shell=bash
# wait.bash: how tests wait; a library to source. Every wait has an end: tests/functional/source.bats
# finds a loop that has none.
#
#   wait_until SECONDS COMMAND...   until the command succeeds; fails when it has not in that time. A busy
#                                   machine needs many times what an idle one does: give it plenty.

wait_until() {
    local seconds=$1 end=$((SECONDS + $1)) pause=0.02 round=0

    shift
    until "$@"; do
        if ((SECONDS >= end)); then
            echo "after $seconds seconds still not: $*" >&2
            return 1
        fi
        # What has not come in a second is awaited at leisure: a guest that boots needs the processor.
        [[ $((++round)) -lt 50 ]] || pause=0.5
        sleep "$pause"
    done
}
