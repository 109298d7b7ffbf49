# shellcheck shell=bats disable=SC2034,SC2154  # variables for those that source this, and of bats
# consumer.bash: lets the real cloud-init read the seed of a domain, and looks at its answer. It is the
# cloud-init of this system's release of Debian.
#
#   cloud_init_python ARGUMENT...      runs python3 with the modules of cloud-init
#   make_seed FOLDER [--root=DIR] <DOMAIN.XML
#                                      the domain is wired, and its seed made; both are in the folder
#   consume [--root=DIR] <DOMAIN.XML   the domain is wired, its seed made and read; the answer,
#                                      JSON as read-seed.py prints it, is in the file $answer
#   consume_request [BODY] [ATTRIBUTES]
#                                      the same for a domain that asks so, with the NICs $mac0 and
#                                      $mac1, and the files below $root
#   understood FILTER JSON             what the jq filter finds in the answer
#   understood_text FILTER TEXT        the same, for a string
#   yaml_to_json                       a filter: what cloud-init's YAML makes of a document
#   no_complaint [TEXT...]             cloud-init warned of nothing but, perhaps, these; its schema has
#                                      no error, and each of its network renderers succeeds
#   renders RENDERER FILE LINE...      the renderer writes the file with these lines, among others;
#                                      so do networkd NIC LINE..., sysconfig FILE LINE..., eni
#                                      LINE..., network_manager NIC LINE...
#   netplan_has JSON                   what netplan's document says

# shellcheck source-path=SCRIPTDIR source=../functional/common.bash
source "$BATS_TEST_DIRNAME/../functional/common.bash"

consumer=${VIRT_SEED_CONSUMER:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/virt-seed/cloud-init}
# shellcheck source=/dev/null
release=$(source "$top_srcdir/scripts/packages.bash" && packages_release)
answer=$BATS_TEST_TMPDIR/answer.json
mac0=52:54:00:00:00:0a
mac1=52:54:00:00:00:0b
key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx alice@example.org'

setup_file() {
    local tool

    if [[ ! -e $consumer/$release/manifest ]]; then
        echo "there is no cloud-init in '$consumer/$release': run scripts/fetch-cloud-init, or name" \
            "its folder in VIRT_SEED_CONSUMER" >&2
        return 1
    fi
    for tool in blkid jq xmllint xorriso /usr/bin/python3; do
        if ! type -P "$tool" >/dev/null; then
            echo "the program '$tool' is missing" >&2
            return 1
        fi
    done
}

setup() {
    make_root
}

cloud_init_python() {
    "$consumer/$release/python3" -B "$@"
}

make_seed() {
    local folder=$1

    shift
    mkdir -p "$folder"
    virt-seed --quiet wire - >"$folder/domain.xml" || return
    # libvirt keeps no comment before <domain>.
    sed -i -n '/^<domain/,$p' "$folder/domain.xml"
    # The first start makes the host key that build puts into the seed.
    if grep -q 'ssh-host-keys=.generate' "$folder/domain.xml"; then
        hook-in-root "$@" web1 prepare begin - <"$folder/domain.xml" || return
    fi
    virt-seed --quiet "$@" build --force -o "$folder/seed.iso" "$folder/domain.xml"
}

consume() {
    make_seed "$BATS_TEST_TMPDIR" "$@" &&
        cloud_init_python "$BATS_TEST_DIRNAME/read-seed.py" "$consumer/$release/root" \
            answer.json "$BATS_TEST_TMPDIR"
}

consume_request() {
    local nics="<interface type='user'><mac address='$mac0'/></interface>"

    nics+="<interface type='user'><mac address='$mac1'/><alias name='ua-lan'/></interface>"
    domain_xml "${1-}" |
        sed -e "s|<ci:cloud-init |&${2-} |" -e "s|</devices>|$nics&|" |
        consume --root="$root"
}

yaml_to_json() {
    cloud_init_python -c \
        'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'
}

understood() {
    diff -u --label expected --label understood <(jq -S . <<<"$2") <(jq -S "$1" "$answer")
}

understood_text() {
    understood "$1" "$(jq -n --arg text "$2" '$text')"
}

no_complaint() {
    local known

    # shellcheck disable=SC2016  # jq's variable
    known=$(jq -cn '$ARGS.positional' --args "$@")
    understood ".warnings + .[\"schema-errors\"] |
            map(select(. as \$warning | $known | any(.[]; . as \$known | \$warning |
                contains(\$known)) | not))" '[]' &&
        understood '[.network.error, (.network | objects | .[] | objects | .error)] |
            map(select(. != null))' '[]'
}

# --- the network ------------------------------------------------------------------------------

renders() {
    local renderer=$1 file=$2 text

    shift 2
    text=$(jq -r --arg file "$file" ".network[\"$renderer\"][\$file] // \"no such file\"" "$answer")
    has_lines "$renderer, $file" "$text" "$@"
}

# has_lines WHAT TEXT LINE...
has_lines() {
    local line

    for line in "${@:3}"; do
        if ! grep -qxF -e "$line" <<<"$2"; then
            printf "%s: no line '%s' in:\n%s\n" "$1" "$line" "$2"
            return 1
        fi
    done
}

networkd() {
    renders networkd "etc/systemd/network/10-cloud-init-$1.network" "${@:2}"
}

sysconfig() {
    renders sysconfig "etc/sysconfig/network-scripts/$1" "${@:2}"
}

eni() {
    renders eni etc/network/interfaces.d/50-cloud-init "$@"
}

# The file has the NIC's name or, from 24.1 on, that of its part of the configuration.
network_manager() {
    local mac=mac${1#eth}

    has_lines "network-manager, $1" "$(jq -r --arg name "/cloud-init-$1.nmconnection" \
        --arg mac "mac-address=${!mac^^}" '.network["network-manager"] | to_entries |
            map(select((.key | endswith($name)) or (.value | contains($mac)))) |
            .[0].value // "no such file"' "$answer")" "${@:2}"
}

netplan_has() {
    jq -r '.network.netplan["etc/netplan/50-cloud-init.yaml"]' "$answer" | yaml_to_json |
        jq -S .network | diff -u --label expected --label netplan <(jq -S . <<<"$1") -
}

# replace_user_data FOLDER: puts the standard input into the seed as its user-data, also what virt-seed refuses.
replace_user_data() {
    local folder=$1

    xorriso -osirrox on -indev "$folder/seed.iso" -extract / "$folder/files" 2>"$folder/log" &&
        chmod -R u+w "$folder/files" && cat >"$folder/files/user-data" && rm "$folder/seed.iso" &&
        xorriso -as mkisofs -V cidata -J -r -o "$folder/seed.iso" "$folder/files" 2>>"$folder/log"
}
