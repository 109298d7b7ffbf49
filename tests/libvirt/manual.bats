#!/usr/bin/env bats
# shellcheck disable=SC2154  # the variables of report.bash
# manual.bats: the examples in the manual pages do what they say.

bats_require_minimum_version 1.5.0

load lab
load domains
load report
load common
load ../manual

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0
page=$BATS_TEST_DIRNAME/../../docs/virt-seed.1

# What a reader of the page has: a domain that asks for a seed and is not wired, the same in a file, and
# documents; virt-install makes domains that this machine can run.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p examples .ssh bin
    printf '#cloud-config\nlocale: C.UTF-8\n' >web1.yaml
    echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org' \
        >.ssh/id_ed25519.pub
    cp "$BATS_TEST_DIRNAME/../golden/import-kubevirt/metadata-secret/in.yaml" vm.yaml
    qemu-img create -q -f qcow2 web2.qcow2 1M
    cat >bin/virt-install <<'DONE'
#!/bin/sh
exec /usr/bin/virt-install --connect qemu:///system --virt-type qemu --network none "$@"
DONE
    cat >bin/editor <<'DONE'
#!/bin/sh
sed -i "s|<ci:cloud-init[^>]*>|&<ci:hostname>edited</ci:hostname>|" "$1"
DONE
    chmod +x bin/*
    # QEMU's user must be able to come to the disk.
    chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR" || :
    manual_examples "$page" examples EXAMPLES
}

# make_domain: another example may have changed what there was.
make_domain() {
    lab_reset
    lab_run find /etc/virt-seed /var/lib/virt-seed -mindepth 1 -delete
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:user-data>#cloud-config
locale: C.UTF-8
</ci:user-data></ci:cloud-init>" devices=$(domain_disk_xml "$(domain_disk_image web1)") \
        domain_xml web1 $web1 >web1.xml
    lab_virsh define --validate web1.xml
}

# type_example FILE: as a reader types it; a command that fails ends it.
type_example() {
    lab_run HOME="$BATS_TEST_TMPDIR" PATH="$BATS_TEST_TMPDIR/bin:$builddir:$PATH" LC_ALL=C.UTF-8 \
        LIBVIRT_DEFAULT_URI=qemu:///system EDITOR=editor timeout 100 bash -e -o pipefail "$1"
}

guest_answers() {
    wait_until 60 lab_run test -e "$report_dir/$web1.report" &&
        report_say $web1 "$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
}

@test "each example in virt-seed(1) can be typed as it is" {
    local example guest word count=0

    for example in examples/*; do
        echo "virt-seed.1, line ${example#*/}:"
        for word in virt-install virt-clone isoinfo; do
            if grep -q "^$word" "$example" && ! type -P $word >/dev/null; then
                echo "skipped: $word is not installed"
                continue 2
            fi
        done
        make_domain
        case $(<"$example") in
        *wait* | *'virt-seed start'*)
            guest_answers 3>&- &
            guest=$!
            ;;
        *'virt-seed update'*)
            virt_seed wire web1
            lab_virsh start web1
            ;;
        *virt-clone* | *domrename*) virt_seed wire web1 ;;
        esac
        type_example "$example"
        count=$((count + 1))
    done
    wait "$guest"
    [[ $count -ge 9 ]]
}

# A host of which only virt-seed's directory is there.
@test "the commands in virt-seed-xml(5) give a domain its element, and its secret" {
    local example count=0

    rm -r examples && mkdir examples
    manual_examples "$BATS_TEST_DIRNAME/../../docs/virt-seed-xml.5" examples
    make_domain
    echo '<cloud-init><user-data secret="web1"/></cloud-init>' >request.xml
    for example in examples/*; do
        grep -qE '^(virsh|install) ' "$example" || continue
        echo "virt-seed-xml.5, line ${example#*/}:"
        type_example "$example"
        count=$((count + 1))
    done
    [[ $count -eq 2 ]]
    virt_seed wire web1
    run virt_seed check --no-schema web1
    echo "$output"
    [[ $output = *'no problems found' ]]
    [[ $(virt_seed dump --show-secrets web1 user-data) = "$(<web1.yaml)" ]]
}

@test "each example in virt-seed-wiring(7) and virt-seed-hook(8) can be typed as it is" {
    local example other count=0

    for other in virt-seed-wiring.7 virt-seed-hook.8; do
        rm -r examples && mkdir examples
        manual_examples "$BATS_TEST_DIRNAME/../../docs/$other" examples EXAMPLES
        for example in examples/*; do
            echo "$other, line ${example#*/}:"
            make_domain
            [[ $other = *.7 ]] || virt_seed wire web1
            # The page's directory is everybody's here.
            sed -i "s|/tmp/test|$BATS_TEST_TMPDIR/root|" "$example"
            type_example "$example"
            count=$((count + 1))
        done
    done
    [[ $count -eq 5 && -s $BATS_TEST_TMPDIR/root/run/libvirt/virt-seed/$web1.iso ]]
}
