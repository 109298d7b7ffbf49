#!/usr/bin/env bats
# completion.bats: what bash, zsh and fish offer to complete a command line of virt-seed.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

# shellcheck source-path=SCRIPTDIR source=../../scripts/completion/virt-seed
source "$top_srcdir/scripts/completion/virt-seed"

completions=$top_srcdir/scripts/completion

# offers LINE [WORD]...: at the end of this line, completion offers these words.
offers() {
    local COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()

    shift
    _virt_seed virt-seed
    diff <(printf '%s\n' "$@") <(printf '%s\n' "${COMPREPLY[@]}")
}

@test "completes a command, also after options" {
    offers 'virt-seed wi' wire
    offers 'virt-seed -c test:///default --quiet un' unset
    offers 'virt-seed help known' known-hosts
    diff <(virt-seed complete -- '' | sort) <(cat <(commands) <(echo help) | sort)
}

@test "completes the command's own options and the common ones" {
    offers 'virt-seed wire --re' --replace
    offers 'virt-seed wire --o' --output=
    offers 'virt-seed wire --ro' --root=
    offers 'virt-seed --vers' --version
    offers 'virt-seed dump --o'
    offers 'virt-seed wire -- --re'
}

@test "completes domains with the names from libvirt" {
    offers 'virt-seed -c test:///default dump t' test
    offers 'virt-seed -ctest:///default dump t' test
    offers 'virt-seed dump --connect=test:///default t' test
    offers 'virt-seed -c test:///default wait test t' test
    offers 'virt-seed -c test:///default dump test t'
    offers 'virt-seed -c test:///default import --set t' test
    # bash replaces only what follows the "=".
    offers 'virt-seed -c test:///default import --set=' test
    # If libvirt cannot be reached, there are no names.
    offers 'virt-seed dump t'
}

@test "completes the words that an option allows" {
    offers 'virt-seed import k' kubevirt
    offers 'virt-seed import ' kubevirt ovirt seed
    offers 'virt-seed edit web1 ' user-data vendor-data network-config element
    offers 'virt-seed set --ssh-host-keys=g' generate
    offers 'virt-seed set --datasource=' nocloud configdrive nocloud-net
    offers 'virt-seed set --datasource c' configdrive
    offers 'virt-seed set --instance-id-policy=' content domain
}

@test "leaves everything else to bash, which offers files" {
    offers 'virt-seed nonsense x'
    offers 'virt-seed wire --no-such-option=x'
    offers 'virt-seed inspect s'
    offers 'virt-seed wire --output '
    [[ $(complete -p virt-seed) == *'-o default '* ]]
}

@test "each option of a command's --help is completed, and nothing else" {
    local command

    for command in $(commands); do
        echo "$command"
        diff <({ virt-seed "$command" --help | grep -oE -- '(^ +(-., )?|^Also.*)--[a-z-]+.*' | grep -oE -- '--[a-z-]+' &&
            printf -- '--%s\n' connect root quiet version; } | sort -u) \
            <(virt-seed complete -- "$command" -- | sed 's/=.*//' | sort -u)
    done
}

@test "completes the documents that a seed may have" {
    offers 'virt-seed dump web1.xml ' meta-data user-data vendor-data network-config \
        openstack/latest/{meta_data.json,user_data,vendor_data.json,vendor_data2.json,network_data.json}
    offers 'virt-seed dump web1 u' user-data
}

# fish_offers LINE [WORD]...: fish offers these words, without their descriptions.
fish_offers() {
    local line=$1

    shift
    diff <(printf '%s\n' "$@" | sort) \
        <(HOME=$BATS_TEST_TMPDIR fish --no-config -c "source $completions/virt-seed.fish; complete -C \"$line\"" |
            cut -f 1 | sort)
}

@test "fish completes commands, options, values, domains, documents and files" {
    command -v fish >/dev/null || skip 'fish is not installed'
    cd "$BATS_TEST_TMPDIR"
    wired_xml >web1.xml
    fish_offers 'virt-seed wi' wire
    fish_offers 'virt-seed help known' known-hosts
    fish_offers 'virt-seed wire --o' --output=
    fish_offers 'virt-seed set --datasource=' --datasource={nocloud,configdrive,nocloud-net}
    fish_offers 'virt-seed -c test:///default dump ' test
    fish_offers 'virt-seed dump web1.xml u' user-data
    fish_offers 'virt-seed inspect web' web1.xml
    fish_offers 'virt-seed wire --output=web' --output=web1.xml
    run -0 fish --no-config -c "source $completions/virt-seed.fish; complete -C 'virt-seed che'"
    [[ $output == $'check\t'*' '* ]]
}

@test "zsh looks where 'make install' puts its completion" {
    command -v zsh >/dev/null || skip 'zsh is not installed'
    [[ ${VIRT_SEED_ZSHDIR-} = /usr/share/* ]] || skip 'the prefix is not /usr'
    # shellcheck disable=SC2016  # the variable is zsh's
    zsh -fc 'print -l $fpath' | grep -qxF "$VIRT_SEED_ZSHDIR"
}

# zsh_completes LINE RESULT: in zsh, the tab key turns the line into this.
zsh_completes() {
    python3 "$top_srcdir/tests/functional/zsh-complete.py" "$completions" "$1" >completed
    diff <(printf '%s\n' "$2") completed
}

@test "zsh completes commands, options, values, domains, documents and files" {
    command -v zsh >/dev/null || skip 'zsh is not installed'
    cd "$BATS_TEST_TMPDIR"
    wired_xml >web1.xml
    zsh_completes 'virt-seed wi' 'virt-seed wire '
    zsh_completes 'virt-seed help known' 'virt-seed help known-hosts '
    zsh_completes 'virt-seed wire --o' 'virt-seed wire --output='
    zsh_completes 'virt-seed set --datasource=c' 'virt-seed set --datasource=configdrive '
    zsh_completes 'virt-seed -c test:///default dump t' 'virt-seed -c test:///default dump test '
    zsh_completes 'virt-seed dump web1.xml u' 'virt-seed dump web1.xml user-data '
    zsh_completes 'virt-seed inspect web' 'virt-seed inspect web1.xml '
    zsh_completes 'virt-seed wire --output=web' 'virt-seed wire --output=web1.xml '
}
