# shellcheck shell=bash disable=SC2034  # variables for those that source this
# report.bash: what guests say, for tests; a library to source, with lab.bash and domains.bash.
#
# The tests' guests boot nothing, so the test writes for them, with the shell, into the file where
# QEMU would write what comes from the guest's port.
#
#   report_say UUID LINE...            append the lines to the domain's report
#   report_line BOOT STATUS [RESULT [TAKEN]]
#                                      print a line of the boot, BOOT being one of $boot1, $boot2
#   report_taken INSTANCE-ID [FOLDER]  print what a guest says that has taken the documents of the folder,
#                                      or no user-data, in the first boot of that instance
#   report_runs                        print the status in which the stage init runs
#   report_ended [ERROR...]            print one, of the last stage that has finished
#   report_result [ERROR...]           print the result; each ERROR is a JSON string
#   report_end_command PROCESS STATUS  wait until a command in the background has ended with this
#                                      status; set $output and $stderr to what it has printed, to "out"
#                                      and "err" in the test's directory

: "${report_dir:=/var/log/libvirt/virt-seed}"
boot1=0d1f5f3a-6a4b-4b5e-9a53-0b5c9d1f7a10
boot2=7e0e9d0e-5d0f-4a5e-8a52-6d5b8f1c2b21

report_say() {
    local file=$LAB_DIR/root$report_dir/$1.report

    # A session's files are in the same place everywhere.
    [[ ${scope-} != session ]] || file=$report_dir/$1.report
    shift
    printf '%s\n' "$@" >>"$file"
}

report_line() {
    printf '{"virt-seed":1,"boot":"%s","status":%s%s%s}\n' "$1" "$2" "${3:+,\"result\":$3}" "${4:+,\"taken\":$4}"
}

report_taken() {
    local name sum digests=

    for name in user-data ${2:+vendor-data}; do
        sum=$(sha256sum "${2-/nowhere}/$name" 2>/dev/null || sha256sum </dev/null)
        digests+="${digests:+,}\"$name\":\"${sum%% *}\""
    done
    printf '{"version":"25.1.4","instance-id":"%s","new":true,"documents":{%s},"first":{%s}}\n' "$1" \
        "$digests" "$digests"
}

report_runs() {
    echo '{"v1":{"datasource":null,"stage":"init",
        "init-local":{"errors":[],"start":1793.0,"finished":1794.25},
        "init":{"errors":[],"start":1795.5,"finished":null}}}' | tr -d '\n'
}

report_ended() {
    echo '{"v1":{"datasource":"DataSourceNoCloud [seed=/dev/sr0][dsmode=net]","stage":null,
        "init-local":{"errors":[],"start":1793.0,"finished":1794.25},
        "init":{"errors":[],"start":1795.5,"finished":1799.0},
        "modules-config":{"errors":[],"start":1800.5,"finished":1801.0},
        "modules-final":{"errors":['"$(_report_list "$@")"'],"start":1802,"finished":1810.5}}}' |
        tr -d '\n'
}

report_result() {
    printf '{"v1":{"datasource":"DataSourceNoCloud","errors":[%s]}}' "$(_report_list "$@")"
}

report_end_command() {
    local found=0

    wait "$1" || found=$?
    output=$(<"$BATS_TEST_TMPDIR/out")
    stderr=$(<"$BATS_TEST_TMPDIR/err")
    if [[ $found -ne $2 ]]; then
        printf 'expected status %s, found %s:\n%s\n%s\n' "$2" "$found" "$output" "$stderr"
        return 1
    fi
}

_report_list() {
    local IFS=,

    echo "$*"
}
