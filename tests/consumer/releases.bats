#!/usr/bin/env bats
# releases.bats: cloud-init understands each request that golden cases and examples make, and the documents
# of documents.yaml, alone and among others; and the cloud-inits of all releases of Debian understand the
# same. What differs is in known-differences, with its reason.
# shellcheck disable=SC2016  # what looks like a shell's variable is a hash

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

eval "consumer_$(declare -f setup_file)"

# All seeds are made once, and each cloud-init reads them in one go.
setup_file() {
    local name

    consumer_setup_file || return
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true seeds=$BATS_FILE_TMPDIR/seeds
    BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
    mkdir "$seeds"
    seeds_of_requests && seeds_of_documents || return
    for name in bullseye bookworm trixie sid; do
        if [[ -e $consumer/$name/manifest ]]; then
            "$consumer/$name/python3" -B "$BATS_TEST_DIRNAME/read-seed.py" "$consumer/$name/root" \
                "$name.json" "$seeds"/* 2>&1 || return
        fi
    done
}

seeds_of_requests() {
    local file

    for file in "$top_srcdir"/tests/golden/dump/*/in.xml; do
        cd "${file%/*}" && make_case_root && seed_of_request "case-$(basename "$PWD")" "$file" || return
    done
    # Without what the last case has left.
    rm -rf "$root"
    make_host_of_examples
    export host_of_examples=$root
    for file in "$top_srcdir"/xml/examples/*.xml; do
        seed_of_request "example-$(basename "$file" .xml)" "$file" || return
    done
}

# What would be served has the same documents as a disk (net.bats).
seed_of_request() {
    make_seed "$seeds/$1" --root="$root" < <(to_build <"$2" | sed 's/ datasource="nocloud-net"//')
}

# Each of them alone, and in company.
seeds_of_documents() {
    local name document begin end

    begin=$(piece $'#cloud-config\ndisable_ec2_metadata: true\n')
    end=$(piece $'#!/bin/sh\necho company\n')
    make_root
    while read -r name document; do
        document="<ci:user-data encoding='base64'>$document</ci:user-data>"
        seed_of_document "alone-$name" "$document" &&
            seed_of_document "company-$name" "$begin$document$end" || return
    done < <(cloud_init_python -c 'import base64, sys, yaml
for name, document in yaml.safe_load(sys.stdin).items():
    data = document if isinstance(document, bytes) else document.encode()
    print(name, base64.b64encode(data).decode())' <"$BATS_TEST_DIRNAME/documents.yaml")
}

# Without the reporter, which is a piece, too.
seed_of_document() {
    make_seed "$seeds/$1" < <(domain_xml "$2" | sed "s|<ci:cloud-init |&report='no' |")
}

piece() {
    echo "<ci:user-data encoding='base64'>$(printf %s "$1" | base64 -w 0)</ci:user-data>"
}

# Except for system_info in vendor-data, which is deprecated, but the only place for the name of a default user
# that a list of users in user-data overrides.
@test "cloud-init understands every golden case and every example" {
    local failed=0

    for answer in "$seeds"/{case,example}-*/"$release.json"; do
        # For another program than cloud-init.
        [[ $answer != */example-raw/* ]] || continue
        if ! understood '.claimed and (.datasource | contains("/dev/sr0"))' true ||
            ! no_complaint 'system_info:  Deprecated in version 24.2'; then
            echo "failed: $answer"
            failed=1
        fi
    done
    [[ $failed -eq 0 ]]
}

# what_came ANSWER: of a document, without what the company has brought.
what_came() {
    jq -S '{aborted, config: (.["user-config"] | objects | del(.disable_ec2_metadata)), files, users, hostname,
        scripts: ([.scripts[]?] - ["#!/bin/sh\necho company\n"] | sort), boothooks: [.boothooks[]?],
        ran: (.ran | length), warnings: .warnings | length, schema: .["schema-errors"]}' "$1"
}

@test "a document means the same alone and in company" {
    local folder name file failed=0

    for folder in "$seeds"/alone-*; do
        name=${folder##*/alone-}
        for file in "$folder"/*.json; do
            if ! diff -u --label alone --label company <(what_came "$file") \
                <(what_came "$seeds/company-$name/${file##*/}"); then
                echo "failed: $name in Debian $(basename "$file" .json)"
                failed=1
            fi
        done
    done
    [[ $failed -eq 0 ]]
}

# Before 22.2, cloud-init ignores root's (virt-seed-xml(5)).
@test "each cloud-init gets the hashes of stored passwords" {
    local file

    for file in "$seeds"/example-passwords/*.json; do
        jq -e '.["user-config"].password == "$6$salt$user"
            and .users.debian.hashed_passwd == "$6$salt$user" and .users.debian.default
            and .["user-config"].chpasswd.users == [{name: "root", password: "$6$salt$root", type: "hash"}]' "$file"
    done
}

# guest_says FOLDER ANSWER: what the host makes of what the guest has taken.
guest_says() {
    local boot=0d1f5f3a-6a4b-4b5e-9a53-0b5c9d1f7a10 uuid

    uuid=$(xmllint --xpath 'string(/domain/uuid)' "$1/domain.xml")
    jq -c --arg boot "$boot" '{"virt-seed": 1, $boot, taken, status: {v1: {}}, result: {v1: {errors: []}}}' \
        "$2" >"$root/var/log/libvirt/virt-seed/$uuid.report" &&
        hook-in-root --root="$root" web1 release end - <"$1/domain.xml" &&
        virt-seed --root="$root" pending --json "$1/domain.xml" |
        jq -r '.["guest-says"] | .seed + (.reason // "" | if . == "" then . else ": " + . end)'
}

# bats test_tags=native
@test "each cloud-init takes what the host has delivered, and the reporter tells so" {
    local folder file says failed=0

    # With the host key that is in the seed.
    root=$host_of_examples
    mkdir -p "$root/var/log/libvirt/virt-seed"
    for folder in "$seeds"/example-*; do
        # Most of them are one domain, which may be done.
        rm -f "$root"/var/lib/virt-seed/*.json
        hook-in-root --root="$root" web1 prepare begin - <"$folder/domain.xml"
        hook-in-root --root="$root" web1 started begin - <"$folder/domain.xml"
        for file in "$folder"/*.json; do
            says=$(guest_says "$folder" "$file")
            [[ $says = applied ]] || { echo "${folder##*/} ${file##*/}: $says"; failed=1; }
        done
    done
    [[ $failed -eq 0 ]]
}

# need RELEASE...
need() {
    local name

    for name; do
        [[ -e $consumer/$name/manifest ]] || skip "the cloud-init of Debian $name is not in '$consumer'"
    done
}

# agree OLD NEW
agree() {
    need "$@"
    cloud_init_python "$BATS_TEST_DIRNAME/compare.py" "$BATS_TEST_DIRNAME/known-differences" "$@" "$seeds"/*
}

@test "Debian 12's cloud-init understands what Debian 11's does" {
    agree bullseye bookworm
}

@test "Debian 13's cloud-init understands what Debian 12's does" {
    agree bookworm trixie
}

@test "unstable's cloud-init understands what Debian 13's does" {
    need_known_unstable
    agree trixie sid
}

# A new version there is nobody's fault: what it does differently is looked at, and becomes known.
need_known_unstable() {
    local version

    version=$(sed -n 's/^cloud-init=//p' "$consumer/sid/manifest" 2>/dev/null) || :
    grep -qx "# sid: cloud-init $version" "$BATS_TEST_DIRNAME/known-differences" ||
        skip "unstable's cloud-init, '$version', is not the one of known-differences"
}

# can WHAT SEED RENDERER REGEX: a row of the manual's table: in which release the renderer writes such a line.
can() {
    local name row=$1

    for name in bullseye bookworm trixie sid; do
        row+=$'\t'$(jq -r --arg renderer "$3" --arg regex "$4" '[.network[$renderer] // {} | .[] |
            select(test($regex))] | if . == [] then "no" else "yes" end' "$seeds/$2/$name.json")
    done
    echo "$row"
}

@test "the manual says what each cloud-init can do" {
    local name static=case-network-interfaces-static bond=case-configdrive-network-bond

    need bullseye bookworm trixie sid
    need_known_unstable
    {
        printf 'cloud-init'
        for name in bullseye bookworm trixie sid; do
            sed -nE 's/^cloud-init=([0-9]+\.[0-9]+).*/\t\1/p' "$consumer/$name/manifest" | tr -d '\n'
        done
        echo
        can 'nics without a name, eni' $static eni 'iface eth0 '
        can 'nics without a name, sysconfig' case-network-interfaces sysconfig 'DEVICE=eth0'
        can 'IPv6 default gateway, eni' $static eni 'inet6 (route add )?default'
        can 'IPv6 default gateway, networkd' $static networkd 'Destination=::/0'
        can 'IPv6 default gateway, sysconfig' $static sysconfig 'IPV6_DEFAULTGW=fe80::1'
        can 'metrics of routes, eni' $static eni 'metric 50'
        can 'metrics of routes, networkd' $static networkd 'Metric=50'
        can 'bonds of a ConfigDrive, NetworkManager' $bond network-manager 'mode=active-backup'
        can 'bonds of a ConfigDrive, networkd' $bond networkd 'Mode=active-backup'
    } >"$BATS_TEST_TMPDIR/table"
    diff -u --label 'what they can do' --label manual "$BATS_TEST_TMPDIR/table" - < <(
        sed -n '/^\.SS What older guests can do$/,/^\.TE$/{s/\\-/-/g;/\t/p}' "$top_srcdir/docs/virt-seed-xml.5")
}
