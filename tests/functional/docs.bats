#!/usr/bin/env bats
# docs.bats: the programs take what the manual pages show.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=../manual.bash
source "$BATS_TEST_DIRNAME/../manual.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir examples
}

# make_host_of_the_manual: the host that virt-seed-xml(5) speaks of.
make_host_of_the_manual() {
    make_host_of_examples
    make_secret web1 alice 'correct horse'
    make_secret web1 root_password 'correct horse'
    make_secret web1-ssh ssh_host_ed25519_key "$(cat key)"
}

make_key() {
    ssh-keygen -q -t ed25519 -N '' -C '' -f key
}

# asks EXAMPLE: prints the <cloud-init> element that the example is, or is a part of, with a whole key for
# one that is abbreviated.
asks() {
    local key=AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx
    local start="<ci:cloud-init xmlns:ci='$namespace'" text

    text=$(sed "s|AAAA\.\.\.|$key|" "$1")
    # The page omits the prefix of oVirt's words.
    case $text in
    '<metadata>'*) sed '1d;$d' <<<"$text" ;;
    '<ci:cloud-init'*'/>' | *'</ci:cloud-init>') echo "$text" ;;
    '<ci:cloud-init'*) echo "$text</ci:cloud-init>" ;;
    '<ci:interface '*)
        echo "$start><ci:network-config from='interfaces'>$text</ci:network-config></ci:cloud-init>"
        ;;
    '<ci:'*)
        # The only attribute on which an element depends.
        [[ $text != *'<ci:admin-password'* ]] || start+=" datasource='configdrive'"
        echo "$start>$text</ci:cloud-init>"
        ;;
    '<authorized_key>'*)
        initialization "<authorized_keys>$text</authorized_keys>" ;;
    '<file>'*) initialization "<files>$text</files>" ;;
    '<nic_configuration>'*) initialization "<nic_configurations>$text</nic_configurations>" ;;
    *) return 1 ;;
    esac
}

initialization() {
    echo "<ci:cloud-init xmlns:ci='$namespace'><ci:initialization>"
    sed -E 's|<(/?)([a-z])|<\1ci:\2|g' <<<"$1"
    echo "</ci:initialization></ci:cloud-init>"
}

# domain_of ELEMENT: the domain of virt-seed-xml(5), wired, with the nics that the page names.
domain_of() {
    local nics='<interface type="user"><mac address="52:54:00:12:34:56"/></interface>' xml

    nics+='<interface type="user"><mac address="52:54:00:12:34:57"/><alias name="ua-storage"/></interface>'
    xml=$(domain_xml)
    xml=${xml%%<ci:cloud-init*}$1${xml##*</ci:cloud-init>}
    virt-seed --quiet wire - <<<"${xml%</devices>*}$nics</devices></domain>"
}

@test "each example in virt-seed-xml(5) is an element that check and build accept" {
    local example element count=0

    make_key
    make_host_of_the_manual
    manual_examples "$top_srcdir/docs/virt-seed-xml.5" examples
    for example in examples/*; do
        element=$(asks "$example") || continue
        echo "virt-seed-xml.5, line ${example#*/}:"
        count=$((count + 1))
        domain_of "$element" >domain.xml
        virt-seed --root="$root" check --no-schema domain.xml
        virt-seed --root="$root" build --force -o seed.iso domain.xml
        # inspect goes by cloud-init.
        [[ $element == *'format="raw"'* ]] || virt-seed inspect seed.iso
    done
    [[ $count -ge 25 ]]
}

@test "each example in virt-seed.conf(5) is a configuration without mistakes" {
    local example

    make_root
    wired_xml >domain.xml
    mkdir -p "$root$confdir/files/site" "$root/srv/cloud-init"
    printf '#cloud-config\ntimezone: UTC\n' >"$root$confdir/files/site/vendor.yaml"
    echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx' \
        >"$root$confdir/files/site/admins"
    manual_examples "$top_srcdir/docs/virt-seed.conf.5" examples
    for example in examples/*; do
        echo "virt-seed.conf.5, line ${example#*/}:"
        cp "$example" "$root$confdir/virt-seed.conf"
        run -0 virt-seed --root="$root" check --no-schema domain.xml
        assert_said 'no problems found'
    done
    # A mistake is found.
    echo 'autowire = perhaps' >>"$root$confdir/virt-seed.conf"
    run -1 virt-seed --root="$root" check --no-schema domain.xml
}

@test "every option that the installed configuration names is in virt-seed.conf(5), and the other way round" {
    diff <(sed -nE 's/^# ?([a-z-]+) =.*/\1/p' "$top_srcdir/docs/virt-seed.conf" | sort -u) \
        <(sed 's/\\-/-/g' "$top_srcdir/docs/virt-seed.conf.5" |
            sed -nE 's/^\.BR ([a-z-]+) " = " .*/\1/p' | sort -u)
}

# uses FILE: prints each use of virt-seed in a page, a line each, to the end of the command.
uses() {
    # shellcheck disable=SC2016  # no variables
    sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/\\e$/\\/' -e 's/^\.[BI]* //; s/"//g' "$1" |
        sed -e ':a; /\\$/{N; s/\\\n//; ba}' |
        grep -oE '(^|[ `(#$])virt-seed( -q)? [a-z][a-z-]*( [^|;&`)]*)?'
}

@test "each command and option that a page names exists" {
    local page use command option count=0

    for command in $(commands); do
        { virt-seed "$command" --help && virt-seed --help; } | grep -oE -- ' --?[a-zA-Z][a-z-]*' |
            tr -d " " >"$command.options"
    done
    echo --all >help.options
    for page in "$top_srcdir"/{README,SECURITY,HACKING}.md "$top_srcdir"/docs/*.[1-8] \
        "$top_srcdir"/docs/*.md "$top_srcdir"/xml/examples/*; do
        while read -r use; do
            [[ $use =~ virt-seed( -q)?\ ([a-z-]+)(.*) ]]
            command=${BASH_REMATCH[2]}
            if [[ ! -e $command.options ]]; then
                # In prose it may be any word, in Markdown's code it must be a command.
                [[ $use != '`'* ]] || { echo "$page: $use" && return 1; }
                continue
            fi
            while read -r option; do
                grep -qxF -e "$option" "$command.options" || { echo "$page: $use: $option" && return 1; }
                count=$((count + 1))
            done < <(grep -oE -- ' --?[a-z][a-z-]*' <<<"${BASH_REMATCH[3]}" | tr -d ' ')
        done < <(uses "$page")
    done
    [[ $count -ge 40 ]]
}

@test "the table of events in virt-seed-hook(8) is what the tests of events expect" {
    local tests=$top_srcdir/tests/libvirt

    diff <(grep -v '^#' "$tests/events.tsv") \
        <(sed -n '/^event\t/,/^\.TE/p' "$top_srcdir/docs/virt-seed-hook.8" | sed -e 1,2d -e '$d' -e 's/\\-/-/g' |
            sed -z -e 's/T{\n//g' -e 's/\nT}//g')
    diff <(grep -v '^#' "$tests/events.tsv" | cut -f 1 | sort) \
        <(sed -n 's/^@test "\(.*\)" {$/\1/p' "$tests/events.bats" | sort)
}

@test "virt-seed-xml(5) and the recipes clean a golden image with the same commands" {
    manual_examples "$top_srcdir/docs/virt-seed-xml.5" examples CLONES
    # shellcheck disable=SC2016  # Markdown's own
    cat examples/* | grep -v '^ *<' |
        diff - <(sed -n '/^## A golden image/,/^## /p' "$top_srcdir/docs/recipes.md" |
            sed -n '/^```sh$/,/^```$/p' | sed -e 1d -e '/^```$/,$d')
}

# missing_tests FILE: prints the tests that it names and that are not there.
missing_tests() {
    local path

    # shellcheck disable=SC2016  # Markdown's own
    grep -oE '`tests/[^`]+`' "$1" | tr -d '`' | sort -u | while read -r path; do
        [[ -e $top_srcdir/$path ]] || echo "$path"
    done
}

@test "each test that SECURITY.md names is there" {
    [[ $(grep -c '`tests/' "$top_srcdir/SECURITY.md") -gt 10 ]]
    [[ -z $(missing_tests "$top_srcdir/SECURITY.md") ]]
    # One that is not there is found.
    sed 's|tests/functional/hook.bats|tests/functional/hooks.bats|' "$top_srcdir/SECURITY.md" >planted.md
    [[ $(missing_tests planted.md) = tests/functional/hooks.bats ]]
}

@test "the schema, set and the manual pages name the datasources that the programs take" {
    local docs=$top_srcdir/docs

    domain_xml | sed "s|<ci:cloud-init |&datasource='unknown' |" >domain.xml
    run -1 virt-seed dump domain.xml
    sed -n 's/.*datasource="unknown", expected //p' <<<"$output" | grep -oE '"[a-z-]+"' | tr -d '"' >taken
    [[ $(head -n 1 taken) = nocloud ]]

    xmllint --xpath '//*[local-name() = "attribute"][@name = "datasource"]//*[local-name() = "value"]/text()' \
        "$top_srcdir/xml/cloud-init.rng" | diff taken -
    virt-seed set --help | sed -n 's/^ *--datasource=\([^ ]*\).*/\1/p' | tr '|' '\n' | diff taken -
    sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' "$docs/virt-seed-set.1" |
        sed -n 's/^\.B --datasource=//p' | tr '|' '\n' | diff taken -
    sed -e 's/\\(dq//g' -e 's/\\-/-/g' "$docs/virt-seed-xml.5" |
        sed -n 's/^\.BR datasource = //p' | sed 's/ | /\n/g' | diff taken -
}

# packages_of_guide WORD: the packages that the guide has a reader install for 'make check' (check), or to
# build (build).
packages_of_guide() {
    sed -e ':a; /\\$/{N; s/\\\n//; ba}' "${2:-$top_srcdir/docs/guide.md}" | case $1 in
    check) grep '# for make check$' ;;
    build) grep -E '^sudo apt install (autoconf|libmicrohttpd-dev|libsystemd-dev)' ;;
    esac | sed -e 's/#.*//' -e 's/^sudo apt install//' | xargs -n 1 | sort
}

@test "the guide names the packages that the scripts install" {
    # shellcheck source=/dev/null
    source "$top_srcdir/scripts/packages.bash"
    packages_to_check | xargs -n 1 | sort | diff - <(packages_of_guide check)
    # The package that every gcc brings needs no mention.
    packages_to_build | xargs -n 1 | grep -vx libc6-dev | sort | diff - <(packages_of_guide build)
    # One that is missing is found.
    sed 's/ jq / /' "$top_srcdir/docs/guide.md" >planted.md
    [[ $(packages_of_guide check planted.md) != "$(packages_to_check | xargs -n 1 | sort)" ]]
}
