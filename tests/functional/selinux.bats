#!/usr/bin/env bats
# selinux.bats: the policy module for SELinux, and what Debian's policy allows when it is loaded.
# shellcheck disable=SC2030,SC2031  # each test is a subshell, and has its own variables

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

# The modules of the policy that is installed here, as semodule(8) keeps them.
installed=/var/lib/selinux/default
wanted='selinux-policy-dev, selinux-policy-default and setools'

# $policy is that policy with our module in it, in a store of this test's own: the host's own is not
# touched.
setup_file() {
    local store=$BATS_FILE_TMPDIR/store

    export policy=
    [[ -e /usr/share/selinux/devel/Makefile ]] || return 0
    # Without the job server of the make that runs this: its descriptors are closed here.
    env -u MAKEFLAGS -u MFLAGS make -s -C "$top_builddir" selinux 3>&-
    if [[ -r $installed/active/modules ]] && type -P sesearch >/dev/null; then
        mkdir -p "$store/var/lib/selinux" "$store/etc/selinux/default"
        cp -R "$installed" "$store/var/lib/selinux"
        semodule --path "$store" --store default --noreload \
            --install "$top_builddir/hooks/selinux/module/virt_seed.pp" 3>&-
        policy=$(echo "$store"/etc/selinux/default/policy/policy.*)
    fi
}

needs_policy() {
    [[ $policy ]] || skip "$wanted are not installed"
}

# may PERMISSION TYPE: the domains that have the permission for files of that type, as a rule says it:
# a domain or an attribute. What an administrator may switch on for a daemon is not in effect.
may() {
    local rules=$BATS_FILE_TMPDIR/$2

    [[ -e $rules ]] || sesearch --allow --target "$2" --class file "$policy" >"$rules"
    sed -n -e '/]:True$/d' -e "s/^allow \\([^ ]*\\) .*[{:][^:]*\\<$1\\>.*/\\1/p" "$rules" | sort -u
}

# only PERMISSION TYPE DOMAIN...: no other domain has it, except those that have it for /etc/shadow.
only() {
    local permission=$1 type=$2

    shift 2
    diff <(comm -23 <(may "$permission" "$type") <(may "$permission" shadow_t)) \
        <(printf '%s\n' "$@" | sort)
}

@test "the policy module builds with the installed headers" {
    [[ -e /usr/share/selinux/devel/Makefile ]] || skip 'selinux-policy-dev is not installed'
    [[ -s $top_builddir/hooks/selinux/module/virt_seed.pp ]]
}

@test "only the hook and administrators may read secrets" {
    needs_policy
    only read virt_seed_secret_t virt_seed_hook_t sysadm_t
    only read virt_seed_host_key_t virt_seed_hook_t sysadm_t
}

@test "records, and reports and logs of guests, are closed like secrets" {
    needs_policy
    only read virt_seed_var_lib_t virt_seed_hook_t sysadm_t
    only read virt_seed_report_t virt_seed_hook_t virtlogd_t sysadm_t
}

@test "the hook cannot write to administrators' secrets" {
    needs_policy
    only write virt_seed_secret_t sysadm_t
}

@test "the hook can give up root's rights, and look where the paths of a definition lead" {
    needs_policy
    run -0 sesearch --allow --source virt_seed_hook_t --target virt_seed_hook_t --class capability "$policy"
    for right in kill setgid setuid; do
        [[ $output =~ [\ {]${right}[\ }] ]]
    done
    for type in user_home_dir_t mnt_t virtd_t; do
        run -0 sesearch --allow --source virt_seed_hook_t --target "$type" --class dir --perms search "$policy"
        [[ $output ]]
    done
    run -0 sesearch --allow --source virt_seed_hook_t --target proc_t --class filesystem --perms getattr "$policy"
    [[ $output ]]
}

# allows SOURCE TARGET CLASS PERMISSION...: one rule or another gives each of them.
allows() {
    local permission

    run -0 sesearch --allow --source "$1" --target "$2" --class "$3" "$policy"
    for permission in "${@:4}"; do
        [[ $output =~ [\ {]${permission}[\ }\;] ]] || { echo "$1 may not $permission $2:$3"; return 1; }
    done
}

@test "the hook and the wiring can start a maker, give it what it needs, talk to it, and end it" {
    needs_policy
    for keeper in virt_seed_hook_t virt_seed_wire_t; do
        allows $keeper $keeper capability kill setgid setuid
        allows $keeper $keeper process fork
        # Before and after it runs the program.
        allows $keeper $keeper process sigkill
        allows $keeper virt_seed_maker_t process sigkill transition
        allows virt_seed_maker_t $keeper process sigchld
        allows $keeper virt_seed_maker_exec_t file getattr open read execute
        allows virt_seed_maker_t virt_seed_maker_exec_t file entrypoint
        allows $keeper $keeper unix_stream_socket create read write
        allows virt_seed_maker_t $keeper unix_stream_socket read write
        allows virt_seed_maker_t $keeper fd use
        run -0 sesearch --type_trans --source $keeper --target tmpfs_t --class file "$policy"
        [[ $output = *' virt_seed_tmpfs_t;' ]]
    done
    allows virt_seed_maker_t virt_seed_tmpfs_t file read write
}

@test "the maker can limit itself, make a thread, abort and use its libraries, and reaches nothing of ours" {
    needs_policy
    allows virt_seed_maker_t virt_seed_maker_t process fork setcap setrlimit signal
    allows virt_seed_maker_t lib_t file read map execute
    allows virt_seed_maker_t urandom_device_t chr_file read
    run -0 sesearch --allow --source virt_seed_maker_t --target virt_seed_maker_t --class capability "$policy"
    [[ -z $output ]]
    for type in virt_seed_{secret,host_key,image,served,etc,var_lib,report}_t; do
        for permission in read write open; do
            run ! grep -x virt_seed_maker_t < <(may "$permission" "$type")
        done
    done
    # Each of these is the right of another domain here.
    for right in 'process transition' 'file execute_no_trans' 'tcp_socket create' 'unix_stream_socket connectto'; do
        read -r class permission <<<"$right"
        run -0 sesearch --allow -ds --source virt_seed_maker_t --class "$class" --perms "$permission" "$policy"
        [[ -z $output ]]
    done
}

@test "no guest may read a seed before libvirt labels it" {
    needs_policy
    only read virt_seed_image_t virt_seed_hook_t virtd_t sysadm_t
    only write virt_seed_image_t virt_seed_hook_t sysadm_t
    only relabelfrom virt_seed_image_t virtd_t
}

@test "the metadata server may read what is served, and nothing else of ours" {
    needs_policy
    only read virt_seed_served_t virt_seed_hook_t virt_seed_imds_t sysadm_t
    for type in virt_seed_{etc,var_lib,report}_t; do
        run ! grep -x virt_seed_imds_t < <(may read "$type")
    done
}

@test "libvirt's daemon enters only the hook's domain, the hook only those of the maker and the wiring" {
    needs_policy
    run -0 sesearch --type_trans --class process --default virt_seed_hook_t "$policy"
    [[ $output = 'type_transition virtd_t virt_seed_hook_exec_t:process virt_seed_hook_t;' ]]
    run -0 sesearch --type_trans --class process --default virt_seed_wire_t "$policy"
    [[ $output = 'type_transition virt_seed_hook_t virt_seed_exec_t:process virt_seed_wire_t;' ]]
    run -0 sesearch --type_trans --class process --default virt_seed_maker_t "$policy"
    sort <<<"$output" | diff - <(printf 'type_transition virt_seed_%s_t virt_seed_maker_exec_t:process virt_seed_maker_t;\n' \
        hook wire)
    run -0 sesearch --allow --source virt_seed_wire_t --class process --perms transition "$policy"
    [[ ${#lines[@]} -eq 1 && $output = 'allow virt_seed_wire_t virt_seed_maker_t:process '* ]]
}

@test "the wiring can talk to libvirt, and the hook cannot" {
    needs_policy
    run -0 sesearch --allow --source virt_seed_hook_t --target virtd_t \
        --class unix_stream_socket --perms connectto "$policy"
    [[ -z $output ]]
    run -0 sesearch --allow --source virt_seed_wire_t --target virtd_t \
        --class unix_stream_socket --perms connectto "$policy"
    [[ $output = *virt_seed_wire_t* ]]
}
