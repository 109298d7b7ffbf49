#!/usr/bin/env bats
# maker.bats: AppArmor's profile of the maker, on a whole host: it is enforced while a domain starts, and what the
# maker has no need for is denied.

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
maker=/usr/sbin/virt-seed-maker
busybox=/usr/local/lib/tiny-guest/busybox # static, as the maker is not

setup_file() {
    if ! host_has_selinux; then
        host_start
    fi
}

setup() {
    host_need apparmor
}

# add_rule RULE: to the profile, from an empty log on.
add_rule() {
    on_host tee /etc/apparmor.d/local/virt-seed-maker <<<"$1"
    on_host apparmor_parser --replace /etc/apparmor.d/virt-seed-maker
    on_host dmesg --clear
}

# assert_logged WORD: the kernel's log has it, with the maker's profile.
assert_logged() {
    run -0 on_host dmesg
    grep -q "apparmor=\"$1\".* profile=\"virt-seed-maker\"" <<<"$output"
}

@test "the profile is loaded and enforced" {
    run -0 on_host aa-status --json
    jq -e '.profiles["virt-seed-maker"] == "enforce"' <<<"$output"
}

@test "a domain with a request starts and ends, and nothing is denied" {
    metadata="<ci:cloud-init xmlns:ci='$namespace'><ci:user-data>#cloud-config
timezone: UTC
</ci:user-data></ci:cloud-init>" tiny_xml web1 $web1 | on_host virsh define /dev/stdin
    # The same program wires it.
    on_host virt-seed start --no-wait web1
    run -0 on_host virt-seed inspect /run/libvirt/virt-seed/$web1.iso
    [[ $output = *'user-data: '*cloud-config* ]]
    on_host virsh destroy web1
    assert_no_denials
}

@test "the hook's maker runs under the profile" {
    add_rule 'audit /usr/share/zoneinfo/** r,'
    on_host virsh start web1
    on_host virsh destroy web1
    assert_logged AUDIT
    assert_no_denials
    add_rule 'audit deny /usr/share/zoneinfo/** r,'
    on_host virsh start web1
    on_host virsh destroy web1
    assert_logged DENIED
    add_rule ''
}

# as_maker APPLET [ARGUMENT…]: runs it in the maker's place.
as_maker() {
    # shellcheck disable=SC2016  # the variables are the inner shell's
    on_host unshare --mount bash -c 'mount --bind "$1" "$2" && exec -a "$3" "$2" "${@:4}"' bash \
        "$busybox" "$maker" "$@"
}

@test "what opens, connects, starts, signals or changes anything is denied to the maker" {
    local row rows=(
        'cat /etc/hostname'
        'cat /etc/virt-seed/virt-seed.conf'
        'ls /run/libvirt'
        'nc -w 5 127.0.0.1 22'
        'kill -0 1'
        'env true'
        'touch /tmp/planted'
        'chown 1 /root/planted'
    )

    on_host touch /root/planted
    run -0 as_maker echo here
    [[ $output = here ]]
    for row in "${rows[@]}"; do
        # shellcheck disable=SC2086  # words
        if [[ $row != chown* ]]; then
            on_host $busybox $row </dev/null >/dev/null
        fi
        on_host rm -f /tmp/planted
        on_host dmesg --clear
        # shellcheck disable=SC2086
        run ! as_maker $row </dev/null
        echo "$row: $output"
        assert_logged DENIED
    done
    run ! on_host test -e /tmp/planted
    on_host dmesg --clear
}
