#!/usr/bin/env bats
# completion.bats: what bash offers for a command line of virt-seed's.

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

# shellcheck source-path=SCRIPTDIR source=../../scripts/completion/virt-seed
source "$top_srcdir/scripts/completion/virt-seed"

# offers LINE [WORD]...: at the end of this line the completion offers these words.
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
    # bash replaces what is after the "=" alone.
    offers 'virt-seed -c test:///default dump --domain=t' test
    offers 'virt-seed -c test:///default import --set t' test
    offers 'virt-seed -c test:///default import --set=' test
    # Where libvirt cannot be reached there is nothing to say.
    offers 'virt-seed dump t'
}

@test "completes the words that an option allows" {
    offers 'virt-seed import k' kubevirt
    offers 'virt-seed import ' kubevirt ovirt
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
        diff <({ virt-seed "$command" --help && virt-seed --help; } | grep -oE -- '^ +(-., )?--[a-z-]+' |
            grep -oE -- '--.*' | sort -u) \
            <(virt-seed complete -- "$command" -- | sed 's/=.*//' | sort -u)
    done
}
