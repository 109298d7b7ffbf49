#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# page.bats: the page in Cockpit, in a real browser, with a private libvirtd.
#
# shellcheck disable=SC2034,SC2154  # variables for guest.bash, and of common.bash and session.bash
#
# page.py has what one does with it, step by step; the tests here make the domains for that, and look at what libvirt,
# the host and the guest have in the end.

bats_require_minimum_version 1.5.0

load ../libvirt/lab
load ../libvirt/domains
load ../libvirt/session
load ../../scripts/guest/guest
load common

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
web2=7c3ed0b8-6bb1-4c7e-8a0c-0f5b0e9d2a57
mac=52:54:00:12:34:56
key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org'

setup_file() {
    common_start_lab
    session_make_user
}

teardown() {
    cockpit_end_steps
    lab_reset
}

teardown_file() {
    lab_stop
}

# In a bridge that need not exist: the domains with it are not started.
nic="<interface type='bridge'><source bridge='br0'/><mac address='$mac'/></interface>"

# What the form knows of it, and what it does not.
define_web1() {
    devices=$nic metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' machine-id='per-instance'>
<!-- mine --><ci:hostname>web1.example.org</ci:hostname><ci:instance-id policy='fixed'>i-1</ci:instance-id>
<ci:user-data>
#cloud-config
timezone: Europe/Vienna
</ci:user-data>
<ci:network-config from='interfaces'><ci:interface mac='$mac' mtu='1400'><ci:address>192.0.2.10/24</ci:address>
<ci:route to='203.0.113.0/24' via='192.0.2.7'/></ci:interface></ci:network-config>
</ci:cloud-init>" domain_define web1 "$web1"
}

# element XPATH: prints what it has in web1's definition; ci: is the namespace, written as an old prefix would be.
element() {
    lab_virsh dumpxml --inactive web1 | sed 's/ xmlns:ci="[^"]*"//; s/ci:\([a-z]\)/\1/g' | xmllint --xpath "string($1)" -
}

assert_element() {
    if [[ $(element "$1") != "$2" ]]; then
        printf "%s is '%s', and not '%s'\n" "$1" "$(element "$1")" "$2"
        lab_virsh dumpxml --inactive web1
        return 1
    fi
}

# The one that also runs on a release if another has the whole ring (scripts/test).
# bats test_tags=smoke
@test "the form shows a request, and saves what was changed; all else stays" {
    define_web1
    steps shows_the_request "$web1"
    steps saves "$web1"
    assert_element //hostname www.example.org
    assert_element //ssh-authorized-keys/key "$key"
    assert_element //initialization/user_name admin
    assert_element //initialization/timezone Asia/Tokyo
    assert_element '//network-config/interface/@mac' $mac
    assert_element '//network-config/interface/@mtu' 1400
    assert_element '//network-config/interface/route/@via' 192.0.2.7
    assert_element '//network-config/interface/address[1]' 192.0.2.20/24
    assert_element '//network-config/interface/address[2]' 2001:db8::20/64
    assert_element '//network-config/interface/gateway' 192.0.2.1
    assert_element '//network-config/interface/nameserver' 192.0.2.53
    assert_element '//instance-id[@policy="fixed"]' i-1
    assert_element '//cloud-init/@machine-id' per-instance
    assert_element '//cloud-init/comment()' ' mine '
    # The seed has both documents, and the guest is wired for it.
    run -0 virt_seed dump web1 user-data
    [[ $output = *'Europe/Zurich # a < b & c'* && $output = *'- "nginx"'*'- "git"'* ]]
    [[ $(virt_seed status --json web1 | jq '(.domains? // .)[0].wired') = true ]]
}

@test "what is emptied is removed, and what the form does not know stays" {
    define_web1
    steps removes "$web1"
    assert_element '//hostname' ''
    assert_element 'count(//user-data)' 0
    assert_element 'count(//initialization)' 0
    assert_element '//network-config/interface/@mtu' 1400
    assert_element '//network-config/interface/route/@via' 192.0.2.7
    assert_element '//instance-id' i-1
}

@test "a domain without a request gets one, and is wired" {
    devices=$nic domain_define web1 "$web1"
    steps saves_into_an_empty_domain "$web1"
    assert_element //ssh-authorized-keys/key "$key"
    assert_element //network-config/interface/address 192.0.2.10/24
    [[ $(virt_seed status --json web1 | jq '(.domains? // .)[0].wired') = true ]]
}

@test "the list follows the domains, and a name is text, whatever is in it" {
    define_web1
    domain_define plain
    begin_steps list_follows
    wait_for ready
    lab_virsh start plain
    domain_define web2
    go_on
    end_steps
    domain_define '&lt;img src=x onerror=alert(1)>'
    steps names_are_text
}

@test "a finding is at its line while one types, and nothing is saved or lost" {
    local before

    devices=$nic metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:user-data>

#cloud-config
packges: [nginx]
</ci:user-data></ci:cloud-init>" domain_define web1 "$web1"
    before=$(lab_virsh dumpxml --inactive web1)
    steps finds_while_typing "$web1"
    [[ $(lab_virsh dumpxml --inactive web1) = "$before" ]]
}

@test "if somebody else has changed the request meanwhile, the page asks" {
    define_web1
    begin_steps asks_after_a_conflict "$web1"
    wait_for ready
    virt_seed set web1 --hostname theirs.example.org
    go_on
    wait_for kept
    assert_element //hostname theirs.example.org
    go_on
    end_steps
    assert_element //hostname mine.example.org
}

@test "the page asks before unsaved changes are lost" {
    define_web1
    steps asks_before_leaving "$web1"
}

@test "what is typed for a domain is saved there, also if one leaves meanwhile" {
    define_web1
    touch "$LAB_DIR/slow"
    begin_steps leaves_while_saving "$web1"
    wait_for left
    rm "$LAB_DIR/slow"
    go_on
    end_steps
    assert_element //hostname mine.example.org
    assert_element //cloud-init/@password stored
}

@test "what cannot be the name of a package is refused, and stays in the field" {
    define_web1
    steps refuses_packages "$web1"
    [[ $(virsh dumpxml "$web1") != *nginx* ]]
}

@test "a password goes to the host by standard input, and only its hash is stored" {
    local stored=$LAB_DIR/root/var/lib/virt-seed/secrets/$web1/password

    define_web1
    begin_steps stores_a_password "$web1"
    wait_for stored
    assert_element //cloud-init/@password stored
    [[ $(<"$stored") = \$6\$* ]]
    go_on
    end_steps
    assert_element //cloud-init/@password ''
    [[ ! -e $stored ]]
    # The page's commands, with their arguments.
    grep -qF -e '--password-file=-' "$LAB_DIR/commands"
    run ! grep -F 'correct horse' "$LAB_DIR/commands" "$LAB_DIR/steps.log"
}

@test "what is on the host is named, not shown, and stays" {
    lab_make_secret web1 userdata $'#cloud-config\nruncmd: [swordfish]'
    lab_make_secret team key "$key"
    lab_run sh -c 'mkdir -p /etc/virt-seed/files/site; echo "#cloud-config" >/etc/virt-seed/files/site/base.yaml'
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:user-data secret='web1'/>
<ci:vendor-data file='site/base.yaml'/><ci:ssh-authorized-keys><ci:key secret='team'/></ci:ssh-authorized-keys>
</ci:cloud-init>" domain_define web1 "$web1"
    steps shows_references "$web1"
    assert_element //hostname www.example.org
    assert_element //user-data/@secret web1
    assert_element //vendor-data/@file site/base.yaml
    assert_element //ssh-authorized-keys/key/@secret team
}

@test "the page is usable by keyboard alone" {
    define_web1
    steps with_the_keyboard "$web1"
    assert_element //hostname keyboard.example.org
}

@test "each field has a label, headings follow each other, and the page follows Cockpit's dark style" {
    define_web1
    steps has_labels "$web1"
}

@test "the page fits into 400 and 1280 pixels" {
    define_web1
    steps fits "$web1"
}

@test "with limited access one may look, and with administrative access change" {
    define_web1
    common_start_her_bus
    steps limited_access "$web1" "$home" "/run/user/$ann" "$ann"
    assert_element //hostname ann.example.org
    end_session
}

@test "a user's own session needs no administrative access" {
    begin runtime
    domain_xml mine "$web2" | her_virsh define /dev/stdin
    steps session "$web2" "$home" "/run/user/$ann" "$ann"
    [[ $(her_virsh dumpxml --inactive mine) = *mine.example.org* ]]
    end_session
}

@test "a domain starts, a running one gets its new seed, and nothing is applied before the page has asked" {
    interface=user metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'/>" domain_define web1 "$web1"
    begin_steps acts "$web1"
    wait_for updated
    [[ $(lab_virsh dumpxml web1) = *www.example.org* ]]
    go_on
    end_steps
    assert_element 'count(//instance-id)' 0
}

@test "why a start has failed is shown as the command says it" {
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:vendor-data file='site/none.yaml'/>
</ci:cloud-init>" domain_define web1 "$web1"
    virt_seed wire web1
    steps shows_why_a_start_failed "$web1"
}

# Both boot side by side.
@test "a guest is set up from the form, and one that fails shows its log" {
    local name

    [[ -n ${VIRT_SEED_GUEST-} ]] || skip 'VIRT_SEED_GUEST names no guest'
    guest_provide "$VIRT_SEED_GUEST" "$images"
    for name in web1 web2; do
        guest_overlay "$images" $name
    done
    # Neither powers off by itself, so that what it reports last is not lost.
    append=virt_seed_probe=stay
    guest_xml "$images" web1 "$web1" "$images/web1.console" </dev/null | lab_virsh define --validate /dev/stdin
    guest_xml "$images" web2 "$web2" "$images/web2.console" <<'END' | lab_virsh define --validate /dev/stdin
<ci:cloud-init xmlns:ci="urn:virt-seed:cloud-init:1"><ci:user-data>
#!/bin/sh
echo could not resolve the host
exit 1
</ci:user-data></ci:cloud-init>
END
    begin_steps sets_up_a_guest "$web1"
    virt_seed start --no-wait web2
    steps follows_a_failure "$web2"
    end_steps
    wait_until "$boot_seconds" guest_has_reported "$images/web1.console"
    run -0 guest_report "$images/web1.console"
    [[ $output = *www.example.org* && $output = *10.0.2.99/24* && $output = *"$key"* ]]
}
