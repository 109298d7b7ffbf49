#!/usr/bin/env bats
# network-documents.bats: what check and the start say of network documents. The table is tests/network-documents;
# check-consumer asks cloud-init whether it is right.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    make_root
    cd "$BATS_TEST_TMPDIR" || return
}

# of_document NAME: the wired domain with that document, which is the standard input.
of_document() {
    local datasource=nocloud nics

    [[ $1 != data-* ]] || datasource=configdrive
    nics="<interface type='user'><mac address='52:54:00:00:00:0a'/></interface>"
    nics+="<interface type='user'><mac address='52:54:00:00:00:0b'/></interface>"
    domain_xml "<ci:network-config encoding='base64'>$(base64 -w 0)</ci:network-config>" |
        sed -e "s|<ci:cloud-init |&datasource='$datasource' |" -e "s|</devices>|$nics&|" |
        virt-seed --quiet --root="$root" wire -
}

# document NAME: the one of the table.
document() {
    awk -v name="$1" '/^--- /{found = $2 == name; next} found' "$top_srcdir/tests/network-documents"
}

@test "check says of each network document what the table says" {
    local name verdict found failed=0 count=0

    while read -r _ name verdict _; do
        document "$name" | of_document "$name" >domain.xml
        found=$(virt-seed --root="$root" check --no-schema --json domain.xml |
            jq -r '.findings | if any(.severity == "error") then "error" else [.[].id] |
                unique - ["yaml-value", "yaml-type", "nic-missing", "inline-secret", "user-network"] | join(" ") end') || :
        count=$((count + 1))
        if [[ ${found:-fine} != "$verdict" ]]; then
            echo "$name: '$found' instead of '$verdict'"
            failed=1
        fi
    done < <(grep '^--- ' "$top_srcdir/tests/network-documents")
    [[ $failed -eq 0 && $count -gt 80 ]]
}

# guest_reads: the wired domain's network document, which is the standard input, as the guest gets it.
guest_reads() {
    of_document v2 >domain.xml
    virt-seed --root="$root" dump domain.xml network-config
}

@test "the MAC that is written in lower case is the value, not a name, and none is left out" {
    run -0 guest_reads <<'END'
{network: {version: 2, ethernets: {
  "52:54:00:AA:BB:CC": {match: {macaddress: "52:54:00:AA:BB:CC"}},
  e1: {match: {macaddress: "52:54:00:AA:BB:C\x44"}},
  e2: {match: {macaddress: "52:54:00:AA:BB:CE"}, dhcp4: true}}}}
END
    jq -e '.ethernets | keys[0] == "52:54:00:AA:BB:CC" and .[keys[0]].match.macaddress == "52:54:00:aa:bb:cc" and
        ."e2".match.macaddress == "52:54:00:aa:bb:ce"' <<<"$output"
}

@test "what is written anew without its wrapping is YAML that the guest reads" {
    guest_reads >out <<'END'
{network: {version: 2, wifis: {w0: {dhcp4: true, access-points: {"a\x7fb": {password: "x\x85y\u2028z"}}}}}}
END
    run ! grep -qP '\x7f|\xc2\x85|\xe2\x80\xa8' out
    jq -e '.wifis.w0["access-points"] == {"a\u007fb": {password: "x\u0085y\u2028z"}}' out
}
