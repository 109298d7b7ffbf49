#!/usr/bin/env bats
# cli.bats: the command lines of virt-seed and virt-seed-maker.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    domain_xml >unwired.xml
    wired_xml >wired.xml
}

# options_of_source FILE: the long options that it compares its argument with.
options_of_source() {
    grep -o 'strcmp(option, "--[a-z-]*"' "$top_srcdir/src/$1" | grep -o -e '--[a-z-]*' | sort
}

# options_of_help COMMAND...: the long options that its --help describes.
options_of_help() {
    "$@" --help | grep -o '^  *\(-[a-zA-Z], \)\?--[a-z-]*' | grep -o -e '--.*' | sort
}

# --- help and usage ---------------------------------------------------------------------------

@test "--help shows the most important commands in one screen, and help --all every command" {
    run -0 virt-seed --help
    [[ ${#lines[@]} -lt 24 && $(wc -l <<<"$output") -le 24 ]]
    diff <(sed -n 's/^  \([a-z]\+\) .*/\1/p' <<<"$output") <(printf '%s\n' new ssh set start status check)
    assert_said 'virt-seed help --all' 'virt-seed help COMMAND'
    diff <(commands | sort) \
        <(cd "$top_srcdir/src/cli" && printf '%s\n' cmd-*.c |
            sed -e 's/^cmd-\(.*\)\.c$/\1/' -e '/^complete$/d' | sort)
}

@test "--help of each command begins with its usage" {
    local command

    for command in $(commands); do
        run -0 --separate-stderr virt-seed "$command" --help
        [[ "${lines[0]} " == "Usage: virt-seed $command "* ]]
        [[ -z $stderr ]]
    done
}

@test "--help describes all options of the command, and no others" {
    local command

    for command in $(commands); do
        echo "$command"
        diff <(virt-seed complete -- "$command" -- | sed 's/=$//' | sort) \
            <({ options_of_help virt-seed "$command" && printf -- '--%s\n' connect root quiet version &&
                virt-seed "$command" --help | grep '^Also takes ' | grep -oE -- '--(json|dry-run|verbose)'; } | sort)
    done
    diff <(options_of_source maker/main.c) <(options_of_help virt-seed-maker)
}

@test "wait --help lists the exit statuses that the manual lists" {
    diff <(virt-seed wait --help | sed -n 's/^ *\([0-9]\+\)  .*/\1/p') \
        <(sed -n '/^\.SH EXIT STATUS$/,/^\.TE$/s/^\([0-9]\+\)\t.*/\1/p' "$top_srcdir/docs/virt-seed-wait.1" |
            grep -vx 2)
}

@test "--help fits a terminal of 80 columns" {
    local command

    run ! grep '.\{81\}' < <(
        virt-seed --help
        virt-seed help --all
        virt-seed-maker --help
        for command in $(commands); do virt-seed "$command" --help; done
    )
}

@test "help --all groups the commands, and each has an example that works as written" {
    local command example heading

    for heading in 'Configure guests' 'Look before you start' 'Run guests' 'Maintenance'; do
        virt-seed help --all | sed -n "/^$heading:\$/,/^[A-Z]/p" | grep -q '^    Example: virt-seed '
    done
    for command in $(commands); do
        run -0 virt-seed "$command" --help
        [[ ${lines[-3]} == Example: ]]
        read -ra example <<<"${lines[-2]}"
        [[ ${example[*]:0:2} == "virt-seed $command" ]]
        # It may fail here for lack of something, but not for its arguments.
        run timeout 3 "${example[@]}" -c test:///no-such-file.xml --root="$root"
        [[ $status -ne 2 ]]
    done
}

@test "--version prints the version, and the address for reports that the build was given" {
    local address

    run -0 virt-seed --version
    [[ $output =~ ^virt-seed\ [0-9]+\.[0-9]+ ]]
    address=$(sed -n 's/^#define BUG_REPORT_ADDRESS "\(.*\)"/\1/p' "$top_builddir/config.h")
    [[ ${lines[1]-} = "${address:+Report bugs and vulnerabilities to $address}" ]]
    run -0 virt-seed-maker --version
    [[ $output =~ ^virt-seed\ [0-9]+\.[0-9]+ ]]
}

@test "prints the usage and exits 2 without a command" {
    run -2 --separate-stderr virt-seed
    [[ -z $output ]]
    [[ $stderr == 'Usage: virt-seed '* ]]
}

@test "help COMMAND, -h and --help print the same" {
    local command

    for command in $(commands); do
        diff <(virt-seed help "$command") <(virt-seed "$command" --help)
        diff <(virt-seed "$command" -h) <(virt-seed "$command" --help)
    done
    diff <(virt-seed help) <(virt-seed --help)
    diff <(virt-seed help --help) <(virt-seed --help)
    diff <(virt-seed help help) <(virt-seed --help)
    diff <(virt-seed -h) <(virt-seed --help)
    run virt-seed help nonsense
    assert_refused 2 "unknown command 'nonsense'"
}

@test "says which command was meant if one is unknown, and where all are listed" {
    local word meant

    while read -r word meant; do
        run virt-seed "$word"
        assert_refused 2 "unknown command '$word'" "did you mean '$meant'?" 'virt-seed help --all'
    done <<'END'
statsu status
strat start
tart start
starrt start
stert start
pend pending
END
    # Neither what is like none, nor what people do not call.
    for word in nonsense complet ''; do
        run virt-seed "$word"
        assert_refused 2 "unknown command '$word'" 'virt-seed help --all'
        [[ $stderr$output != *'did you mean'* ]]
    done
}

@test "says what --root needs" {
    run virt-seed --root="$PWD/nowhere" status
    assert_refused 1 "could not open '$PWD/nowhere'" 'give --root a directory'
}

@test "abbreviations of long options are refused, and no value is printed" {
    local -a given

    for given in '--passwor hunter2' --passwor=hunter2 '--root-pass hunter2' '--ssh-k hunter2'; do
        # shellcheck disable=SC2086  # an option and its value
        run virt-seed set -i unwired.xml $given
        assert_refused 2 "unknown option '${given[0]%%[ =]*}'"
        [[ $output != *hunter2* ]]
    done
    run virt-seed --quie status
    assert_refused 2 "unknown option '--quie'" "did you mean '--quiet'? virt-seed --help lists the options"
    run virt-seed wire --dry unwired.xml
    assert_refused 2 "unknown option '--dry'" "did you mean '--dry-run'? virt-seed wire --help lists the options"
    run virt-seed set --userdata=hunter2 unwired.xml
    assert_refused 2 "unknown option '--userdata'" "did you mean '--user-data'? virt-seed set --help"
    [[ $output != *hunter2* ]]
    # Neither an option that the command does not take, nor another word, nor a letter.
    for option in --jsn --nonsense -u; do
        run virt-seed build "$option" unwired.xml
        assert_refused 2 "unknown option '$option'" 'virt-seed build --help lists the options'
        [[ $output != *'did you mean'* ]]
    done
    run -2 virt-seed-maker --vers
    run -2 virt-seed-imds --lis=hunter2
    [[ $output != *hunter2* ]]
}

@test "global options may come before or after the command, and one that it does not take is refused" {
    domain_xml >asking.xml
    diff <(virt-seed --json check --no-schema asking.xml) <(virt-seed check --no-schema asking.xml --json)
    diff <(virt-seed --dry-run -v wire asking.xml) <(virt-seed wire --verbose asking.xml --dry-run)
    run virt-seed --json build asking.xml
    assert_refused 2 "'build' takes no --json"
    run virt-seed known-hosts asking.xml --dry-run
    assert_refused 2 "'known-hosts' takes no --dry-run"
    run virt-seed -v status
    assert_refused 2 "'status' takes no --verbose"
}

@test "tells a mistyped option from one with a missing or unexpected value" {
    run virt-seed wire --ouput=out.xml wired.xml
    assert_refused 2 "unknown option '--ouput'" 'virt-seed wire --help lists the options'
    run virt-seed wire wired.xml --output
    assert_refused 2 "option '--output' needs a value" '--output=OUTPUT'
    run virt-seed wire wired.xml -o
    assert_refused 2 "option '--output' needs a value"
    run virt-seed --connect
    assert_refused 2 "option '--connect' needs a value"
    run virt-seed --quiet=yes wire wired.xml
    assert_refused 2 "option '--quiet' takes no value"
    run virt-seed wire --json=yes wired.xml
    assert_refused 2 "option '--json' takes no value"
}

@test "common options may come before or after the command" {
    run -0 --separate-stderr virt-seed wire --quiet unwired.xml
    [[ -z $stderr ]]
    run -0 --separate-stderr virt-seed wire unwired.xml -q
    [[ -z $stderr ]]
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    domain_xml '<ci:user-data secret="web1"/>' >secret.xml
    diff <(virt-seed --root "$root" dump secret.xml) <(virt-seed dump secret.xml --root="$root")
    run virt-seed wire web1 -c test:///no-such-file.xml
    assert_refused 1 libvirt
    run -0 virt-seed wire -V
    [[ $output =~ ^virt-seed\ [0-9]+\.[0-9]+ ]]
    run -0 virt-seed -V
    # What follows -- is not an option.
    run virt-seed -c test:///default dump -- --json
    assert_refused 1 "there is no domain '--json'"
}

@test "exits 2 and shows the usage if an option is unknown" {
    local command

    for command in $(commands); do
        run virt-seed "$command" --no-such-option
        assert_refused 2 "hint: virt-seed $command "
        # Every message is virt-seed's own.
        run ! grep -v '^virt-seed: ' <<<"$output"
    done
    run virt-seed --no-such-option
    assert_refused 2 "unknown option '--no-such-option'"
    run virt-seed -qx
    assert_refused 2 "unknown option '-x'"
    run virt-seed wire -xi web1.xml
    assert_refused 2 "unknown option '-x'"
    run -2 --separate-stderr virt-seed-maker --no-such-option
    [[ -z $output && $stderr = 'Usage: virt-seed-maker'* ]]
}

@test "exits 2 and shows the usage if an argument is missing or too many are given" {
    local command usage

    for command in $(commands); do
        usage=$(virt-seed "$command" --help | head -n 1)
        if [[ $usage = *@(DOMAIN|FILE|IMAGE)* && $usage != *'[DOMAIN'*'…]' ]]; then
            run virt-seed "$command"
            assert_refused 2 "hint: virt-seed $command "
        fi
        if [[ $usage != *… && $usage != *'…]' ]]; then
            run virt-seed "$command" wired.xml user-data superfluous
            assert_refused 2 "hint: virt-seed $command "
        fi
    done
    run -2 virt-seed wire --output
    run -2 virt-seed-maker web1
}

# --- input ------------------------------------------------------------------------------------

@test "reads a domain from a file or from standard input" {
    local from_file from_path

    from_file=$(virt-seed dump wired.xml)
    from_path=$(virt-seed dump ./wired.xml)
    [[ -n $from_file ]]
    [[ $from_file == "$from_path" ]]
    [[ $from_file == "$(virt-seed dump - <wired.xml)" ]]
}

@test "says that a file does not exist" {
    run virt-seed wire ./none.xml
    assert_refused 1 "'./none.xml'" 'No such file'
}

@test "refuses a directory in place of a domain's XML" {
    run -1 virt-seed wire .
    assert_said 'virt-seed: error: '
}

@test "looks a name up in libvirt, and says so if libvirt cannot be reached" {
    run virt-seed -c test:///no-such-file.xml wire web1
    assert_refused 1 libvirt
}

# libvirt's driver for tests runs in the caller's process; its domain is not one of QEMU's.
@test "finds a domain in libvirt by name and by UUID" {
    for name in test 6695eb01-f6a4-8304-79aa-97f2502e193f; do
        for command in wire unset dump build check; do
            run virt-seed -c test:///default "$command" "$name"
            assert_refused 1 "<domain type='test'>"
        done
    done
    run virt-seed -c test:///default wire web1
    assert_refused 1 "error: there is no domain 'web1'" 'virsh list --all'
    [[ $output != *'for the file'* ]]
    for name in web1 'web 1.yaml'; do
        : >"$name"
        run virt-seed -c test:///default check "$name"
        assert_refused 1 "error: there is no domain '$name'" 'for the file, write ' "./$name" 'virsh list --all'
        # What takes no file says nothing of one.
        run virt-seed -c test:///default wait "$name"
        assert_refused 4 "there is no domain '$name'" 'virsh list --all'
        [[ $output != *'for the file'* ]]
    done
    run virt-seed -c test:///no-such-file.xml check web1
    assert_refused 1 'could not reach libvirt' 'for the file, write ./web1'
}

@test "a URI of QEMU's that is neither the system's nor a session's is refused, also for a file" {
    wired_xml >wired.xml
    run virt-seed -c qemu:///sesion check ./wired.xml
    assert_refused 2 "'qemu:///sesion' is neither the system's daemon" 'qemu:///session'
    run -0 virt-seed -c qemu:///system check ./wired.xml
}

@test "wait and status take several domains, and look for them in libvirt only" {
    local command

    run virt-seed -c test:///default wait test web1
    assert_refused 4 "there is no domain 'web1'" 'virsh list --all'
    run -1 --separate-stderr virt-seed -c test:///default status test web1
    [[ $stderr == *"there is no domain 'web1'"*'virsh list --all'* && $output == 'DOMAIN '*test* ]]
    # libvirt is not asked for a file.
    for command in wait status start update; do
        run virt-seed -c test:///no-such-file.xml "$command" test wired.xml
        assert_refused 2 "'wired.xml' is a file, and 'virt-seed $command' needs a domain" 'the name'
    done
    run -1 virt-seed -c test:///default wait test test
    [[ $output == *"error: domain 'test': "*"<domain type='test'>"* ]]
    run -2 virt-seed wait --timeout=soon web1
}

@test "status also shows a domain that cannot be read" {
    run -0 --separate-stderr virt-seed -c test:///default status test test
    [[ ${lines[0]} == 'DOMAIN  STATE    CLOUD-INIT  SINCE  '* ]]
    [[ ${lines[1]} == 'test    running  -           -      '* ]]
    [[ ${#lines[@]} -eq 2 ]]
    # If something is unknown, the reason is printed once.
    [[ ${#stderr_lines[@]} -eq 2 ]]
    [[ ${stderr_lines[0]} == "virt-seed: warning: domain 'test': "* ]]
    [[ ${stderr_lines[1]} == 'virt-seed: hint: '* ]]
    run -0 --separate-stderr virt-seed --quiet -c test:///default status test
    [[ -z $stderr ]]
}

@test "a FILE has a slash, ends in .xml or is -; anything else is a domain, whatever files there are" {
    local command

    mkdir test
    cp unwired.xml web1
    for command in set wire unset check dump pending build known-hosts 'done' edit; do
        # libvirt's driver for tests has the domain.
        run virt-seed -c test:///default "$command" test
        assert_said "<domain type='test'>"
        run virt-seed -c test:///default "$command" web1
        assert_refused 1 "there is no domain 'web1'"
        run virt-seed -c test:///no-such-file.xml "$command" web1
        assert_refused 1 'could not reach libvirt'
        run virt-seed -c test:///default "$command" web2.xml
        assert_refused 1 "could not read 'web2.xml'"
    done
    run -0 virt-seed wire ./web1
    run -0 virt-seed wire - <web1
    # An operand that can only be a file needs none of this.
    virt-seed --quiet build -o image ./web1
    run -0 virt-seed inspect image
    run -0 virt-seed import seed image
}

# --- output of wire and unset -----------------------------------------------------------------

@test "wire prints the XML on stdout and its changes on stderr" {
    run -0 --separate-stderr virt-seed wire unwired.xml
    [[ $output == "$(<wired.xml)" ]]
    [[ $stderr == 'web1: wired (cdrom sda, serial, report channel, log channel)' ]]
    run -0 --separate-stderr virt-seed wire wired.xml
    [[ $stderr == 'web1: already wired' ]]
    run -0 --separate-stderr virt-seed wire --verbose unwired.xml
    [[ ${stderr_lines[0]} == 'web1: wired ('* ]]
    [[ $stderr == *$'\n  cdrom \'sda\' added on the scsi bus\n'* ]]
}

@test "--dry-run lists the changes and makes none" {
    cp unwired.xml before.xml
    run -0 --separate-stderr virt-seed wire --dry-run -i unwired.xml
    [[ ${lines[0]} == 'web1: would be wired (cdrom sda, serial, report channel, log channel)' ]]
    [[ $output == *$'\n  cdrom \'sda\' added on the scsi bus\n'* && -z $stderr ]]
    cmp unwired.xml before.xml
    cp wired.xml before.xml
    run -0 --separate-stderr virt-seed unset --dry-run wired.xml
    [[ ${lines[0]} == 'web1: would be unset (cdrom sda, serial, report channel, log channel, <cloud-init>)' ]]
    [[ $output != *'<domain'* ]]
    cmp wired.xml before.xml
}

@test "wire, check and pending take several, and the worst one is the exit status" {
    sed 's/web1</web2</' unwired.xml >web2.xml
    run -0 virt-seed wire -i unwired.xml web2.xml
    [[ ${lines[0]} == 'web1: wired ('* && ${lines[1]} == 'web2: wired ('* ]]
    run -1 virt-seed wire -i unwired.xml ./none.xml web2.xml
    assert_said 'web1: already wired' './none.xml' 'web2: already wired'
    run virt-seed wire unwired.xml web2.xml
    assert_refused 2 'several domains'
    run virt-seed wire -o out.xml unwired.xml web2.xml
    assert_refused 2 'several domains'
    domain_xml '<ci:user-data>a: 1</ci:user-data>' >bad.xml
    run -1 virt-seed check --no-schema bad.xml web2.xml
    assert_said 'bad.xml:' "domain 'web2': no problems found"
    run -0 virt-seed check --no-schema unwired.xml web2.xml
    run -0 virt-seed --root="$root" pending unwired.xml web2.xml
    assert_said '==> web1 <==' '==> web2 <=='
    run -1 virt-seed --root="$root" pending --exit-code ./none.xml web2.xml
}

@test "what is named twice counts once" {
    run -0 virt-seed wire -i unwired.xml unwired.xml
    [[ ${#lines[@]} -eq 1 && $output == 'web1: wired ('* ]]
    run -0 virt-seed check --no-schema - - <unwired.xml
    assert_said "domain 'web1': no problems found"
}

@test "--quiet prints only errors" {
    run -0 --separate-stderr virt-seed --quiet wire unwired.xml
    [[ -z $stderr ]]
    run -0 virt-seed -q build -o seed.iso wired.xml
    [[ -z $output ]]
}

@test "-o writes to another file and leaves FILE unchanged" {
    cp unwired.xml before.xml
    run -0 --separate-stderr virt-seed wire -o out.xml unwired.xml
    [[ $output == 'web1: wired ('* ]]
    cmp out.xml wired.xml
    cmp unwired.xml before.xml
    run -0 --separate-stderr virt-seed wire -o - unwired.xml
    [[ $output == "$(<wired.xml)" ]]
}

@test "-i writes back to FILE, keeps its mode and leaves no other file" {
    mkdir directory
    cp unwired.xml directory/web1.xml
    chmod 0640 directory/web1.xml
    virt-seed wire -i directory/web1.xml
    cmp directory/web1.xml wired.xml
    [[ $(stat -c %a directory/web1.xml) = 640 ]]
    virt-seed unset --wiring-only --in-place directory/web1.xml
    [[ $(ls directory) = web1.xml ]]
    run ! grep -q "$rundir" directory/web1.xml
}

@test "-i and -o keep the owner and the group of a file that root writes" {
    [[ $EUID -eq 0 ]] || skip 'only root can give a file away'
    cp unwired.xml web1.xml
    cp unwired.xml out.xml
    chown 12345:23456 web1.xml out.xml
    chmod 0640 web1.xml out.xml
    virt-seed wire -i web1.xml
    virt-seed wire -o out.xml unwired.xml
    cmp web1.xml wired.xml
    [[ $(stat -c %u:%g:%a web1.xml) = 12345:23456:640 ]]
    [[ $(stat -c %u:%g:%a out.xml) = 12345:23456:640 ]]
}

@test "a file that cannot be written stays unchanged" {
    run virt-seed wire -o none/out.xml unwired.xml
    [[ $status -eq 1 ]]
    assert_said 'virt-seed: error: ' none
    mkdir out.xml
    run -1 virt-seed wire -o out.xml unwired.xml
    [[ -z $(ls out.xml) ]]
    run ! compgen -G 'out.xml.new*'
}

@test "-o replaces only regular files" {
    local command

    mkfifo pipe
    ln -s pipe link
    # A reader, in case somebody writes.
    exec 9<>pipe
    for command in wire unset; do
        run timeout 10 virt-seed "$command" -o pipe wired.xml
        run timeout 10 virt-seed "$command" -o link wired.xml
    done
    # An image does not fit into a pipe.
    run timeout 2 virt-seed build -o pipe wired.xml
    exec 9>&-
    [[ -p pipe && -L link ]]
}

@test "a full standard output is an error" {
    run -1 sh -c 'virt-seed dump wired.xml >/dev/full'
    assert_said 'virt-seed: error: '
    run -1 sh -c 'virt-seed wire unwired.xml >/dev/full'
    run -1 sh -c 'virt-seed build -o - wired.xml >/dev/full'
    run -1 sh -c 'virt-seed --quiet check --json wired.xml >/dev/full'
}

@test "ends silently if the reader of its output goes away" {
    local command status

    for command in 'dump wired.xml' 'wire unwired.xml' 'check --json wired.xml' 'build -o - wired.xml' '--help'; do
        mkfifo pipe
        # The only reader has gone before anything is written.
        # shellcheck disable=SC2086  # a command and its arguments
        { sleep 0.2 && virt-seed $command; } >pipe 2>said &
        : <pipe
        status=0
        wait $! || status=$?
        [[ $status -eq 141 ]]
        [[ $(<said) = '' || $(<said) = "domain 'web1': "* ]]
        rm pipe
    done
}

@test "finishes its changes and says what failed, even if the reader of its output goes away" {
    local status=0

    mkfifo pipe
    { sleep 0.2 && virt-seed wire --json -o out.xml unwired.xml; } >pipe &
    : <pipe
    wait $! || status=$?
    [[ $status -eq 141 ]]
    cmp out.xml wired.xml
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    chmod 0 "$root$confdir/secrets/web1/userdata"
    domain_xml '<ci:user-data secret="web1"/>' >secret.xml
    become_nobody
    status=0
    { sleep 0.2 && "${as_nobody[@]}" virt-seed --root "$root" dump secret.xml; } >pipe 2>said &
    : <pipe
    wait $! || status=$?
    [[ $status -eq 1 ]]
    grep '^virt-seed: error: ' said
}

@test "-i and -o cannot be combined, and -i needs a file" {
    run virt-seed wire -i -o out.xml unwired.xml
    assert_refused 2 --in-place
    [[ ! -e out.xml ]]
    run virt-seed wire -i - <unwired.xml
    assert_refused 2 --in-place
}

@test "--json prints the changes if the XML is written elsewhere" {
    run virt-seed wire --json unwired.xml
    assert_refused 2 --json
    run -0 --separate-stderr virt-seed wire --json -o out.xml unwired.xml
    [[ $(jq -r '.domain, (.changes | length > 2)' <<<"$output") = $'web1\ntrue' ]]
    run -0 --separate-stderr virt-seed wire --json -o out.xml wired.xml
    [[ $(jq -c .changes <<<"$output") = '[]' ]]
    run -0 --separate-stderr virt-seed unset --json -o out.xml wired.xml
    [[ $(jq '.changes | length > 2' <<<"$output") = true ]]
}

@test "JSON has nothing that a terminal obeys" {
    local command text='a\&#x9b;31mb\&#x202e;c\&#x200b;d'

    sed "s|<name>web1<|<name>$text<|" wired.xml >named.xml
    sed -e "s|<name>web1<|<name>$text<|" \
        -e "s|</ci:cloud-init>|<ci:user-data>#!/bin/sh\necho $text\n</ci:user-data>&|" unwired.xml >asking.xml
    for command in 'check --json named.xml' 'dump --json asking.xml' 'wire --json -o out.xml asking.xml'; do
        # shellcheck disable=SC2086  # a command and its options
        run --separate-stderr virt-seed $command
        [[ $status -le 1 && $output = *'\u202E'* ]]
        LC_ALL=C run ! grep -a '[^ -~]' <<<"$output"
    done
}

@test "unset removes the request and its wiring" {
    run -0 --separate-stderr virt-seed unset wired.xml
    [[ $output != *"$namespace"* && $output != *"$rundir"* && $output != *smbios* ]]
    [[ $output != *'<metadata'* ]]
    run -0 --separate-stderr virt-seed unset - <<<"$output"
    [[ $stderr == "web1: nothing of virt-seed's to remove" ]]
}

@test "unset keeps what the serial has of another datasource" {
    sed 's|ds=nocloud;dsmode=net|SN-1 & ds=ec2|' wired.xml | virt-seed --quiet unset - >out.xml
    [[ $(xmllint --xpath 'string(//entry[@name="serial"])' out.xml) = 'SN-1 ds=ec2' ]]
}

@test "unset keeps the rest of the metadata" {
    sed 's|<metadata>|<metadata><my:note xmlns:my="urn:my">x</my:note>|' wired.xml |
        virt-seed --quiet unset - >out.xml
    [[ $(xmllint --xpath 'count(/domain/metadata/*)' out.xml) = 1 ]]
}

@test "gives a UUID to a domain without one" {
    sed '/<uuid>/d' unwired.xml | virt-seed wire -o out.xml -
    given=$(xmllint --xpath 'string(/domain/uuid)' out.xml)
    [[ $given =~ ^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ ]]
    [[ $(xmllint --xpath 'string(//disk[@device="cdrom"]/source/@file)' out.xml) = \
        "$rundir/$given.iso" ]]
    sed '/<uuid>/d' unwired.xml | virt-seed wire -o again.xml -
    [[ $(xmllint --xpath 'string(/domain/uuid)' again.xml) != "$given" ]]
}

@test "recognizes another program's seed by its label, too" {
    virt-seed --quiet build -o data.img wired.xml
    sed "s|<devices>|<devices><disk type='file' device='disk'><driver type='raw'/>\
<source file='$PWD/data.img'/><target dev='vdb' bus='virtio'/></disk>|" unwired.xml >labelled.xml
    run virt-seed wire labelled.xml
    assert_refused 1 "$PWD/data.img" label --replace
    run -0 --separate-stderr virt-seed wire --replace --verbose labelled.xml
    [[ $output != *data.img* ]]
    [[ $stderr == *"$PWD/data.img"*removed* ]]
}

@test "control characters in names do not reach the terminal" {
    sed 's|<name>web1|<name>web1\&#x9;\&#x7f;x|' unwired.xml >odd.xml
    run -0 --separate-stderr virt-seed wire odd.xml
    [[ $stderr != *$'\x7f'* ]]
    [[ $stderr == *'?x'* ]]
    domain_xml | sed "s|<ci:cloud-init.*|<vm:vm xmlns:vm='http://ovirt.org/vm/1.0'><vm:device devtype='disk' name='hdc'>\
<vm:payload><vm:volId>cidata</vm:volId><vm:file path='a\&#x9b;31m'>eA==</vm:file></vm:payload></vm:device></vm:vm>|" >odd.xml
    run -0 virt-seed dump odd.xml
    [[ $output == '==> a?31m <=='* ]]
}

# --- dump -------------------------------------------------------------------------------------

@test "dump prints one document byte for byte" {
    printf '#!/bin/sh\n# \001\177 and no end of line' >bytes
    domain_xml "<ci:user-data encoding='base64'>$(base64 bytes)</ci:user-data>" >bytes.xml
    virt-seed dump bytes.xml user-data | cmp - bytes
    virt-seed dump bytes.xml meta-data | jq -e '."local-hostname" == "web1"'
}

@test "dump lists the documents if the one asked for does not exist" {
    run virt-seed dump wired.xml network-config
    assert_refused 2 "'network-config'" 'meta-data, user-data, vendor-data'
}

@test "dump --json prints the size of each document and its text or base64" {
    domain_xml '<ci:user-data encoding="base64">H4sIAAAAAAACA1NW1E/KzNMvzuACAB2d+wQKAAAA</ci:user-data>' >gzip.xml
    run -0 virt-seed dump --json gzip.xml
    [[ $(jq -r '."volume-id"' <<<"$output") = cidata ]]
    [[ $(jq -r '.documents[].path' <<<"$output") = $'meta-data\nuser-data\nvendor-data' ]]
    [[ $(jq -r '.documents[1].base64' <<<"$output") = 'H4sIAAAAAAACA1NW1E/KzNMvzuACAB2d+wQKAAAA' ]]
    [[ $(jq -r '.documents[1].size' <<<"$output") = 30 ]]
    run -0 virt-seed dump --json gzip.xml meta-data
    [[ $(jq -r '.documents | length' <<<"$output") = 1 ]]
}

@test "dump and check print secrets only with --show-secrets" {
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    domain_xml '<ci:user-data secret="web1"/>' >secret.xml
    for command in dump 'dump --json' check 'check --json'; do
        # shellcheck disable=SC2086  # a command and its option
        run virt-seed --root "$root" $command secret.xml
        [[ $output != *hunter2* ]]
        [[ $output != *virt-seed:\ error* ]]
    done
    run -0 virt-seed --root "$root" dump secret.xml user-data
    [[ $output = '<secret web1/userdata>' ]]
    run -0 virt-seed --root "$root" dump --show-secrets secret.xml user-data
    [[ $output = $'#cloud-config\npassword: hunter2' ]]
    run -0 virt-seed --root "$root" dump --json --show-secrets secret.xml user-data
    [[ $(jq -r '.documents[0].text' <<<"$output") = $'#cloud-config\npassword: hunter2' ]]
}

@test "dump shows the reporter as one line, unless all or one document is asked for" {
    run -0 virt-seed dump wired.xml
    assert_said "virt-seed's progress reporter; --full shows it"
    [[ $output != *find_device* ]]
    run -0 virt-seed dump --full wired.xml
    assert_said find_device 'report &'
    run -0 virt-seed dump wired.xml vendor-data
    assert_said find_device
    domain_xml >configdrive.xml
    sed -i 's/<ci:cloud-init /&datasource="configdrive" /' configdrive.xml
    run -0 virt-seed dump configdrive.xml
    assert_said 'progress reporter'
    [[ $output != *find_device* ]]
}

@test "dump omits a secret that the caller may not read, and fails" {
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    chmod 0 "$root$confdir/secrets/web1/userdata"
    domain_xml '<ci:user-data secret="web1"/>' >secret.xml
    become_nobody
    run --separate-stderr "${as_nobody[@]}" virt-seed --root "$root" dump --show-secrets secret.xml
    [[ $output == *'==> meta-data <=='*$'<secret web1/userdata>\n'* ]]
    [[ $stderr == 'virt-seed: error: '*$'\n''virt-seed: hint: '* ]]
    [[ $status -eq 1 ]]
    run "${as_nobody[@]}" virt-seed --root "$root" build -o - secret.xml
    assert_refused 1 secrets
}

@test "refuses a secret that the domain may not use, for every caller" {
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    make_secret web1 allow db1
    domain_xml '<ci:user-data secret="web1"/>' >secret.xml
    run virt-seed --root "$root" dump --show-secrets secret.xml
    assert_refused 1 "domain 'web1': <" 'the domain may not use the secret' "/secrets/web1/allow"
    run virt-seed --root "$root" build -o seed.iso secret.xml
    assert_refused 1 "domain 'web1': <" 'the domain may not use the secret'
    [[ ! -e seed.iso ]]
}

# --- build ------------------------------------------------------------------------------------

@test "build writes an image with mode 0600" {
    run -0 virt-seed build -o seed.iso wired.xml
    [[ $output = 'seed.iso: label cidata, 3 documents' ]]
    [[ $(stat -c %a seed.iso) = 600 ]]
    run -0 virt-seed build --force wired.xml
    cmp seed.iso <(virt-seed build -o - wired.xml)
}

@test "build replaces an existing file only with --force" {
    echo old >seed.iso
    run virt-seed build wired.xml
    assert_refused 1 "'seed.iso' exists already" '--force'
    [[ $(<seed.iso) = old ]]
    virt-seed --quiet build --force wired.xml
    cmp seed.iso <(virt-seed build -o - wired.xml)
    ln -s none.iso link.iso
    run -1 virt-seed build -o link.iso wired.xml
    virt-seed --quiet build -o /dev/null wired.xml
}

@test "build appends to a file that the shell has opened for appending" {
    echo before >image
    virt-seed build -o - wired.xml >>image
    cmp <(echo before; virt-seed build -o - wired.xml) image
}

@test "build does not leave half an image" {
    run -1 virt-seed build -o none/seed.iso wired.xml
    domain_xml '<ci:user-data>a: 1</ci:user-data>' >bad.xml
    echo old >seed.iso
    run virt-seed build -o seed.iso bad.xml
    assert_refused 1 '<user-data>'
    [[ $(<seed.iso) = old ]]
    run ! compgen -G 'seed.iso.new*'
}
