# shellcheck shell=bash
# manual.bash: what the manual pages show, for tests; a library to source.
#
#   manual_examples PAGE DIR [SECTION]   write each example of the page, or of one section of it, to a file
#                                        in DIR, whose name is the number of its first line in the page
#   manual_objects                       print the names of the objects in virt-seed-json(7)
#   manual_members OBJECT                print its members as JSON: each with its types
#   matches_manual OBJECT [FILTER]       each object that jq's FILTER finds in the JSON on standard input, of which
#                                        there is at least one, has exactly the page's members, of the page's
#                                        types; and the version unless there is a FILTER

manual_examples() {
    awk -v directory="$2" -v section="${3-}" '
        /^\.SH / { inside = section == "" || $0 == ".SH " section }
        /^\.EX$/ { file = inside ? sprintf("%s/%04d", directory, FNR + 1) : ""; next }
        /^\.EE$/ { file = "" }
        file {
            gsub(/\\f[BIRP]/, ""); gsub(/\\-/, "-"); gsub(/\\&/, "")
            gsub(/\\\(dq/, "\""); gsub(/\\\(aq/, "\047"); gsub(/\\e/, "\\")
            print >file
        }' "$1" && [[ -n $(ls "$2") ]]
}

manual_json=$(dirname "${BASH_SOURCE[0]}")/../docs/virt-seed-json.7

manual_objects() {
    sed -e 's/\\-/-/g' "$manual_json" | sed -n 's/^\.SS //p'
}

manual_members() {
    sed -e 's/\\-/-/g' "$manual_json" | awk -v object="$1" '
        /^\.S[HS] / { inside = $0 == ".SS " object }
        inside && /^\.BR [^ ]+ " \(.*\)"$/ { print }' |
        jq -Rn '[inputs | capture("^[.]BR (?<key>[^ ]+) \" [(](?<value>.*)[)]\"$")] | from_entries |
            map_values([scan("[a-z]+")] - ["or"])'
}

matches_manual() {
    local members problems

    members=$(manual_members "$1")
    [[ $members != '{}' ]] || { echo "virt-seed-json(7) has no object '$1'" && return 1; }
    problems=$(jq -s --argjson page "$members" "
        map(${2:-if type == \"array\" then .[] else . end}) |
        if . == [] then \"there is no $1\" else .[] | ${2:+.version = 1 |}
            (select(.version != 1) | \"$1 has no version\"),
            (del(.version) | . as \$object |
                ((keys - (\$page | keys))[] | \"$1: \(.) is not in the page\"),
                (\$page | to_entries[] | .key as \$key |
                    if (\$object | has(\$key)) then
                        (\$object[\$key] | type) as \$type | select(.value | index(\$type) | not) |
                        \"$1: \(\$key) is \(\$type)\"
                    else
                        select(.value | index(\"optional\") | not) | \"$1: \(\$key) was not printed\"
                    end))
        end") && echo "$problems" && [[ -z $problems ]]
}
