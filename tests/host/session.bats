#!/usr/bin/env bats
# session.bats: sessions of ordinary users on a whole host, with logind and AppArmor: two users at once, and root's
# domains beside them.
# shellcheck disable=SC2016  # the variables are those of the users' shells

bats_require_minimum_version 1.5.0

# shellcheck source-path=SCRIPTDIR source=host.bash
source "$BATS_TEST_DIRNAME/host.bash"

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
request="<ci:cloud-init xmlns:ci='$namespace'><ci:hostname>mine</ci:hostname></ci:cloud-init>"

setup_file() {
    if ! host_has_selinux; then
        host_start
        on_host sh -c 'useradd --create-home --uid 2001 ann && useradd --create-home --uid 2002 zoe'
    fi
}

setup() {
    host_need sessions
}

# as USER COMMAND: in a login of the user's, of which logind knows.
as() {
    on_host su --login "$1" --command "$2"
}

# define USER: the user's domain, which asks for a seed.
define() {
    metadata=$request domain_xml "$1" | as "$1" 'cat >domain.xml && virsh define domain.xml'
}

seed_of() {
    echo "/run/user/$1/libvirt/virt-seed/$(as "$2" "virsh domuuid $2" | tr -d '\n').iso"
}

@test "a user's login has a run-time directory, and root's domain runs" {
    run -0 as ann 'stat -c "%U %a" "$XDG_RUNTIME_DIR"'
    [[ $output = 'ann 700' ]]
    metadata=$request tiny_xml web1 $web1 | on_host virsh define /dev/stdin
    on_host virt-seed start --no-wait web1
    on_host test -e /run/libvirt/virt-seed/$web1.iso
}

@test "two users start domains in their sessions" {
    local user uid

    for user in ann zoe; do
        uid=$(on_host id -u "$user")
        define "$user"
        as "$user" "virt-seed start --no-wait $user"
        run -0 as "$user" "virt-seed inspect $(seed_of "$uid" "$user")"
        [[ $output = *mine* ]]
        run -0 on_host ps -o user= -C qemu-system-x86_64
        [[ $output = *"$user"* ]]
        run -0 as "$user" 'virt-seed status'
        [[ $output = *"$user"*running* && $output != *web1* ]]
    done
    run ! as ann "cat $(seed_of 2002 zoe)"
}

@test "doctor finds nothing wrong in a session" {
    run as ann 'virt-seed doctor'
    echo "$output"
    [[ $status -eq 0 && $output != *problem:* ]]
}

@test "an unwired domain of a session is refused and wired" {
    metadata=$request domain_xml other | as ann 'cat >other.xml && virsh define other.xml'
    run -1 as ann 'virsh start other'
    [[ $output = *'not wired'* || $output = *'was not wired'* || $output = *'virsh start'* ]]
    wait_until 120 as ann 'virsh dumpxml other | grep -q /run/user/2001/libvirt/virt-seed/'
    as ann 'virsh start other && virsh destroy other'
}

@test "after a log-out the domains go on, with lingering and without" {
    on_host loginctl enable-linger zoe
    # Longer than logind's UserStopDelaySec.
    on_host sleep 15
    run -0 on_host ps -o user= -C qemu-system-x86_64
    [[ $output = *ann* && $output = *zoe* ]]
    for user in ann zoe; do
        run -0 as "$user" 'virt-seed status'
        [[ $output = *"$user"*running* ]]
    done
}

@test "a session's domain that ends leaves nothing, and root's domain is as it was" {
    local user

    for user in ann zoe; do
        as "$user" "virsh destroy $user"
        run -0 as "$user" 'find "$XDG_RUNTIME_DIR/libvirt/virt-seed" -type f'
        [[ $output = '' ]]
    done
    run -0 on_host virsh domstate web1
    [[ $output = running* ]]
    on_host test -e /run/libvirt/virt-seed/$web1.iso
    assert_no_denials
}
