#!/usr/bin/env bats
# bats file_tags=native
# hostile-input.bats: input that was made to do harm, to virt-seed-hook and virt-seed-maker:
# size, nesting, entities, names. Whatever it is, the start gets its seed whole or is refused in two
# lines.
# shellcheck disable=SC2119  # the functions of common.bash take arguments of their own

# shellcheck source-path=SCRIPTDIR source=common.bash
source "$BATS_TEST_DIRNAME/common.bash"
# shellcheck source-path=SCRIPTDIR source=../hostile/hostile.bash
source "$BATS_TEST_DIRNAME/../hostile/hostile.bash"

# A file that no message and no seed may hold anything of, though it would be good user-data.
setup() {
    hostile_setup
    mkdir -p "$root/etc"
    printf '#!/bin/sh\n# canary\n' >"$root/etc/passwd"
    touch before
    status=0
    touch err
}

# --- making input -----------------------------------------------------------------------------

# request_xml: the wired domain whose <cloud-init> has the content that standard input is; nothing
# of virt-seed's has looked at it. $domain_name is its name, as XML has it.
request_xml() {
    begin_request
    cat
    printf '</ci:cloud-init></metadata>'
    sed '1,/<\/metadata>/d' wired.xml
}

begin_request() {
    printf "<domain type='kvm'>\n  <name>%s</name>\n  <uuid>%s</uuid>\n  <metadata>" \
        "${domain_name-web1}" "$uuid"
    printf "<ci:cloud-init xmlns:ci='%s'>" "$namespace"
}

# repeat COUNT TEXT: prints the text so many times.
repeat() {
    yes -- "$2" | head -n "$1" | tr -d '\n'
}

# serial_xml: the unwired domain with standard input as its SMBIOS serial.
serial_xml() {
    begin_request
    printf '</ci:cloud-init></metadata>'
    printf "<os><type arch='x86_64'>hvm</type></os>"
    printf "<sysinfo type='smbios'><system><entry name='serial'>"
    cat
    printf '</entry></system></sysinfo></domain>'
}

# --- starting it ------------------------------------------------------------------------------

# start FILE: it may not need the 20 seconds of its alarm.
start() {
    attempt timeout -s KILL 15 hook-in-root --root="$root" web1 prepare begin - <"$1"
}

# in_sandbox FILE [WORD]: a maker reads it that the hook has not looked at for, and comes to its end; WORD is first
# in what it finds.
in_sandbox() {
    attempt timeout -s KILL 15 maker-in-root --root="$root" <"$1"
    [[ $status -eq 0 && ! -s err ]] || complain 'in the sandbox'
    [[ $(<out) = "${2-}"* ]] || complain "in the sandbox: $(head -c 2000 out)"
}

# makes_seed FILE: the seed is the one that virt-seed builds.
makes_seed() {
    virt-seed --quiet --root="$root" build --force -o expected.iso "$1"
    start "$1"
    succeeded
    whole
    ! grep -q canary "$seed" || complain 'a file is in the seed'
    released "$1"
    in_sandbox "$1" seed
}

# refuses FILE PATTERN...: the patterns are parts of the message.
refuses() {
    start "$1"
    refused "${@:2}"
    [[ $(<err) != *canary* ]] || complain 'a file is in the message'
    nothing_is_left
    in_sandbox "$1"
}

# ignores FILE: there is nothing of virt-seed's in it.
ignores() {
    start "$1"
    succeeded
    nothing_is_left
    in_sandbox "$1"
}

# Nothing is ever written but below the run-time directory.
teardown() {
    find "$root" -newer before ! -type d ! -path "$root$confdir/*" >written
    [[ ! -s written && ! -e touched ]] || complain "written: $(<written)"
}

# --- size -------------------------------------------------------------------------------------

@test "64 MiB of spaces or NULs are no domain of virt-seed" {
    head -c 64M /dev/zero | tr '\0' ' ' >spaces
    ignores spaces
    rm spaces
    head -c 64M /dev/zero >zeroes
    ignores zeroes
}

@test "refuses 64 MiB that begin like one of our domains" {
    { begin_request; head -c 64M /dev/zero | tr '\0' x; } >text
    refuses text '16 MiB'
    { begin_request; yes '<ci:a/>' | head -c 64M; } >text
    refuses text '16 MiB'
    { begin_request | sed 's/xmlns:ci/x="/'; echo "$namespace"; yes '<' | head -c 64M; } >text
    refuses text '16 MiB'
}

@test "refuses a serial of several megabytes" {
    repeat 1000000 'x ' | serial_xml >large.xml
    refuses large.xml 'SMBIOS serial'
    { repeat 1000000 'x '; printf 'ds=nocloud;dsmode=net'; } | serial_xml >large.xml
    refuses large.xml 'SMBIOS serial'
    timeout -s KILL 15 virt-seed --quiet unset - <large.xml >unset.xml
    [[ $(grep -c 'ds=nocloud' unset.xml) -eq 0 ]]
}

@test "refuses endless input once it is too large" {
    start /dev/zero
    refused 'File too large' '16 MiB'
    start <(begin_request; exec cat /dev/zero)
    refused 'File too large' '16 MiB'
    nothing_is_left
}

@test "makes seeds for domains as large as libvirt allows" {
    { echo '<ci:user-data>#cloud-config'; echo "# $(repeat 4194000 x)"; echo '</ci:user-data>'; } |
        request_xml >large.xml
    makes_seed large.xml
    {
        echo '<ci:user-data>#cloud-config'
        seq -f 'key%.0f: "value"' 150000
        echo '</ci:user-data>'
    } | request_xml >large.xml
    makes_seed large.xml
    {
        echo '<ci:meta-data>'
        seq -f '<ci:entry name="key%.0f">value</ci:entry>' 256
        echo '</ci:meta-data>'
    } | request_xml >large.xml
    makes_seed large.xml
}

@test "refuses too many elements, keys and entries" {
    repeat 400000 '<ci:none/>' | request_xml >many.xml
    refuses many.xml '<none>'
    { printf '<ci:meta-data>'; seq -f '<ci:entry name="key%.0f">v</ci:entry>' 100000
        printf '</ci:meta-data>'; } | request_xml >many.xml
    refuses many.xml 'too many' 256
    { printf '<ci:ssh-authorized-keys>'
        repeat 50000 '<ci:key>ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVnCg== x</ci:key>'
        printf '</ci:ssh-authorized-keys>'; } | request_xml >many.xml
    refuses many.xml 'too many' 256
}

# Each of them is large, and all of them together.
@test "each part may have 4 MiB, and all of them 16 MiB" {
    local secrets=$root$confdir/secrets

    { echo '#cloud-config'; repeat 700000 'a: 1 #'; } >large
    make_secret s userdata ''
    make_secret s vendordata ''
    make_secret s script ''
    make_secret s content ''
    head -c 4194304 large | sed '$ s/[^#]*$//' | head -c 4194304 >"$secrets/s/userdata"
    cp "$secrets/s/userdata" "$secrets/s/vendordata"
    cp "$secrets/s/userdata" "$secrets/s/script"
    head -c 2097152 /dev/urandom >"$secrets/s/content"
    request_xml <<<'<ci:user-data secret="s"/><ci:vendor-data secret="s"/><ci:initialization>
      <ci:custom_script secret="s" key="script"/>
      <ci:files><ci:file><ci:name>/a</ci:name><ci:content secret="s" key="content"/></ci:file></ci:files>
      </ci:initialization>' >large.xml
    makes_seed large.xml
    { repeat 5 '<ci:user-data secret="s"/>'; } | request_xml >large.xml
    refuses large.xml 'larger than 16 MiB in total'
    { printf '<ci:initialization><ci:files>'
        seq -f '<ci:file><ci:name>/f%.0f</ci:name><ci:content secret="s" key="userdata"/></ci:file>' 60
        printf '</ci:files></ci:initialization>'; } | request_xml >large.xml
    refuses large.xml 'larger than 16 MiB in total'
}

@test "accepts a secret with many keys, and refuses one with too many" {
    local -i i

    for i in {1..256}; do
        make_secret many "key$i" x
    done
    request_xml <<<'<ci:meta-data secret="many"/>' >many.xml
    makes_seed many.xml
    make_secret many one-more x
    refuses many.xml 257 'at most 256'
}

@test "refuses too many user-data, files and users" {
    repeat 100000 '<ci:user-data>#!/bin/sh</ci:user-data>' | request_xml >many.xml
    refuses many.xml 'too many' 16
    { printf '<ci:initialization><ci:files>'
        seq -f '<ci:file><ci:name>/f%.0f</ci:name><ci:content>x</ci:content></ci:file>' 50000
        printf '</ci:files></ci:initialization>'; } | request_xml >many.xml
    refuses many.xml 'too many'
    { printf '<ci:initialization><ci:users>'
        seq -f '<ci:user><ci:user_name>u%.0f</ci:user_name></ci:user>' 50000
        printf '</ci:users></ci:initialization>'; } | request_xml >many.xml
    refuses many.xml 'too many'
}

@test "refuses a payload with too many files" {
    {
        sed '/<metadata>/q' wired.xml
        echo '<o:vm xmlns:o="http://ovirt.org/vm/1.0"><o:device devtype="disk"><o:payload>'
        echo '<o:volId>config-2</o:volId>'
        seq -f '<o:file path="d/f%.0f">eAo=</o:file>' 100000
        echo '</o:payload></o:device></o:vm>'
        sed -n '/<\/metadata>/,$p' wired.xml
    } >payload.xml
    refuses payload.xml 'too many' 256
}

# The parser compares each attribute with those before it.
@test "refuses too many attributes" {
    request_xml </dev/null | sed "s|xmlns:ci=|$(seq -f "a%.0f='x'" 5000 | tr '\n' ' ')&|" >many.xml
    refuses many.xml "'a1'"
}

@test "makes a seed for a domain with 1000 disks" {
    local -i i

    {
        sed '/<\/devices>/,$d' wired.xml
        for i in {1..1000}; do
            echo "<disk type='file' device='disk'><driver name='qemu' type='raw'/>" \
                "<source file='/nowhere/$i'/><target dev='vdx$i' bus='virtio'/></disk>"
        done
        sed -n '/<\/devices>/,$p' wired.xml
    } >disks.xml
    makes_seed disks.xml
}

@test "opens no disk that is not a regular file" {
    local writer

    mkfifo disk
    sed -e "s|type='qcow2'|type='raw'|" -e "s|/var/lib/libvirt/images/web1.qcow2|$PWD/disk|" wired.xml >fifo.xml
    grep -qF "'$PWD/disk'" fifo.xml
    # It opens the FIFO once somebody reads from it.
    { : >disk && touch opened; } &
    writer=$!
    makes_seed fifo.xml
    kill "$writer"
    wait "$writer" || :
    [[ ! -e opened ]]
}

# --- nesting and entities ---------------------------------------------------------------------

@test "refuses elements nested 100,000 deep, and accepts 200" {
    { repeat 100000 '<a>'; repeat 100000 '</a>'; } | request_xml >deep.xml
    refuses deep.xml 'not well-formed'
    { sed '/<\/metadata>/,$d' wired.xml; repeat 200 '<a>'; repeat 200 '</a>'
        sed -n '/<\/metadata>/,$p' wired.xml; } >deep.xml
    makes_seed deep.xml
}

# yaml_xml TEXT...: a domain whose user-data is a head line and the text.
yaml_xml() {
    { echo '<ci:user-data>#cloud-config'; cat; echo '</ci:user-data>'; } | request_xml
}

@test "refuses YAML that is nested without end" {
    { printf 'a: '; repeat 2000000 '['; } | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
    { printf 'a: '; repeat 2000000 '{'; } | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
    repeat 1000000 '? ' | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
    { printf 'a: '; repeat 1000000 '- '; } | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
}

@test "check answers soon, whatever YAML is nested without end" {
    local text

    for text in '[' '{' '- ' '? ' '[{' '!' '"' '%'; do
        { printf 'a: '; repeat 65536 "$text"; } | yaml_xml >yaml.xml
        run -1 timeout 60 virt-seed check --no-schema yaml.xml
        [[ $output = *'<user-data>'* ]]
    done
}

@test "reads a number soon, whatever it is made of" {
    { printf 'a: 1'; repeat 1500000 ':1'; echo .5; } | yaml_xml >yaml.xml
    timeout 60 virt-seed --quiet --root="$root" build -o first.iso yaml.xml
    makes_seed yaml.xml
}

@test "check answers soon, however long a key is and whatever is below it" {
    { printf '? '; repeat 2500000 x; printf '\n: ['; repeat 200000 'a, '; echo ']'; } | yaml_xml >yaml.xml
    run timeout 60 virt-seed check --no-schema yaml.xml
    [[ $status -le 1 ]]
}

@test "refuses YAML whose aliases multiply or that contains itself" {
    local -i i

    {
        echo 'a0: &amp;a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]'
        for i in {1..9}; do
            echo "a$i: &amp;a$i [$(repeat 9 "*a$((i - 1)), ")]"
        done
    } | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
    echo 'a: &amp;a [*a]' | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
    { echo 'a: &amp;a 1'; printf 'b: ['; repeat 5000 '*a, '; echo ']'; } | yaml_xml >yaml.xml
    refuses yaml.xml '<user-data>'
}

# with_doctype SUBSET NAME: a domain with that document type, whose name refers to an entity.
with_doctype() {
    printf '<!DOCTYPE domain [%s]>' "$1"
    domain_name=$2 request_xml </dev/null
}

@test "does not expand entities, even if they contain one another" {
    local -i i

    {
        echo '<!ENTITY e0 "lollollollollollollollollollol">'
        for i in {1..12}; do
            echo "<!ENTITY e$i \"$(repeat 10 "&e$((i - 1));")\">"
        done
    } >subset
    with_doctype "$(<subset)" '&e12;' >bomb.xml
    refuses bomb.xml
    with_doctype "<!ENTITY e \"$(repeat 100000 lol)\">" "$(repeat 10000 '&e;')" >bomb.xml
    refuses bomb.xml
    with_doctype '<!ENTITY a "&b;"><!ENTITY b "&a;">' '&a;' >bomb.xml
    refuses bomb.xml
    with_doctype "<!ENTITY % p \"<!ENTITY e 'lol'>\"> %p;" '&e;' >bomb.xml
    refuses bomb.xml
}

@test "reads no file and no address for an entity" {
    local system

    mkfifo fifo
    for system in "file://$root/etc/passwd" "$root/etc/passwd" etc/passwd "file://$PWD/fifo" \
        http://127.0.0.1:9/ php://filter/resource=etc/passwd; do
        with_doctype "<!ENTITY e SYSTEM \"$system\">" '&e;' >external.xml
        refuses external.xml
        with_doctype "<!ENTITY % e SYSTEM \"$system\"> %e;" web1 >external.xml
        refuses external.xml
        { printf '<!DOCTYPE domain SYSTEM "%s">' "$system"; request_xml </dev/null; } >external.xml
        refuses external.xml
    done
}

@test "treats XInclude and stylesheets as plain text" {
    {
        printf '<ci:user-data>#cloud-config\n</ci:user-data>'
    } | request_xml | sed "s|<metadata>|&<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' \
parse='text' href='file://$root/etc/passwd'/>|" >include.xml
    makes_seed include.xml
    { printf '<?xml-stylesheet href="file://%s"?>' "$root/etc/passwd"; cat include.xml; } >style.xml
    virt-seed --quiet --root="$root" build --force -o expected.iso style.xml
    # libvirt writes none.
    refuses style.xml 'its XML is not as libvirt writes it'
}

# --- names ------------------------------------------------------------------------------------

# names: each line is a name as XML has it. Among them is what libvirt would refuse.
names() {
    cat <<'END'
-rf
../../etc/passwd
/etc/passwd
a b  c
%s%n%s%n%x%99999999d%*d
$(touch touched) `touch touched` ; touch touched | touch touched
'"'"'
\\\n\x1b[31m
&lt;name&gt;
a&#9;b
a&#10;virt-seed: error: forged
a&#13;virt-seed: error: forged
a&#x7f;b
a&#x85;b&#x9b;31mc
Zürich-東京-🌱
a&#x2028;b
a&#x61c;b&#x200b;c&#x202e;d&#x2066;e
a&#x2060;b&#xfeff;c&#xe0041;d
END
    repeat 4096 x
    echo
    repeat 1400 東
    echo
}

# resolve_references: prints standard input as libvirt writes it, without references to characters.
resolve_references() {
    python3 -c 'import re, sys
text = sys.stdin.buffer.read().decode()
text = re.sub("&#(x?)([0-9a-f]+);", lambda found: chr(int(found[2], 16 if found[1] else 10)), text)
sys.stdout.buffer.write(text.encode())'
}

@test "any domain name is harmless in the seed" {
    local domain_name

    names >list
    while IFS= read -r domain_name; do
        request_xml </dev/null | resolve_references >named.xml
        makes_seed_or_refuses named.xml
    done <list
}

# makes_seed_or_refuses FILE: as virt-seed does.
makes_seed_or_refuses() {
    if virt-seed --quiet build --force -o expected.iso "$1" 2>/dev/null; then
        makes_seed "$1"
    else
        refuses "$1"
    fi
}

@test "any domain name is harmless in messages" {
    local domain_name

    names >list
    while IFS= read -r domain_name; do
        request_xml <<<'<ci:hostname>no_hostname</ci:hostname>' >named.xml
        refuses named.xml
        iconv -f UTF-8 -t UTF-8 err >/dev/null
    done <list
    domain_name='%s%n%s%n%x' request_xml <<<'<ci:none/>' >named.xml
    refuses named.xml '%s%n%s%n%x'
}

@test "any name that libvirt passes to the hook is harmless" {
    local name

    for name in -rf -- --help --version --root=tmp ../../etc/passwd '%s%n' "$(repeat 100000 x)" \
        $'\e[31m' ''; do
        attempt hook-in-root --root="$root" "$name" prepare begin - <wired.xml
        succeeded
        whole
        attempt hook-in-root --root="$root" "$name" release end - <wired.xml
        succeeded
        nothing_is_left
    done
}

# requests TEXT: prints requests that are refused, one a line, with the text at different places.
requests() {
    local text=${1//\"/&quot;}

    cat <<END
<ci:hostname>_$1</ci:hostname>
<ci:user-data file="$text"/>
<ci:user-data secret="_/$text"/>
<ci:instance-id policy="$text"/>
<ci:meta-data><ci:entry name="a$text"/><ci:entry name="a$text"/></ci:meta-data>
END
}

@test "any content of a request is harmless in messages" {
    local text request

    names >list
    while IFS= read -r text; do
        while IFS= read -r request; do
            request_xml <<<"$request" >hostile.xml
            refuses hostile.xml
        done < <(requests "$text")
    done <list
}

@test "long names of elements and attributes do not make messages long" {
    local domain_name=web1 long

    long=$(repeat 40000 x)
    request_xml <<<"<ci:user-data file='$long'/>" >long.xml
    refuses long.xml
    request_xml <<<"<ci:meta-data><ci:entry name='$long'/></ci:meta-data>" >long.xml
    refuses long.xml
    request_xml <<<"<ci:$long/>" >long.xml
    refuses long.xml
    request_xml <<<"<ci:user-data $long='x'/>" >long.xml
    refuses long.xml
    request_xml <<<"<$long:a/>" >long.xml
    refuses long.xml
    domain_name=$(repeat 3000000 x)
    request_xml <<<'<ci:none/>' >long.xml
    refuses long.xml
}

@test "refuses paths that lead out of the host's directories, at any depth" {
    local path

    mkdir -p "$root$confdir/files/deep" "$root$confdir/secrets"
    chmod 0700 "$root$confdir/secrets"
    ln -s ../../passwd "$root$confdir/files/link"
    ln -s /etc/passwd "$root$confdir/files/absolute"
    ln -s / "$root$confdir/files/slash"
    ln -s /proc/self/root "$root$confdir/files/magic"
    ln -s loop "$root$confdir/files/loop"
    for path in /etc/passwd ../../passwd ../../../etc/passwd deep/../../../passwd link absolute \
        slash/etc/passwd magic/etc/passwd loop deep . .. '' ./../files/link \
        /proc/self/environ /dev/stdin "$(repeat 3000 ../)etc/passwd"; do
        request_xml <<<"<ci:user-data file='$path'/>" >path.xml
        refuses path.xml '<user-data'
        request_xml <<<"<ci:user-data secret='$path'/>" >path.xml
        refuses path.xml '<user-data'
    done
}

@test "refuses bytes that are not text" {
    local bytes

    for bytes in '\xff' '\xc0\x80' '\xed\xa0\x80' '\xf8\x88\x80\x80\x80' '\x1b[31m' '\x01'; do
        # shellcheck disable=SC2059  # they are what printf makes of them
        domain_name=$(printf "a$bytes") request_xml </dev/null >bytes.xml
        refuses bytes.xml 'not well-formed'
    done
    { begin_request; printf '\0'; } >bytes.xml
    refuses bytes.xml
    { printf '<?xml version="1.0" encoding="%s"?>' "$(repeat 4096 x)"
        request_xml </dev/null; } >bytes.xml
    refuses bytes.xml
}

@test "uses a UUID in a file name only after checking that it is one" {
    local text

    for text in ../../etc/passwd "../$uuid" "$uuid/../x" '%s%n' "$uuid$uuid" "${uuid%0}" ''; do
        request_xml </dev/null |
            sed "s|^  <uuid>.*</uuid>$|  <uuid>$text</uuid>|" >uuid.xml
        refuses uuid.xml UUID
    done
}
