#!/usr/bin/env bats
# net.bats: domains without a disk for their seed, whose documents the hook publishes for the metadata
# server: the URL in the serial, and what is published when.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own
# shellcheck disable=SC2030,SC2031  # each test is a process

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

interface="<interface type='user'><mac address='52:54:00:00:00:01'/></interface>"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    tree=$seeds/imds
    make_server
    net_xml >unwired.xml
    virt-seed --quiet --root="$root" wire unwired.xml >wired.xml
}

# net_xml [REQUEST]
net_xml() {
    domain_xml "$@" | sed -e "s|<ci:cloud-init |&datasource='nocloud-net' |" \
        -e "s|</devices>|$interface</devices>|"
}

# wired_net_xml [REQUEST]
wired_net_xml() {
    net_xml "$@" | virt-seed --quiet --root="$root" wire -
}

# refuses_start FILE PATTERN...: as assert_start_refused, and no file is left.
refuses_start() {
    assert_start_refused "$@"
    [[ ! -e $tree/$uuid && ! -e $seeds/$uuid.iso ]]
    # No message has a token.
    run ! grep -E '[0-9a-f]{32}/' <<<"$stderr"
}

# url FILE: prints the address, the UUID and the token of the URL in the domain's serial.
url() {
    sed -n 's|.*ds=nocloud;dsmode=net;s=http://\([^/]*\)/\([^/]*\)/\([^/]*\)/<.*|\1 \2 \3|p' "$1"
}

token() {
    url "$1" | cut -d ' ' -f 3
}

# --- the URL ----------------------------------------------------------------------------------

@test "the URL has the domain's UUID and a token of 128 random bits" {
    read -r address id token < <(url wired.xml)
    [[ $address = "$imds_address" && $id = "$uuid" && $token =~ ^[0-9a-f]{32}$ ]]
    # Of 16 tokens, none but by chance, once in 2^55 runs, has a digit that never varies.
    tokens=$token
    for _ in {2..16}; do
        wired_net_xml >other.xml
        tokens+=$'\n'$(token other.xml)
    done
    for column in {1..32}; do
        [[ $(cut -c "$column" <<<"$tokens" | sort -u | wc -l) -gt 1 ]] ||
            { printf 'digit %s is always the same:\n%s\n' "$column" "$tokens" && return 1; }
    done
}

@test "a domain keeps its token if it is wired again" {
    virt-seed --quiet --root="$root" wire wired.xml >again.xml
    cmp wired.xml again.xml
    # Also if something else is missing from the wiring.
    sed 's|<smbios mode="sysinfo"/>||' wired.xml | virt-seed --quiet --root="$root" wire - >again.xml
    [[ $(token again.xml) = "$(token wired.xml)" ]]
}

@test "a clone gets its own token" {
    sed "s|<uuid>$uuid|<uuid>$other_uuid|" wired.xml | virt-seed --quiet --root="$root" wire - >clone.xml
    read -r _ id token < <(url clone.xml)
    [[ $id = "$other_uuid" && $token != "$(token wired.xml)" ]]
}

@test "the address comes from the configuration, and a domain with another is wired again" {
    for address in 192.0.2.1 192.0.2.1:8080 '[fd00::1]' '[fd00::1]:8080'; do
        echo "imds-address = $address" >"$root$confdir/virt-seed.conf"
        virt-seed --root="$root" wire --verbose wired.xml >again.xml 2>said
        assert_wired_to "$address"
    done
    refuses_start wired.xml 'not wired' "http://$imds_address/$uuid/…/" "http://[fd00::1]:8080/$uuid/…/"
    rm "$root$confdir/virt-seed.conf"
    refuses_start again.xml 'not wired' "changed to 'ds=nocloud;dsmode=net;s=http://169.254.169.254/$uuid/…/'"
}

assert_wired_to() {
    [[ $(url again.xml) = "$1 $uuid $(token wired.xml)" ]]
    grep -qF "changed to 'ds=nocloud;dsmode=net;s=http://$1/$uuid/…/'" said
}

@test "refuses a malformed address in the configuration" {
    for address in host.example.org 192.0.2.256 '192.0.2.1:' 192.0.2.1:0 192.0.2.1:65536 fd00::1 \
        '[fd00::1' '[192.0.2.1]' 192.0.2.1/x '192.0.2.1;x' http://192.0.2.1 '::1' 127.0.0.1 ''; do
        echo "imds-address = $address" >"$root$confdir/virt-seed.conf"
        run virt-seed --root="$root" wire unwired.xml
        assert_refused 1 "imds-address is '$address', expected ADDRESS or ADDRESS:PORT that guests can reach, with [ADDRESS] for IPv6; not a host name"
    done
}

@test "keeps the URL's address if the configuration cannot be read" {
    echo 'no setting' >"$root$confdir/virt-seed.conf"
    lifecycle wired.xml prepare
    [[ -e $tree/$uuid/meta-data ]]
}

@test "unset removes the URL, and the next one differs" {
    virt-seed --quiet unset --wiring-only wired.xml >unset.xml
    diff <(xmllint --c14n unwired.xml) <(xmllint --c14n unset.xml)
    virt-seed --quiet wire unset.xml >again.xml
    [[ $(token again.xml) != "$(token wired.xml)" ]]
}

@test "no message contains a token" {
    run -0 --separate-stderr virt-seed --root="$root" wire --verbose unwired.xml
    [[ $stderr == *"s=http://"* ]]
    run ! grep -E '[0-9a-f]{32}' <<<"$stderr"
    run virt-seed --root="$root" unset --verbose --wiring-only -o unset.xml wired.xml
    [[ $output == *"s=http://"* ]]
    run ! grep -E '[0-9a-f]{32}' <<<"$output"
    sed -i "s|$uuid/|$other_uuid/|" wired.xml
    run virt-seed --root="$root" check --no-schema wired.xml
    [[ $output == *"changed to"* ]]
    run ! grep -F "$(token wired.xml)" <<<"$output"
    # Also a URL that somebody has written as part of another word.
    sed "s|dsmode=net;||" wired.xml >foreign.xml
    run virt-seed --root="$root" check --no-schema foreign.xml
    assert_said "has 'ds=nocloud;s=http://$imds_address/"
    run ! grep -E '[0-9a-f]{32}' <<<"$output"
    run virt-seed --root="$root" wire --verbose --replace -o replaced.xml foreign.xml
    assert_said "'ds=nocloud;s=http://$imds_address/$other_uuid/…/' removed"
    run ! grep -E '[0-9a-f]{32}' <<<"$output"
}

# --- a boot -----------------------------------------------------------------------------------

@test "prepare publishes the documents and makes no disk" {
    lifecycle wired.xml prepare
    [[ $(ls "$seeds") = imds ]]
    for document in meta-data user-data vendor-data; do
        virt-seed --root="$root" dump wired.xml $document | cmp - "$tree/$uuid/$document"
    done
    [[ $(<"$tree/$uuid/access") = "$(token wired.xml)"$'\n52:54:00:00:00:01 user' ]]
}

@test "only the directory's group can read what is published" {
    if [[ $EUID -eq 0 ]]; then
        chgrp 65534 "$tree"
    fi
    lifecycle wired.xml prepare
    [[ $(stat -c '%a %g' "$tree/$uuid") = "750 $(stat -c %g "$tree")" ]]
    [[ $(stat -c '%a %g' "$tree/$uuid"/{access,user-data} | sort -u) = "640 $(stat -c %g "$tree")" ]]
}

@test "release empties the tree, of this domain only" {
    mkdir "$tree/$other_uuid"
    lifecycle wired.xml prepare
    lifecycle wired.xml release end
    [[ $(ls "$tree") = "$other_uuid" ]]
    lifecycle wired.xml release end
}

@test "release empties the tree of a domain that has a disk now" {
    lifecycle wired.xml prepare
    wired_xml >disk.xml
    lifecycle disk.xml release end
    [[ ! -e $tree/$uuid ]]
}

@test "release removes what a killed start left" {
    lifecycle wired.xml prepare
    cp -R "$tree/$uuid" "$tree/$uuid.new.0123abcd"
    rm -r "${tree:?}/$uuid"
    lifecycle wired.xml release end
    [[ $(ls "$tree") = mac || $(ls "$tree") = '' ]]
}

@test "release removes the seed's disk even if the server's directory is wrong" {
    wired_xml >disk.xml
    lifecycle disk.xml prepare
    chmod 0777 "$tree"
    mkdir "$tree/$uuid.new.0123abcd"
    run hook-in-root --root="$root" web1 release end - <disk.xml
    assert_refused 1 'others may write to it'
    [[ ! -e $seeds/$uuid.iso ]]
    # A domain is told nothing about the files of another.
    mv "$tree/$uuid.new.0123abcd" "$tree/$other_uuid"
    chmod 0755 "$tree"
    lifecycle disk.xml prepare
    chmod 0777 "$tree"
    lifecycle disk.xml release end
}

@test "a start without a URL removes what was served before" {
    lifecycle wired.xml prepare
    echo 'unwired = warn' >>"$root$confdir/virt-seed.conf"
    lifecycle unwired.xml prepare
    [[ ! -e $tree/$uuid ]]
}

@test "a start with a disk removes what was served before" {
    lifecycle wired.xml prepare
    wired_xml >disk.xml
    lifecycle disk.xml prepare
    [[ ! -e $tree/$uuid && -e $seeds/$uuid.iso ]]
}

@test "a start with a served seed removes the image of an earlier start" {
    wired_xml >disk.xml
    lifecycle disk.xml prepare
    lifecycle wired.xml prepare
    [[ -e $tree/$uuid && ! -e $seeds/$uuid.iso ]]
}

@test "the documents contain the host's secrets and files" {
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    wired_net_xml '<ci:user-data secret="web1"/>' >secret.xml
    lifecycle secret.xml prepare
    grep -q hunter2 "$tree/$uuid/user-data"
}

@test "a guest that is done gets only its identity" {
    local attribute="s|<ci:cloud-init |&boots='until-done' |"

    net_xml '<ci:user-data>#cloud-config
{}</ci:user-data>' | sed "$attribute" | virt-seed --quiet --root="$root" wire - >done.xml
    virt-seed --root="$root" 'done' done.xml
    lifecycle done.xml prepare
    [[ ! -s $tree/$uuid/user-data ]]
    grep -q "$uuid" "$tree/$uuid/meta-data"
}

@test "records what a served domain boots with, except when it is resumed" {
    local record=$root$statedir/$uuid.json

    lifecycle wired.xml prepare
    lifecycle wired.xml started
    jq -e --arg uuid "$uuid" '.boot | .datasource == "nocloud-net" and has("label") == false and
        .["instance-id"] == $uuid' "$record"
    for document in meta-data user-data vendor-data; do
        [[ $(jq -r ".boot.documents[\"$document\"]" "$record") = \
            *"$(sha256sum <"$tree/$uuid/$document" | cut -d ' ' -f 1)" ]]
    done
    [[ $(jq '.boot.documents | length' "$record") -eq 3 ]]
    cp "$record" before.json
    lifecycle wired.xml release end
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    lifecycle wired.xml started
    [[ $(jq .boot "$record") = "$(jq .boot before.json)" ]]
}

# --- refusals ---------------------------------------------------------------------------------

@test "refuses a cold boot of an unwired domain" {
    refuses_start unwired.xml 'not wired for it yet' 'virt-seed wire'
}

@test "unwired = warn lets an unwired domain start and publishes nothing" {
    echo 'unwired = warn' >>"$root$confdir/virt-seed.conf"
    lifecycle unwired.xml prepare
    [[ $(ls "$tree") = '' ]]
}

# refuses_start_and_check FILE SENTENCE HINT: so does check, in the same words.
refuses_start_and_check() {
    refuses_start "$@"
    run -1 virt-seed --root="$root" check --no-schema "$1"
    assert_said ': error: ' "$2" $'\n  hint: ' "$3"
    [[ $(wc -l <<<"$output") -eq 2 ]]
}

@test "refuses a start without the server's directory" {
    rmdir "$tree"
    refuses_start_and_check wired.xml "there is no metadata server: $rundir/imds does not exist" \
        'systemd-sysusers && systemd-tmpfiles --create virt-seed-imds.conf && systemctl enable --now virt-seed-imds.socket virt-seed-imds.service; or use datasource="nocloud"'
    [[ ! -e $tree ]]
    # If nobody listens either, the directory comes first.
    end_server
    refuses_start wired.xml 'there is no metadata server'
}

@test "refuses a start if the server's directory is a file, closed to its group, or another user's" {
    rmdir "$tree"
    ln -s "$BATS_TEST_TMPDIR" "$tree"
    refuses_start_and_check wired.xml "$rundir/imds is not a directory" \
        'replace it with a directory: systemd-tmpfiles --create virt-seed-imds.conf'
    rm "$tree"
    install -d -m 0700 "$tree"
    refuses_start_and_check wired.xml "$rundir/imds has mode 0700, expected 0750 with the server's group" \
        'systemd-tmpfiles --create virt-seed-imds.conf'
    chmod 0770 "$tree"
    refuses_start_and_check wired.xml "$rundir/imds has mode 0770: others may write to it" 'find out'
    [[ $EUID -eq 0 ]] || skip 'the last needs root, to make a directory that is of another user'
    chmod 0750 "$tree"
    chown 65534 "$tree"
    refuses_start_and_check wired.xml "$rundir/imds belongs to user 65534, expected 0" 'find out'
}

@test "check finds that the run-time directory and the server's in it are missing" {
    rm -r "$seeds"
    run -1 virt-seed --root="$root" check --no-schema wired.xml
    assert_said "$rundir/imds does not exist" '[metadata-server]'
    [[ ! -e $seeds ]]
}

@test "refuses a start if the server does not listen, and says what to start" {
    end_server
    refuses_start_and_check wired.xml "nothing is listening at $imds_address: the guest would come up as a new machine" \
        'systemctl enable --now virt-seed-imds.socket virt-seed-imds.service'
    # A server on all addresses is also on this one.
    coproc others { exec python3 "$top_srcdir/tests/imds/raw.py" listen "${imds_address#*:}" 0.0.0.0 3>&-; }
    read -r _ <&"${others[0]}"
    lifecycle wired.xml prepare
    run -0 virt-seed --root="$root" check --no-schema wired.xml
}

@test "refuses a start if another user listens in place of the server" {
    local address thief

    [[ $EUID -eq 0 ]] || skip 'only root can become another user'
    end_server
    for address in "${imds_address%:*}" 0.0.0.0; do
        coproc others { exec python3 - "$address" "${imds_address#*:}" 3>&- <<'END'; }
import os, socket, sys
os.setgroups([])
os.setresuid(65534, 65534, 65534)
listener = socket.socket()
listener.setsockopt(socket.SOL_IP, 15, 1)  # IP_FREEBIND: no interface has it
listener.bind((sys.argv[1], int(sys.argv[2])))
listener.listen()
print(listener.getsockname(), flush=True)
while True:
    with listener.accept()[0] as connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
END
        thief=$!
        read -r _ <&"${others[0]}"
        refuses_start_and_check wired.xml "a program of user 65534 is listening at $imds_address" \
            'find out which one it is'
        echo 'unwired = warn' >>"$root$confdir/virt-seed.conf"
        refuses_start wired.xml "a program of user 65534 is listening"
        sed -i '/^unwired/d' "$root$confdir/virt-seed.conf"
        sed "s|<ci:cloud-init |&cache='keep' |" wired.xml >keep.xml
        refuses_start_and_check keep.xml "a program of user 65534 is listening"
        kill "$thief"
        wait "$thief" || :
    done
}

@test "starts although another user listens on the port for IPv6 alone" {
    [[ $EUID -eq 0 ]] || skip 'only root can become another user'
    coproc others { exec python3 - "${imds_address#*:}" 3>&- <<'END'; }
import os, socket, sys
os.setgroups([])
os.setresuid(65534, 65534, 65534)
listener = socket.socket(socket.AF_INET6)
listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
listener.bind(("::", int(sys.argv[1])))
listener.listen()
print(listener.getsockname(), flush=True)
listener.accept()
END
    read -r _ <&"${others[0]}"
    lifecycle wired.xml prepare
    run -0 virt-seed --root="$root" check --no-schema wired.xml
    # shellcheck disable=SC2154  # coproc sets it
    kill "$others_PID"
}

@test "check asks at the address that the guest will use once it is wired" {
    local server=$imds_address

    # The last line counts, also for a domain that is wired for the old address.
    echo "imds-address = 192.0.2.2:${imds_address#*:}" >>"$root$confdir/virt-seed.conf"
    run -1 virt-seed --root="$root" check --no-schema wired.xml
    assert_said '[unwired]' "nothing is listening at 192.0.2.2:${imds_address#*:}"
    run -1 virt-seed --root="$root" check --no-schema unwired.xml
    assert_said '[unwired]' "nothing is listening at 192.0.2.2:${imds_address#*:}"
    # If the setting is not valid, the address in the wiring counts.
    echo 'imds-address = host' >"$root$confdir/virt-seed.conf"
    run -1 virt-seed --root="$root" check --no-schema wired.xml
    [[ $output != *'nothing is listening'* ]]
    end_server
    run -1 virt-seed --root="$root" check --no-schema wired.xml
    assert_said '[config]' "nothing is listening at $server"
}

@test "check reports nothing that its user may not know" {
    become_nobody
    wired_net_xml >usual.xml
    run -0 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema usual.xml
    assert_said 'no problems found'
    rmdir "$tree"
    run -1 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema usual.xml
    assert_said "$rundir/imds does not exist"
    [[ $EUID -eq 0 ]] || skip 'what its own user has closed is open to him'
    for directory in "$seeds" "${seeds%/*}"; do
        chmod 0700 "$directory"
        run -0 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema usual.xml
    done
    # The kernel tells everyone what listens.
    end_server
    run -1 "${as_nobody[@]}" virt-seed --root="$root" check --no-schema usual.xml
    assert_said "nothing is listening at $imds_address"
}

@test "starts a guest with cache=\"keep\" without the server" {
    net_xml | sed "s|<ci:cloud-init |&cache='keep' |" | virt-seed --quiet --root="$root" wire - >keep.xml
    end_server
    run -0 virt-seed --root="$root" check --no-schema keep.xml
    assert_said 'warning: ' "nothing is listening at $imds_address" 'unless it has cached its seed' '[nobody-listens]'
    lifecycle keep.xml prepare
    [[ -e $tree/$uuid/meta-data ]]
}

@test "unwired = warn reverts to a running snapshot without the server" {
    end_server
    echo 'unwired = warn' >>"$root$confdir/virt-seed.conf"
    run -0 virt-seed --root="$root" check --no-schema wired.xml
    assert_said 'warning: ' "nothing is listening at $imds_address" 'starts nevertheless' '[nobody-listens]'
    lifecycle wired.xml prepare
    [[ -e $tree/$uuid/meta-data ]]
}

@test "resumes a guest even if the documents served before cannot be removed" {
    lifecycle wired.xml prepare
    wired_xml >disk.xml
    chmod 0777 "$tree"
    lifecycle disk.xml restore
    lifecycle disk.xml prepare
    [[ -e $seeds/$uuid.iso ]]
}

@test "accepts a server at an address that no interface has yet" {
    local address=198.51.100.2:${imds_address#*:}

    end_server
    echo "imds-address = $address" >"$root$confdir/virt-seed.conf"
    wired_net_xml >elsewhere.xml
    refuses_start elsewhere.xml "nothing is listening at $address"
    coproc others { exec python3 "$top_srcdir/tests/imds/raw.py" listen "${address#*:}" "${address%:*}" 3>&-; }
    read -r _ <&"${others[0]}"
    lifecycle elsewhere.xml prepare
}

@test "finds that nobody listens on IPv6, too" {
    echo "imds-address = [2001:db8::1]:${imds_address#*:}" >"$root$confdir/virt-seed.conf"
    wired_net_xml >elsewhere.xml
    refuses_start elsewhere.xml "nothing is listening at [2001:db8::1]:${imds_address#*:}"
}

# clone_xml: prints a wired domain that has another's URL, and nothing else of another's.
clone_xml() {
    net_xml | sed "s|<ci:cloud-init |&report='no' |" | virt-seed --quiet --root="$root" wire - |
        sed "s|<uuid>$uuid|<uuid>$other_uuid|"
}

@test "refuses a domain with another's URL besides its own, in either order" {
    local own another order

    own=$(sed -n 's|.*\(ds=nocloud;[^<]*\)<.*|\1|p' wired.xml)
    another=${own/$uuid/$other_uuid}
    echo 'unwired = warn' >>"$root$confdir/virt-seed.conf"
    for order in "$own $another" "$another $own"; do
        sed "s|$own|$order|" wired.xml >both.xml
        refuses_start both.xml "not wired"
        lifecycle both.xml restore
        refuses_start both.xml "another domain's seed"
    done
}

@test "refuses a clone with the URL of its original" {
    clone_xml >clone.xml
    echo 'unwired = warn' >>"$root$confdir/virt-seed.conf"
    refuses_start clone.xml "changed to" "$other_uuid/…/"
    [[ $(ls "$tree") = '' ]]
}

@test "refuses a domain with the URL but without a request" {
    sed '/<ci:cloud-init/d' wired.xml >unasked.xml
    refuses_start unasked.xml "has virt-seed's address" 'virt-seed unset web1'
}

@test "refuses a domain with another's URL and without a request" {
    clone_xml | sed '/<ci:cloud-init/d' >unasked.xml
    refuses_start unasked.xml "has another domain's seed" 'virt-seed unset web1'
    virt-seed --quiet unset unasked.xml >unset.xml
    lifecycle unset.xml prepare
}

@test "tells a snapshot from before the wiring from an unwired domain" {
    mkdir -p "$root$definitions"
    cp wired.xml "$root$definitions/web1.xml"
    refuses_start unwired.xml 'its definition is wired' 'unwired = warn'
    # A domain with another address is not a snapshot's.
    echo 'imds-address = 192.0.2.1' >"$root$confdir/virt-seed.conf"
    echo 'autowire = no' >>"$root$confdir/virt-seed.conf"
    refuses_start wired.xml 'virt-seed wire web1 && virsh start web1'
}

@test "a request with a mistake leaves nothing published" {
    wired_net_xml '<ci:user-data>no header</ci:user-data>' >mistake.xml
    refuses_start mistake.xml 'user-data'
}

@test "build says that there is no image of a served seed" {
    run virt-seed build -o seed.iso wired.xml
    assert_refused 1 'datasource="nocloud-net" has no image' 'virt-seed dump'
    [[ ! -e seed.iso ]]
}

# --- a resumed start --------------------------------------------------------------------------

@test "publishes the same bytes after restore" {
    lifecycle wired.xml prepare
    cp -R "$tree/$uuid" first
    lifecycle wired.xml release end
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    diff -r first "$tree/$uuid"
}

@test "resumes a guest without a server" {
    end_server
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    [[ -e $tree/$uuid/meta-data ]]
    lifecycle wired.xml release end
    rmdir "$tree"
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    [[ ! -e $tree ]]
}

@test "refuses to resume a guest with another's URL" {
    clone_xml >clone.xml
    lifecycle clone.xml restore
    refuses_start clone.xml "another domain's seed" 'the serial'
}

@test "ignores a resumed guest that was not wired" {
    lifecycle unwired.xml restore
    lifecycle unwired.xml prepare
    [[ $(ls "$tree") = '' ]]
}
