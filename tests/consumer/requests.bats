#!/usr/bin/env bats
# requests.bats: each request that golden cases and examples make is one that cloud-init
# understands, without a word of complaint but these: interfaces(5), which some ask for, is deprecated, and
# so is system_info in vendor-data, the only place for the name of a default user that a list of users in
# user-data overrides.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# is_understood FILE: by the request of the domain, and the files below $root. What would be served has
# the same documents as a disk (net.bats).
is_understood() {
    consume --root="$root" < <(to_build <"$1" | sed 's/ datasource="nocloud-net"//') &&
        understood .claimed true &&
        understood '.datasource | contains("/dev/sr0")' true &&
        no_complaint 'Eni network configuration in ' 'system_info:  Deprecated in version 24.2'
}

@test "cloud-init understands every golden case that has a seed" {
    local directory failed=0

    for directory in "$top_srcdir"/tests/golden/dump/*/; do
        if ! (cd "$directory" && make_case_root && is_understood in.xml); then
            echo "failed: $directory"
            failed=1
        fi
    done
    [[ $failed -eq 0 ]]
}

@test "cloud-init understands every example" {
    local example failed=0

    make_host_of_examples
    for example in "$top_srcdir"/xml/examples/*.xml; do
        if ! is_understood "$example"; then
            echo "failed: $example"
            failed=1
        fi
    done
    [[ $failed -eq 0 ]]
}
