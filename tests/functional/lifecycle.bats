#!/usr/bin/env bats
# lifecycle.bats: virt-seed-hook at each of libvirt's operations, with a directory as the
# host's "/".
# shellcheck disable=SC2030,SC2031  # a function called in a test, which runs in a subshell
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_root
    seeds=$root$rundir
    domain_xml >unwired.xml
    wired_xml >wired.xml
}

# The run-time directory has no file of the domain, except the mark that its start resumes a guest, which
# release removes.
nothing_is_left() {
    ! compgen -G "$seeds/$uuid*" | grep -v '\.resumed$'
}

# refuses_start FILE PATTERN...: as assert_start_refused, and no file is left.
refuses_start() {
    assert_start_refused "$@"
    nothing_is_left
}

# --- a boot -----------------------------------------------------------------------------------

@test "prepare makes the seed with mode 0400" {
    lifecycle wired.xml prepare
    [[ $(ls "$seeds") = "$uuid.iso"$'\n'"$uuid.iso.made" ]]
    [[ $(stat -c %a "$seeds/$uuid.iso") = 400 ]]
    [[ $(stat -c %a "$seeds") = 711 ]]
    cmp "$seeds/$uuid.iso" <(virt-seed build -o - wired.xml)
}

@test "prepare makes the same bytes at every start and in every time zone" {
    lifecycle wired.xml prepare
    cp "$seeds/$uuid.iso" first.iso
    sleep 1.1
    TZ='<+09>-9' lifecycle wired.xml prepare
    cmp "$seeds/$uuid.iso" first.iso
    run ! cmp -s "$seeds/$uuid.iso" <(sed 's/web1</web2</' wired.xml | virt-seed build -o - -)
}

@test "prepare gives the seed to the user that QEMU runs as" {
    mkdir -p "$root$qemu_home"
    if [[ $EUID -eq 0 ]]; then
        chown 64055:64056 "$root$qemu_home"
    fi
    lifecycle wired.xml prepare
    [[ $(stat -c %u:%g "$seeds/$uuid.iso") = $(stat -c %u:%g "$root$qemu_home") ]]
    [[ $(stat -c %a "$seeds/$uuid.iso") = 400 ]]
}

# has_modes PATH FILE DIRECTORY: PATH is a file of that mode in a directory of that mode, or a directory with
# such files in another one.
has_modes() {
    local path=$1

    if [[ -d $path ]]; then
        [[ $(find "$path" -type f -printf '%m\n' | sort -u) = "$2" && $(stat -c %a "$path") = "$3" ]]
    else
        [[ $(stat -c %a "$path") = "$2" ]]
    fi && [[ $(stat -c %a "$(dirname "$path")") = "$3" ]]
}

# listed: prints the rows of SECURITY.md's table of files: what, path, mode, mode of directories.
listed() {
    # shellcheck disable=SC2016  # the page's backticks
    sed -n 's/^| \([a-z ]*\) | `\([^`]*\)` | 0\([0-7]*\); director[a-z]* 0\([0-7]*\) |.*/\1|\2|\3|\4/p' \
        "$top_srcdir/SECURITY.md" | to_build | sed "s|/var/lib/virt-seed|$statedir|"
}

# are_as_listed COUNT GREP-ARGUMENT...: so many rows are chosen by grep, and each has its modes.
are_as_listed() {
    local count=$1 what path file directory rows=0

    while IFS='|' read -r what path file directory; do
        echo "$what: $path"
        has_modes "$root${path/UUID/$uuid}" "$file" "$directory"
        rows=$((rows + 1))
    done < <(listed | grep "${@:2}")
    [[ $rows -eq $count ]]
}

# net.bats looks at what is served, try.bats at rehearsals.
# bats test_tags=native
@test "what a start leaves on the host has the modes that SECURITY.md lists" {
    sed 's/<ci:cloud-init /&ssh-host-keys="generate" /' wired.xml >generating.xml
    lifecycle generating.xml prepare
    are_as_listed 2 '^[a-z]* until started|'
    lifecycle_beside_journal generating.xml started
    are_as_listed 5 -v -e ' until started|' -e ' ended|' -e '^rehearsals|' -e '^served documents|'
    [[ $(ls "$seeds" "$root$statedir") != *.made* && $(ls "$root$statedir") != *.next* ]]
    echo 'it failed' >"$root$reportdir/$uuid.log"
    lifecycle generating.xml release
    are_as_listed 1 ' ended|'
}

@test "prepare fills in the host's secrets and files" {
    make_secret web1 userdata $'#cloud-config\npassword: hunter2\n'
    mkdir -p "$root$confdir/files/site"
    echo '#cloud-config' >"$root$confdir/files/site/base.yaml"
    wired_xml '<ci:user-data secret="web1"/><ci:vendor-data file="site/base.yaml"/>' >secret.xml
    lifecycle secret.xml prepare
    grep -q hunter2 "$seeds/$uuid.iso"
}

# ends_guest FILE PATTERN...: at started, the guest must end, and the reasons are said.
ends_guest() {
    run --separate-stderr hook-in-root --root="$root" web1 started begin - <"$1"
    shift
    only_stderr
    assert_refused 1 "$@"
    [[ ${#lines[@]} -eq 2 ]]
}

@test "a seed that is named in text alone is no reason to end a guest" {
    local text="<description>its seed was $rundir/$uuid.iso</description>"

    sed "s|</uuid>|&$text|" unwired.xml >described.xml
    sed -i '/<metadata>/,/<\/metadata>/d' described.xml
    lifecycle described.xml prepare
    lifecycle described.xml started
    nothing_is_left
}

@test "started ends a guest whose seed was written to, replaced or removed, unless it was resumed" {
    lifecycle wired.xml prepare
    lifecycle wired.xml started
    [[ $(ls "$seeds") = "$uuid.iso" ]]
    lifecycle wired.xml prepare
    cat wired.xml >>"$seeds/$uuid.iso"
    ends_guest wired.xml 'another program wrote to the seed'
    lifecycle wired.xml prepare
    echo another >"$seeds/another"
    mv "$seeds/another" "$seeds/$uuid.iso"
    ends_guest wired.xml 'another program wrote to the seed'
    # virtlogd renames files that have become large.
    lifecycle wired.xml prepare
    mv "$seeds/$uuid.iso" "$seeds/$uuid.iso.0"
    ends_guest wired.xml 'another program wrote to the seed, or replaced or removed it'
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    echo >>"$seeds/$uuid.iso"
    lifecycle wired.xml started
    rm "$seeds/$uuid.iso"
    lifecycle wired.xml started
}

# start_refused FILE PATTERN...: at the operation "start", for each of the reasons.
start_refused() {
    run -1 hook-in-root --root="$root" web1 start begin - <"$1"
    shift
    assert_said "virt-seed: error: domain 'web1': " 'virt-seed: hint: ' "$@"
    [[ ${#lines[@]} -eq 2 ]]
}

@test "start refuses a guest whose disk leads to another's seed by its image, also a resumed one" {
    lifecycle wired.xml prepare
    lifecycle wired.xml start
    sed "s|</disk>|<backingStore type='file'><source file='$rundir/$other_uuid.iso'/></backingStore>&|" \
        wired.xml >chain.xml
    start_refused chain.xml '<disk> names ' "$other_uuid.iso"
    lifecycle wired.xml release
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    start_refused chain.xml '<disk> names ' "$other_uuid.iso"
    # Nothing is judged when the guest runs.
    lifecycle chain.xml started
}

# refuse_or_pass FILE OPERATION: it is refused only because of the time that it takes.
refuse_or_pass() {
    hook-in-root --root="$root" web1 "$2" begin - <"$1" >said 2>&1 || :
    [[ ! -s said || $(<said) = *'takes too long to find out where the paths'* ||
        $(<said) = *'took more than 20 seconds'* ]]
}

# bats test_tags=native
@test "prepare and start take two seconds for 16 MiB of paths, or refuse them" {
    local name target operation

    target=$(printf './%.0s' {1..2000})
    for ((name = 0; name < 38; name++)); do
        ln -s "${target}l$((name + 1))" "$root/l$name"
    done
    mkdir "$root/l38"
    # Of virt-seed, there is the name of a directory alone.
    sed -e '/<metadata>/,/<\/metadata>/d' -e 's|/var/lib/libvirt/images|/srv/virt-seed|' unwired.xml >none.xml
    # Lists of short ones; long ones; ones that the kernel follows for long.
    {
        sed '/<devices>/,$d' none.xml
        yes "<x>$(printf '/a,%.0s' {1..1300})</x>" | head -n 4100
        sed -n '/<devices>/,$p' none.xml
    } >short.xml
    {
        sed '/<devices>/,$d' none.xml
        yes "<x>$(printf '/a%.0s' {1..2000})</x>" | head -n 4100
        sed -n '/<devices>/,$p' none.xml
    } >long.xml
    {
        sed '/<devices>/,$d' none.xml
        echo "<sysinfo type='smbios'><oemStrings>"
        target=$(printf '/x%.0s' {1..2000})
        for name in {1..150}; do
            echo "<entry>/l0/$name$target</entry>"
        done
        echo "</oemStrings></sysinfo>"
        sed -n '/<devices>/,$p' none.xml
    } >links.xml
    for name in short long links; do
        for operation in prepare start; do
            TIMEFORMAT='%U %S'
            { time refuse_or_pass $name.xml "$operation"; } 2>spent
            if ! grep -q __asan_init "$(command -v virt-seed-maker)"; then
                awk '{ exit !($1 + $2 < 2) }' spent
            fi
        done
    done
    [[ -s said ]]
}

@test "release removes the seed and leftovers, of this domain only" {
    lifecycle wired.xml prepare
    touch "$seeds/$uuid.iso.new.0a1b2c3d" "$seeds/$uuid.resumed" "$seeds/$other_uuid.iso"
    lifecycle wired.xml release end
    [[ $(ls "$seeds") = "$other_uuid.iso" ]]
    lifecycle wired.xml release end
}

@test "release works for a domain whose request became invalid while it ran" {
    lifecycle wired.xml prepare
    sed 's|<ci:cloud-init |<ci:cloud-init bus="none" |' wired.xml >invalid.xml
    lifecycle invalid.xml release end
    nothing_is_left
}

# --- refusals ---------------------------------------------------------------------------------

@test "refuses a cold boot of an unwired domain" {
    refuses_start unwired.xml "domain 'web1'" 'not wired for it yet' 'virt-seed wire'
}

# lifecycle_beside_a_stand_in: the hook in a directory where `virt-seed` only notes how
# it was called.
lifecycle_beside_a_stand_in() {
    mkdir -p bin "$root$definitions"
    cp "$top_builddir"/{hook-in-root,virt-seed-maker} bin/
    cat >bin/virt-seed <<END
#!/bin/sh
{ echo "\$@"; ls /proc/\$\$/fd; readlink /proc/\$\$/fd/2; } >'$PWD/noted.new'
mv '$PWD/noted.new' '$PWD/noted'
END
    chmod +x bin/virt-seed
    touch "$root$definitions/web1.xml"
    PATH=$PWD/bin:$PATH
}

# bats test_tags=native
@test "wires a domain shortly after refusing its start" {
    lifecycle_beside_a_stand_in
    refuses_start unwired.xml 'wiring it now; run: virsh start web1'
    wait_until 60 test -e noted
    [[ $(head -n 1 noted) = "--connect qemu:///system wire --after-refusal="*" $uuid" ]]
    # It has none of the descriptors that libvirt reads until they are closed.
    [[ $(tail -n 1 noted) = /dev/null ]]
}

# bats test_tags=native
@test "says nothing of wiring if the command cannot be run" {
    lifecycle_beside_a_stand_in
    echo 'not a program' >bin/virt-seed
    refuses_start unwired.xml 'run: virt-seed wire web1 && virsh start web1'
}

@test "autowire = no leaves the definition unchanged, and the hint names the command" {
    lifecycle_beside_a_stand_in
    echo 'autowire = no' >"$root$confdir/virt-seed.conf"
    refuses_start unwired.xml 'virt-seed wire web1 && virsh start web1'
    sleep 0.2
    [[ ! -e noted ]]
}

@test "does not wire a transient domain, but says how to wire its XML" {
    lifecycle_beside_a_stand_in
    rm "$root$definitions/web1.xml"
    refuses_start unwired.xml 'virsh create'
    sleep 0.2
    [[ ! -e noted ]]
}

@test "offers the emulator that needs no wiring to a transient domain that it can seed" {
    refuses_start unwired.xml 'or give it <emulator>' 'virt-seed-qemu-system-x86_64'
    offers_no_emulator 's|<ci:cloud-init |&bus="sata" |'
    offers_no_emulator "s|<ci:cloud-init |&datasource='nocloud-net' |
        s|</devices>|<interface type='user'/>&|"
    # A domain that is wired in part cannot use the emulator.
    sed 's|<smbios[^>]*/>||' wired.xml >unwired.xml
    offers_no_emulator ''
}

# offers_no_emulator SCRIPT: the hint for unwired.xml, edited by this script of sed, names no emulator.
offers_no_emulator() {
    sed "$1" unwired.xml >other.xml
    refuses_start other.xml 'virt-seed wire FILE | virsh create'
    [[ $stderr != *'<emulator>'* ]]
}

@test "tells a snapshot from before the wiring from an unwired domain" {
    lifecycle_beside_a_stand_in
    cp wired.xml "$root$definitions/web1.xml"
    refuses_start unwired.xml snapshot 'unwired = warn' "$confdir/virt-seed.conf"
    sleep 0.2
    [[ ! -e noted ]]
}

@test "unwired = warn lets an unwired domain start" {
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    lifecycle unwired.xml prepare
}

@test "a mistake in the configuration prevents no start" {
    printf '%s\n' 'unwired = perhaps' 'vendor-data = base' >"$root$confdir/virt-seed.conf"
    mkdir -p "$root$confdir/files"
    echo '#!/bin/script-of-the-host' >"$root$confdir/files/base"
    lifecycle wired.xml prepare
    grep -q script-of-the-host "$seeds/$uuid.iso"
    lifecycle wired.xml release end
}

@test "wires nothing if the configuration has a mistake" {
    lifecycle_beside_a_stand_in
    echo 'autowire: no' >"$root$confdir/virt-seed.conf"
    refuses_start unwired.xml 'virt-seed wire web1 && virsh start web1'
    sleep 0.2
    [[ ! -e noted ]]
}

@test "refuses a domain with another domain's seed" {
    sed "s|$uuid.iso|$other_uuid.iso|" wired.xml >clone.xml
    refuses_start clone.xml "another domain's seed"
}

@test "refuses a domain with another program's seed" {
    # The hook cannot ask libvirt where a volume is.
    local type source

    for source in "file file='/srv/seed.iso'" "volume pool='images' volume='seed.iso'" \
        "network protocol='nbd' name='seed.iso'"; do
        type=${source%% *}
        sed "s|</devices>|<disk type='$type' device='disk'><source ${source#* }/>\
<target dev='sdz' bus='sata'/></disk>&|" wired.xml >"foreign-$type.xml"
        refuses_start "foreign-$type.xml" seed.iso --replace
    done
    sed "s|^<domain type='kvm'|& xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'|
        s|</domain>|<qemu:commandline><qemu:arg value='-smbios'/>\
<qemu:arg value='type=1,serial=ds=nocloud-net;s=http://192.0.2.1/'/></qemu:commandline>&|" \
        wired.xml >foreign-arguments.xml
    refuses_start foreign-arguments.xml -smbios 'ds=nocloud-net'
    # A guest that has run with it is not lost for that.
    for type in file volume network arguments; do
        lifecycle "foreign-$type.xml" restore
        lifecycle "foreign-$type.xml" prepare
        [[ -e $seeds/$uuid.iso ]]
        lifecycle "foreign-$type.xml" release end
    done
}

@test "refuses a domain with the disk but without a request" {
    sed '/<metadata>/,/<\/metadata>/d' wired.xml >unasked.xml
    refuses_start unasked.xml "domain 'web1'" 'virt-seed unset web1'
}

@test "refuses a request with a mistake" {
    wired_xml '<ci:hostname>web1</ci:hostname>' | sed 's/>web1<\/ci:/>web_1<\/ci:/' >bad.xml
    refuses_start bad.xml "domain 'web1'" "'web_1'"
    sed "s|<ci:hostname>.*</ci:hostname>|<ci:user-data>package_update: true</ci:user-data>|" \
        bad.xml >header.xml
    refuses_start header.xml "domain 'web1'" '<user-data>' '#cloud-config'
    sed "s|<ci:hostname>.*</ci:hostname>|<ci:user-data secret='none'/>|" bad.xml >secret.xml
    refuses_start secret.xml "domain 'web1'" "$confdir/secrets/none"
}

@test "refuses a domain without a UUID" {
    sed '/<uuid>/d' wired.xml >no-uuid.xml
    refuses_start no-uuid.xml 'no UUID follows the name'
}

@test "a refused start leaves no older seed of the domain" {
    lifecycle wired.xml prepare
    lifecycle wired.xml release end
    refuses_start unwired.xml 'not wired'
}

@test "ignores a domain that does not concern virt-seed" {
    sed '/<metadata>/,/<\/metadata>/d' unwired.xml >none.xml
    for operation in prepare release restore migrate; do
        lifecycle none.xml "$operation"
    done
    [[ ! -e $seeds/$uuid.iso ]]
}

# --- resumed guests ---------------------------------------------------------------------------

@test "an unwired domain starts after restore and migrate" {
    for operation in restore migrate; do
        lifecycle unwired.xml "$operation"
        [[ -e $seeds/resume:web1 ]]
        lifecycle_beside_journal unwired.xml prepare
        [[ $(journal_field MESSAGE) = *'resumed without a seed: its XML is not wired for one' ]]
        [[ $(ls "$seeds") = "$uuid.resumed" ]]
        lifecycle unwired.xml release
        [[ -z $(ls "$seeds") ]]
    done
    # Once: the next start is a cold boot again.
    refuses_start unwired.xml 'not wired'
}

@test "makes the seed again after restore, whatever check would say of it" {
    wired_xml '<ci:user-data>package_update: true</ci:user-data>' >ignored.xml
    lifecycle ignored.xml restore
    lifecycle ignored.xml prepare
    [[ $(ls "$seeds") = "$uuid.iso"$'\n'"$uuid.iso.made"$'\n'"$uuid.resumed" ]]
    lifecycle ignored.xml release end
    refuses_start ignored.xml '<user-data>'
}

@test "a mark without a start is forgotten after ten seconds" {
    lifecycle unwired.xml restore
    # It says when it was made, in seconds since the host booted.
    echo "$(($(cut -d. -f1 /proc/uptime) - 11))" >"$seeds/resume:web1"
    refuses_start unwired.xml 'not wired'
}

@test "the mark of a restore that failed, since the guest ran, is gone with that guest" {
    lifecycle wired.xml prepare
    lifecycle wired.xml started
    lifecycle wired.xml restore
    lifecycle wired.xml release
    [[ -z $(ls "$seeds") ]]
    refuses_start unwired.xml 'not wired'
}

# libvirt passes on the XML of "virsh restore --xml" as it is, before it compares the UUIDs, and the
# name from the saved state.
@test "a mark is valid only for the domain whose name libvirt gave with it" {
    hook-in-root --root="$root" other restore begin - <unwired.xml
    refuses_start unwired.xml 'not wired'
    hook-in-root --root="$root" other restore begin - <wired.xml
    lifecycle wired.xml prepare
    echo >>"$seeds/$uuid.iso"
    ends_guest wired.xml 'another program wrote to the seed'
}

@test "a domain that is looked at for its paths alone starts whatever the run-time directory is" {
    sed -e '/<metadata>/,/<\/metadata>/d' -e 's|/var/lib/libvirt/images|/srv/virt-seed|' unwired.xml >none.xml
    mkdir -p "$seeds"
    chmod 0777 "$seeds"
    lifecycle none.xml prepare
    refuses_start wired.xml 'has mode 0777'
}

@test "restore never fails" {
    mkdir -p "${seeds%/*}"
    ln -s /nowhere "$seeds"
    lifecycle wired.xml restore
}

@test "other operations exit 0 and do nothing" {
    local operation

    for operation in stopped reconnect attach migrated no-such-operation ''; do
        lifecycle unwired.xml "$operation"
        lifecycle /dev/null "$operation"
    done
    [[ ! -e $seeds ]]
}

# --- the run-time directory -------------------------------------------------------------------

@test "refuses a run-time directory that is a link" {
    mkdir -p "${seeds%/*}" elsewhere
    ln -s "$PWD/elsewhere" "$seeds"
    refuses_start wired.xml "$rundir" 'symbolic link'
    [[ -z $(ls elsewhere) ]]
}

@test "refuses a run-time directory that others may write to" {
    mkdir -p "$seeds"
    chmod 0777 "$seeds"
    refuses_start wired.xml "$rundir" 0777
}

@test "refuses a run-time directory that belongs to another user" {
    [[ $EUID -eq 0 ]] || skip 'only root can give directories away'
    mkdir -p "$seeds"
    chown 64055 "$seeds"
    refuses_start wired.xml "$rundir" 'user 64055'
}

@test "refuses the start if the run-time directory is full, and leaves no half seed" {
    unshare --user --map-root-user --mount true 2>/dev/null ||
        skip 'user namespaces are not allowed here'
    mkdir -p "$seeds"
    # shellcheck disable=SC2016  # the words are the inner shell's
    run unshare --user --map-root-user --mount bash -c '
        mount -t tmpfs -o size=32k,mode=0711 tmpfs "$2" || exit 99
        hook-in-root --root="$1" web1 prepare begin - <wired.xml
        status=$?
        ls -A "$2"
        exit "$status"' bash "$root" "$seeds"
    assert_refused 1 'No space left on device' 'df '
    [[ ${#lines[@]} -eq 2 ]]
}

# --- the program ------------------------------------------------------------------------------

@test "refuses malformed XML" {
    head -c 400 wired.xml >part.xml
    grep -q "$namespace" part.xml
    refuses_start part.xml "domain 'web1'" 'not well-formed XML'
    sed 's|</devices>||' wired.xml >part.xml
    refuses_start part.xml "domain 'web1'" 'not well-formed XML'
    { echo text; cat wired.xml; } >part.xml
    refuses_start part.xml 'not as libvirt writes it'
}

@test "works with closed descriptors" {
    hook-in-root --root="$root" web1 prepare begin - <wired.xml >&- 2>&-
    cmp "$seeds/$uuid.iso" <(virt-seed build -o - wired.xml)
    # Not `run … <&-`: its own pipe would become standard input.
    # shellcheck disable=SC2016  # the words are the inner shell's
    run -0 sh -c 'hook-in-root --root="$1" web1 prepare begin - <&-' sh "$root"
    [[ -z $output ]]
}

# bats test_tags=native
@test "the alarm ends a wait for a run-time directory that does not respond" {
    # The alarm itself takes 20 seconds; that it is set can be seen in the process's timers.
    mkfifo xml
    hook-in-root --root="$root" web1 prepare begin - <xml 3>&- &
    local pid=$!
    exec 9>xml
    wait_for_alarm "$pid"
    cat wired.xml >&9
    exec 9>&-
    wait "$pid"
}

# --- the report -------------------------------------------------------------------------------

# report_is CONTENT: the domain's report has it, and is closed to others.
report_is() {
    [[ $(<"$root$reportdir/$uuid.report") = "$1" ]]
    [[ $(stat -c %a "$root$reportdir/$uuid.report") = 640 ]]
}

@test "prepare makes an empty report and removes that of an earlier boot" {
    lifecycle wired.xml prepare
    report_is ''
    echo said >"$root$reportdir/$uuid.report"
    echo earlier >"$root$reportdir/$uuid.report.0"
    echo 'much earlier' >"$root$reportdir/$uuid.report.1"
    echo "another's" >"$root$reportdir/$other_uuid.report"
    lifecycle wired.xml prepare
    report_is ''
    [[ $(ls "$root$reportdir") = "$other_uuid.report"$'\n'"$uuid.log"$'\n'"$uuid.report" ]]
}

@test "the log is root's alone, and its end stays after the domain's, until it boots again" {
    local log=$root$reportdir/$uuid.log kept=$root$statedir/$uuid.log

    install -d -m 0711 "$root$statedir"
    echo 'of an earlier boot' >"$root$statedir/$uuid.log"
    lifecycle wired.xml prepare
    [[ $(stat -c '%a %s' "$log") = '600 0' && ! -e $kept ]]
    { head -c 100000 /dev/zero | tr '\0' a && echo end; } >"$log"
    echo earlier >"$log.0"
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    [[ $(stat -c '%a %s' "$log") = '600 100004' ]]
    lifecycle wired.xml release
    [[ ! -e $log && ! -e $log.0 ]]
    [[ $(stat -c '%a %s' "$kept") = '600 65536' && $(tail -c 5 "$kept") = aend ]]
    # A resumed guest has said it before.
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    lifecycle wired.xml release
    [[ $(tail -c 5 "$kept") = aend ]]
    lifecycle wired.xml prepare
    [[ ! -e $kept ]]
    # The host has crashed: what is left there is of a boot before.
    echo left >"$log"
    lifecycle wired.xml prepare
    [[ ! -s $log ]]
    lifecycle wired.xml release
    [[ ! -e $kept && ! -e $log ]]
}

@test "neither keeping the log nor removing it follows a link" {
    local log=$root$reportdir/$uuid.log kept=$root$statedir/$uuid.log

    echo precious >precious
    lifecycle wired.xml prepare
    rm "$log"
    ln -s "$PWD/precious" "$log"
    ln -s "$PWD/precious" "$kept"
    lifecycle wired.xml release
    [[ ! -L $log && $(<precious) = precious ]]
    # Nor does a start depend on it.
    rm -f "$kept"
    mkdir "$kept"
    lifecycle wired.xml prepare
    lifecycle wired.xml release
    rmdir "$kept"
    ln -s "$PWD/precious" "$kept"
    lifecycle wired.xml prepare
    [[ -f $log && ! -L $log && ! -L $kept && $(<precious) = precious ]]
    lifecycle wired.xml release
}

@test "log=\"no\" means no file and no channel for it, and the report is made" {
    domain_xml '' | sed 's/<ci:cloud-init /&log="no" /' | virt-seed --quiet wire - >silent.xml
    run ! grep log.0 silent.xml
    lifecycle silent.xml prepare
    [[ $(ls "$root$reportdir") = "$uuid.report" ]]
    # As an earlier version has wired it: nothing of it is missing.
    domain_xml '' | virt-seed --quiet wire - |
        sed -zE "s| *<channel type='file'>\n *<source path='[^']*\.log'[^>]*>([^\n]*\n){3} *</channel>\n||" >before.xml
    run ! grep log.0 before.xml
    grep report.0 before.xml
    run lifecycle before.xml prepare
    [[ $status -eq 0 && ! $output ]]
}

@test "a resumed start keeps the report, or makes a missing one" {
    lifecycle wired.xml prepare
    echo said >"$root$reportdir/$uuid.report"
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    report_is said
    lifecycle wired.xml release
    [[ ! -e $root$reportdir/$uuid.report ]]
    lifecycle wired.xml restore
    lifecycle wired.xml prepare
    report_is ''
}

@test "does not follow a link in place of the report" {
    lifecycle wired.xml prepare
    echo precious >precious
    lifecycle wired.xml release
    ln -s "$PWD/precious" "$root$reportdir/$uuid.report"
    lifecycle wired.xml restore
    refuses_start wired.xml "$uuid.report" 'df '
    lifecycle wired.xml prepare
    report_is ''
    [[ $(<precious) = precious ]]
    [[ $(stat -c %a precious) = 644 ]]
}

@test "report=\"no\" means no report, no channel and no script" {
    domain_xml '' | sed 's/<ci:cloud-init /&report="no" /' |
        virt-seed --quiet wire - >silent.xml
    run ! grep report.0 silent.xml
    lifecycle silent.xml prepare
    [[ ! -e $root$reportdir ]]
    run ! grep -a org.virt-seed.report "$seeds/$uuid.iso"
}

@test "a domain without the channel starts, a domain with another's does not" {
    domain_xml '' | virt-seed --quiet wire - >channel.xml
    sed '/<channel /,/<\/channel>/d' channel.xml >without.xml
    lifecycle without.xml prepare
    [[ ! -e $root$reportdir ]]
    lifecycle without.xml release
    sed "s|$uuid.report|$other_uuid.report|" channel.xml >of-another.xml
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    refuses_start of-another.xml "the report channel changed from another domain's file"
    lifecycle of-another.xml restore
    refuses_start of-another.xml 'seed or report'
}

# with_device DEVICE FILE: prints the domain with it.
with_device() {
    sed "s|</devices>|$1&|" "$2"
}

@test "refuses any device that leads to another domain's report, however it is spelled" {
    local path device xml target="<target type='virtio' name='org.example.0'/>"

    sed '/<metadata>/,/<\/metadata>/d' unwired.xml >none.xml
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    for path in "$reportdir/$other_uuid.report" "$reportdir/$other_uuid.log" \
        "$reportdir/../virt-seed/$other_uuid.report" \
        "/${reportdir%/*}/.//virt-seed/./$other_uuid.report"; do
        for device in "<channel type='file'><source path='$path'/>$target</channel>" \
            "<channel type='pty'><log file='$path'/>$target</channel>" \
            "<serial type='file'><source path='$path'/></serial>" \
            "<parallel type='file'><source path='$path'/></parallel>" \
            "<console type='pty'><log file='$path' append='on'/></console>" \
            "<rng model='virtio'><backend model='egd' type='file'><source path='$path'/></backend></rng>" \
            "<disk type='file'><source file='$path'/><target dev='vdz' bus='virtio'/></disk>"; do
            for xml in none.xml wired.xml; do
                with_device "$device" "$xml" >leads.xml
                refuses_start leads.xml report
                lifecycle leads.xml restore
                refuses_start leads.xml "another domain's seed or report"
            done
        done
    done
}

@test "report=\"no\" does not allow a channel to another domain's report" {
    domain_xml '' | virt-seed --quiet wire - |
        sed -e 's/<ci:cloud-init /&report="no" /' -e "s|$uuid.report|$other_uuid.report|" >silent.xml
    echo 'unwired = warn' >"$root$confdir/virt-seed.conf"
    refuses_start silent.xml 'not wired' 'report channel removed'
}

@test "allows a channel to the domain's own report or next to the directory" {
    sed '/<metadata>/,/<\/metadata>/d' unwired.xml >none.xml
    for path in "$reportdir/$uuid.report" "$reportdir/$uuid.log" "$reportdir-2/$other_uuid.report" /srv/virt-seed/log; do
        with_device "<channel type='file'><source path='$path'/></channel>" none.xml >own.xml
        lifecycle own.xml prepare
        lifecycle own.xml restore
        lifecycle own.xml prepare
    done
}

@test "makes no report for a channel that is not a report channel" {
    for change in "/<channel/s/type=.file./type='pty'/" "/org.virt-seed.report/s/type=.virtio./type='xen'/" \
        's/org.virt-seed.report.0/org.example.0/' "/$uuid.report/s/append=.on./append='off'/"; do
        domain_xml '' | virt-seed --quiet wire - | sed "$change" >miswired.xml
        run ! cmp -s miswired.xml <(domain_xml '' | virt-seed --quiet wire -)
        lifecycle miswired.xml prepare
        [[ ! -e $root$reportdir/$uuid.report ]]
    done
}

@test "release finds the seed and the report if the domain has only the channel left" {
    lifecycle wired.xml prepare
    [[ -e $seeds/$uuid.iso && -e $root$reportdir/$uuid.report ]]
    sed -e '/<metadata>/,/<\/metadata>/d' -e '/device=.cdrom/,/<\/disk>/d' wired.xml >channel.xml
    run ! grep -e "$namespace" -e "$rundir" channel.xml
    lifecycle channel.xml release end
    nothing_is_left
    [[ ! -e $root$reportdir/$uuid.report ]]
}

# --- a guest that is set up -------------------------------------------------------------------

@test "a guest that is done gets only its identity, until that is undone" {
    domain_xml '<ci:hostname>db7</ci:hostname><ci:user-data secret="web1"/>
        <ci:meta-data secret="web1"/>' | sed 's/<ci:cloud-init /&boots="until-done" /' |
        virt-seed --quiet wire - >until.xml
    make_secret web1 userdata '#cloud-config'
    virt-seed --root="$root" build -o full.iso until.xml
    lifecycle until.xml prepare
    cmp "$seeds/$uuid.iso" full.iso

    run -0 virt-seed --root="$root" 'done' --dry-run until.xml
    [[ $output == "domain 'web1': would be recorded as done, in "* ]]
    run ! grep -r '"done"' "$root$statedir"
    run -0 virt-seed --root="$root" 'done' until.xml
    [[ $output == "domain 'web1': recorded as done, in $statedir/$uuid.json" ]]
    run ! grep -r cloud-config "$root$statedir"
    rm -r "$root$confdir/secrets"
    lifecycle until.xml prepare
    run -0 virt-seed --root="$root" dump --json until.xml
    [[ $(jq -r '.documents[] | select(.path != "vendor-data") | "\(.path) \(.size)"' \
        <<<"$output") == $'meta-data 87\nuser-data 0' ]]
    # The guest still reports.
    [[ $(jq -r '.documents[] | select(.path == "vendor-data").text' <<<"$output") == \
        '#cloud-boothook'$'\n''#!/bin/sh'* ]]
    [[ $(jq -r '.documents[0].text | fromjson | .["instance-id"], .["local-hostname"]' \
        <<<"$output") == "$uuid"$'\ndb7' ]]
    run -0 virt-seed inspect "$seeds/$uuid.iso"
    assert_said "instance-id $uuid, local-hostname db7"

    make_secret web1 userdata '#cloud-config'
    virt-seed --quiet --root="$root" 'done' --undo until.xml
    lifecycle until.xml prepare
    cmp "$seeds/$uuid.iso" full.iso
}

@test "boots=\"always\" ignores the record" {
    virt-seed --quiet --root="$root" 'done' wired.xml
    lifecycle wired.xml prepare
    cmp "$seeds/$uuid.iso" <(virt-seed build -o - wired.xml)
}

@test "refuses the start if the record cannot be read, and says what to do" {
    sed 's/<ci:cloud-init /&boots="until-done" /' wired.xml >until.xml
    mkdir -p "$root$statedir"
    echo '[]' >"$root$statedir/$uuid.json"
    refuses_start until.xml 'is not a JSON object' 'remove it'
}

# --- oVirt's payload --------------------------------------------------------------------------

payload_xml() {
    domain_xml | sed -e "s|<ci:cloud-init.*|<o:vm xmlns:o='http://ovirt.org/vm/1.0'>\
<o:device devtype='disk' name='sdb'><o:payload><o:volId>config-2</o:volId>\
<o:file path='openstack/latest/meta_data.json'>eyJ1dWlkIjogImYyIn0K</o:file>\
</o:payload></o:device></o:vm>|"
}

@test "prepare makes the seed of an oVirt payload if the domain is wired" {
    payload_xml | virt-seed --quiet wire - >payload.xml
    run ! grep 'ds=nocloud' payload.xml
    lifecycle payload.xml prepare
    run -0 virt-seed inspect "$seeds/$uuid.iso"
    assert_said config-2 openstack/latest/meta_data.json 'uuid f2'
    lifecycle payload.xml release end
    nothing_is_left
}

@test "prepare leaves a payload to VDSM if the domain is not wired" {
    payload_xml >payload.xml
    lifecycle payload.xml prepare
    nothing_is_left
}

# --- domains whose emulator is virt-seed-qemu -------------------------------------------------

# shim_xml [SED-SCRIPT...]: the unwired domain with that emulator, changed.
shim_xml() {
    sed -e 's|<devices>|&<emulator>/usr/bin/virt-seed-qemu-system-x86_64</emulator>|' "$@" \
        unwired.xml >shim.xml
}

@test "prepare writes the shim order and the second name of the seed" {
    shim_xml
    lifecycle shim.xml prepare
    [[ $(ls "$seeds") = "$uuid.iso"$'\n'"$uuid.iso.made"$'\n'"$uuid.libvirt-$uuid"$'\n'"$uuid.shim" ]]
    [[ $(<"$seeds/$uuid.shim") = $'ds=nocloud;dsmode=net\nreport' ]]
    [[ $(stat -c %a "$seeds/$uuid.shim") = 644 ]]
    [[ $seeds/$uuid.iso -ef $seeds/$uuid.libvirt-$uuid ]]
    cmp "$seeds/$uuid.iso" <(virt-seed build -o - wired.xml)
    lifecycle shim.xml release
    nothing_is_left
}

@test "the order has no serial if the domain is to have none" {
    for script in 's|<ci:cloud-init |&serial="no" |' 's|<ci:cloud-init |&datasource="configdrive" |' \
        "s|arch='x86_64' machine='q35'|arch='s390x' machine='s390-ccw-virtio'|"; do
        shim_xml -e "$script"
        lifecycle shim.xml prepare
        [[ $(<"$seeds/$uuid.shim") = $'\nreport' ]]
    done
}

@test "the shim gets a second name of the report that QEMU's user may write, until release" {
    local report=$root$reportdir/$uuid.report link=$root$reportdir/$uuid.libvirt-$uuid

    shim_xml
    lifecycle shim.xml prepare
    report_is ''
    [[ $report -ef $link ]]
    if [[ $EUID -eq 0 ]]; then
        mkdir -p "$root$qemu_home"
        chown 64055 "$root$qemu_home"
        lifecycle shim.xml prepare
        [[ $(stat -c %u "$report") = 64055 && $report -ef $link ]]
    fi

    echo said >"$report"
    lifecycle shim.xml restore
    lifecycle shim.xml prepare
    report_is said
    [[ $report -ef $link ]]
    lifecycle shim.xml prepare
    report_is ''
    [[ $report -ef $link ]]
    lifecycle shim.xml release
    [[ $(ls "$root$reportdir") = '' ]]
}

@test "only the XML decides whether the shim adds the report's port, also after resuming" {
    local operation

    for operation in '' restore; do
        shim_xml -e 's|<ci:cloud-init |&report="no" |'
        [[ -z $operation ]] || lifecycle shim.xml "$operation"
        lifecycle shim.xml prepare
        [[ $(<"$seeds/$uuid.shim") = 'ds=nocloud;dsmode=net' && ! -e $root$reportdir ]]
        # A channel of the user's with the port's name.
        shim_xml -e "s|</devices>|<channel type='pty'><target type='virtio' \
            name='org.virt-seed.report.0'/></channel>&|"
        [[ -z $operation ]] || lifecycle shim.xml "$operation"
        lifecycle shim.xml prepare
        [[ $(<"$seeds/$uuid.shim") = 'ds=nocloud;dsmode=net' && ! -e $root$reportdir ]]
    done
}

@test "a domain with only the shim gets a seed with its identity" {
    shim_xml -e '/<metadata>/,/<\/metadata>/d'
    lifecycle shim.xml prepare
    [[ $(virt-seed inspect "$seeds/$uuid.iso") = *"local-hostname web1"* ]]
}

@test "a start resumed with the shim gets its seed whatever the serial" {
    shim_xml -e "s|</os>|<smbios mode='host'/>&|"
    refuses_start shim.xml "<smbios mode='host'/>" 'serial="no"'
    lifecycle shim.xml restore
    lifecycle shim.xml prepare
    [[ -s $seeds/$uuid.iso && $(<"$seeds/$uuid.shim") = $'\nreport' ]]
}

@test "the shim refuses another datasource's serial, an unknown bus and a second seed" {
    shim_xml -e "s|</os>|<smbios mode='sysinfo'/>&<sysinfo type='smbios'>\
<system><entry name='serial'>ds=ec2</entry></system></sysinfo>|"
    refuses_start shim.xml "the SMBIOS serial has 'ds=ec2'"
    shim_xml -e 's|<ci:cloud-init |&bus="sata" |'
    refuses_start shim.xml 'only supports scsi' 'omit bus='
    shim_xml -e "s|<disk |<disk type='file' device='cdrom'><source file='/x/seed.iso'/>\
<target dev='sda' bus='sata'/></disk>&|"
    refuses_start shim.xml "is another tool's seed"
    cp wired.xml unwired.xml
    shim_xml
    refuses_start shim.xml "seed's disk 'sda' removed"
}

@test "wire --replace removes another datasource from the serial of a domain with the shim" {
    shim_xml -e "s|</os>|<smbios mode='sysinfo'/>&<sysinfo type='smbios'>\
<system><entry name='serial'>SN-1 ds=ec2</entry></system></sysinfo>|"
    run -1 virt-seed wire -i shim.xml
    assert_said "replace it with 'virt-seed wire --replace'"
    run -0 virt-seed wire --replace -i shim.xml
    grep -q '>SN-1</entry>' shim.xml
    lifecycle shim.xml prepare
}

@test "wire removes from a domain what the shim would add again" {
    cp wired.xml unwired.xml
    shim_xml
    virt-seed --quiet wire -i shim.xml
    run ! grep -E "$rundir|ds=nocloud|ua-virt-seed" shim.xml
    run -0 virt-seed wire shim.xml
    assert_said 'already wired'
    run -0 virt-seed check shim.xml
    assert_said 'no problems found'
}

# --- a resumed guest --------------------------------------------------------------------------

@test "refuses to resume a guest with another domain's seed" {
    sed "s/$uuid\.iso/$other_uuid.iso/" wired.xml >others.xml
    lifecycle others.xml restore
    refuses_start others.xml "another domain's seed" save-image-dumpxml
    sed '/<ci:cloud-init/d' others.xml >unasked.xml
    lifecycle unasked.xml restore
    refuses_start unasked.xml "another domain's seed"
}

@test "resumes a guest even if the content of its documents is now invalid" {
    mkdir -p "$root$confdir/files"
    printf 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVG Jos\351\n' >"$root$confdir/files/keys"
    make_secret h ssh_host_rsa_key $'\351'
    make_secret w admin-password $'\351'
    wired_xml '<ci:ssh-authorized-keys file="keys"/><ci:ssh-host-keys secret="h"/>' >odd.xml
    refuses_start odd.xml 'not text'
    lifecycle odd.xml restore
    lifecycle odd.xml prepare
    domain_xml '<ci:admin-password secret="w"/>' | sed 's/<ci:cloud-init /&datasource="configdrive" /' |
        virt-seed --quiet wire - >odd.xml
    lifecycle odd.xml restore
    lifecycle odd.xml prepare
}
