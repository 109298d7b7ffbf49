# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables for and of those that source this
# vdsm.bash: runs hooks as VDSM does (lib/vdsm/common/hooks.py); a library to source.
#
#   vdsm_run_hooks HOOKS POINT XML [PROPERTY=VALUE...]
#
# Every regular, executable file of HOOKS/POINT runs, in the order of the names, without arguments,
# with the XML in an exchange file that mkstemp made. Exit status 0 is done; 1 failed, and the next
# one runs; 2 failed, and no other runs; any other, or a signal, is as 1. What they print on standard
# output is dropped.
#
# The exchange file is read again, by its name, after the last one, and removed: what is in it then
# is $vdsm_xml, whether a hook failed or not. Of a hook that failed, $vdsm_error is what it printed
# on standard error, and the function's status is 1: at before_vm_start, the VM does not start, and
# the engine shows that text.
#
# The exchange file is made below TMPDIR. ${vdsm_user[@]}, where set, are words before each command,
# to run it as VDSM's user. $vdsm_ran are the names of the hooks that ran.

vdsm_run_hooks() {
    local hooks=$1 point=$2 xml=$3 hook status=0 result=0 exchange errors
    local -a environment

    shift 3
    exchange=$("${vdsm_user[@]}" mktemp)
    errors=$(mktemp)
    "${vdsm_user[@]}" tee "$exchange" <<<"$xml" >/dev/null
    # Custom properties first, so that they cannot take the place of what follows.
    environment=(params= "$@" vmId=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
        PYTHONPATH=/usr/share/vdsm/hooks "_hook_domxml=$exchange")
    vdsm_ran=
    vdsm_error=
    while IFS= read -r hook; do
        status=0
        "${vdsm_user[@]}" env "${environment[@]}" "$hook" </dev/null >/dev/null 2>"$errors" ||
            status=$?
        vdsm_ran+="${hook##*/} "
        if [[ $status -ne 0 ]]; then
            vdsm_error=$(<"$errors")
            result=1
        fi
        [[ $status -ne 2 ]] || break
    done < <(_vdsm_hooks "$hooks/$point")
    vdsm_xml=$("${vdsm_user[@]}" cat "$exchange")
    "${vdsm_user[@]}" rm -f "$exchange"
    rm -f "$errors"
    return "$result"
}

_vdsm_hooks() {
    local hook

    for hook in "$1"/*; do
        if [[ -f $hook && -x $hook ]]; then
            echo "$hook"
        fi
    done | LC_ALL=C sort
}
