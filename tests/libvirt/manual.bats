#!/usr/bin/env bats
# shellcheck disable=SC2034,SC2154  # variables for and of vdsm.bash, and of report.bash
# manual.bats: the examples in the manual pages do what they say.

bats_require_minimum_version 1.5.0

load lab
load domains
load report
load common
load ../manual
load ../functional/vdsm

web1=4dea22b3-1d52-d8f3-2516-782e98ab3fa0

# What a reader of the page has: a domain that asks for a seed and is not wired, the same in a file, and
# documents; virt-install makes domains that this machine can run.
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p .ssh bin
    printf '#cloud-config\nlocale: C.UTF-8\n' >web1.yaml
    echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org' \
        >.ssh/id_ed25519.pub
    cp "$BATS_TEST_DIRNAME/../golden/import-kubevirt/metadata-secret/in.yaml" vm.yaml
    qemu-img create -q -f qcow2 web2.qcow2 1M
    cat >bin/virt-install <<'DONE'
#!/bin/sh
exec /usr/bin/virt-install --connect qemu:///system --virt-type qemu --network none --graphics none \
    --noautoconsole "$@"
DONE
    cat >bin/editor <<'DONE'
#!/bin/sh
sed -i "s|<ci:cloud-init[^>]*>|&<ci:hostname>edited</ci:hostname>|" "$1"
DONE
    chmod +x bin/*
    # QEMU's user must be able to reach the disk.
    chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR" || :
}

# examples_of PAGE [SECTION]: writes the page's examples to files in examples/.
examples_of() {
    rm -rf examples && mkdir examples
    manual_examples "$BATS_TEST_DIRNAME/../../docs/$1" examples "${2-EXAMPLES}"
}

# make_domain: defines the domain again, because another example may have changed it.
make_domain() {
    lab_reset
    lab_run find /etc/virt-seed /var/lib/virt-seed -mindepth 1 -delete
    metadata="<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1' ${attributes-}><ci:user-data>#cloud-config
locale: C.UTF-8
</ci:user-data></ci:cloud-init>" devices=$(domain_disk_xml "$(domain_disk_image web1)") \
        domain_xml web1 $web1 >web1.xml
    lab_virsh define --validate web1.xml
}

# type_example FILE: runs it as a reader types it; the first command that fails ends it.
type_example() {
    lab_run HOME="$BATS_TEST_TMPDIR" PATH="$BATS_TEST_TMPDIR/bin:$builddir:$PATH" LC_ALL=C.UTF-8 \
        LIBVIRT_DEFAULT_URI=qemu:///system EDITOR=editor timeout 100 bash -e -o pipefail "$1"
}

guest_answers() {
    wait_until 60 lab_run test -e "$report_dir/$web1.report" &&
        report_say $web1 "$(report_line "$boot1" "$(report_ended)" "$(report_result)")"
}

@test "each example in the pages of virt-seed and of its commands can be typed as it is" {
    local example guest word count=0

    rm -rf examples all && mkdir all
    for example in "$BATS_TEST_DIRNAME"/../../docs/virt-seed{,-*}.1; do
        example=${example##*/}
        grep -qx '\.SH EXAMPLES' "$BATS_TEST_DIRNAME/../../docs/$example" || continue
        examples_of "$example"
        for word in examples/*; do mv "$word" "all/$example:${word#*/}"; done
    done
    for example in all/*; do
        echo "${example#*/}"
        for word in virt-install virt-clone isoinfo; do
            if grep -q "^$word" "$example" && ! type -P $word >/dev/null; then
                echo "skipped: $word is not installed"
                continue 2
            fi
        done
        make_domain
        case $(<"$example") in
        *wait* | *'virt-seed start'* | *'virt-seed apply'*)
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
    [[ $count -ge 11 ]]
}

@test "the commands in virt-seed-xml(5) give a domain its element, and its secret" {
    local example count=0

    examples_of virt-seed-xml.5 ''
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
        examples_of "$other"
        for example in examples/*; do
            echo "$other, line ${example#*/}:"
            make_domain
            [[ $other = *.7 ]] || virt_seed wire web1
            type_example "$example"
            count=$((count + 1))
        done
    done
    [[ $count -eq 5 ]]
}

# start_server: does what the server's units do on a host. What the server says is in imds.log.
start_server() {
    common_make_imds_directory
    lab_run ip address add 169.254.169.254/32 dev lo
    # As systemd does, root listens.
    lab_run "$builddir/virt-seed-imds" --verbose >imds.log 2>&1 3>&- 4>&- &
    disown
    wait_until 60 grep -q 'listening on' imds.log
}

# plug_guest: a network namespace is a guest on a bridge, with the host as its gateway.
plug_guest() {
    lab_run ip netns add guest
    lab_run ip link add br0 type bridge
    lab_run ip address add 192.168.150.1/24 dev br0
    lab_run ip link add port0 type veth peer name eth0 netns guest
    lab_run ip link set port0 master br0 up
    lab_run ip link set br0 up
    in_guest ip address add 192.168.150.2/24 dev eth0
    in_guest ip link set eth0 up
    in_guest ip route add default via 192.168.150.1
}

in_guest() {
    lab_run ip netns exec guest "$@"
}

@test "each example in virt-seed-imds(8) can be typed as it is, on the host or in a guest" {
    local example url user count=0

    [[ -x $builddir/virt-seed-imds ]] || skip 'the metadata server is not built'
    type -P curl >/dev/null || skip 'curl is not installed'
    examples_of virt-seed-imds.8
    start_server
    plug_guest
    interface=user attributes="datasource='nocloud-net'" make_domain
    virt_seed --quiet wire web1
    lab_virsh start web1
    url=$(lab_virsh dumpxml web1 | grep -o 'http://[^<]*')
    user=$(lab_run stat -c %U /var/lib/libvirt/qemu)
    # The lab has no journal. What the server logs goes there if this is the name of its unit.
    cat >bin/journalctl <<DONE
#!/bin/sh
[ "\$1" = -u ] && [ -e "$builddir/scripts/systemd/\$2.service" ] && cat imds.log
DONE
    chmod +x bin/journalctl
    for example in examples/*; do
        echo "virt-seed-imds.8, line ${example#*/}:"
        sed -i "s|http://169.254.169.254/UUID/TOKEN/|$url|; s/libvirt-qemu/$user/" "$example"
        case $(<"$example") in
        *user-data)
            run -0 type_example "$example"
            [[ $output = *'locale: C.UTF-8'* ]]
            ;;
        *healthz)
            wait_until 60 in_guest bash -e "$example"
            run -0 in_guest bash -e "$example"
            [[ $output = *OK* ]]
            ;;
        journalctl*)
            # The domain has no interface on the bridge, so this is another guest's request.
            run -22 in_guest curl -fsS --max-time 60 "${url}user-data"
            run -0 type_example "$example"
            echo "$output"
            [[ $output = *"404 for user-data of domain $web1"* ]]
            ;;
        *) return 1 ;;
        esac
        count=$((count + 1))
    done
    [[ $count -eq 3 ]]
}

@test "virsh create and virt-install make domains with virt-seed-qemu as virt-seed-qemu(8) shows" {
    local emulator=$LAB_DIR/bin/virt-seed-qemu-system-x86_64 section example count=0

    mkdir -m 0755 "$LAB_DIR/bin"
    install -m 0755 "$builddir/virt-seed-qemu" "$emulator"
    for section in DESCRIPTION EXAMPLES; do
        examples_of virt-seed-qemu.8 "$section"
        for example in examples/*; do
            # Terraform's is compared with the whole example (tests/functional/examples.bats).
            [[ $(<"$example") = vir* ]] || continue
            if [[ $(<"$example") = virt-install* ]] && ! type -P virt-install >/dev/null; then
                echo "skipped: virt-install is not installed"
                continue
            fi
            echo "virt-seed-qemu.8, line ${example#*/}:"
            make_domain
            lab_virsh undefine web1
            qemu-img create -q -f qcow2 web1.qcow2 1M
            sed -i "s|<devices>|&<emulator>$emulator</emulator>|" web1.xml
            sed -i "s|/usr/bin/virt-seed-qemu-system-x86_64|$emulator|" "$example"
            type_example "$example"
            lab_run test -e "/run/libvirt/virt-seed/$(lab_virsh domuuid web1 | head -n 1).shim"
            lab_virsh qemu-monitor-command web1 '{"execute": "query-block"}' |
                jq -e '.return[] | select(.qdev == "virt-seed")'
            count=$((count + 1))
        done
    done
    [[ $count -ge 1 ]]
}

# make_ovirt_host: 'make install' is for a host of its own, and libvirtd is the lab's.
make_ovirt_host() {
    mkdir -m 1777 exchange
    cat >bin/make <<DONE
#!/bin/sh
exec env -u MAKEFLAGS -u MAKELEVEL $(type -P make) -s -C "$builddir" DESTDIR="$PWD/host" "\$@"
DONE
    cat >bin/systemctl <<DONE
#!/bin/sh
[ "\$*" = 'reload libvirtd' ] && kill -HUP "\$(cat "/run/$(lab_daemon_name).pid")"
DONE
    # The engine lets a VM have a property whose value matches.
    cat >bin/engine-config <<DONE
#!/bin/sh
echo "\$2" | sed -n 's/^UserDefinedVMProperties=cloudinit=//p' >$PWD/property
DONE
    chmod +x bin/*
    vdsm_user=(setpriv --reuid=36 --regid=36 --clear-groups env TMPDIR="$PWD/exchange" LC_ALL=C.UTF-8)
}

# start_vm VALUE: the engine accepts the value of the property, and VDSM starts the VM.
start_vm() {
    grep -qE -f property <<<"$1"
    vdsm_run_hooks host/usr/libexec/vdsm/hooks before_vm_start "$(domain_xml web1 $web1)" "cloudinit=$1" || {
        echo "$vdsm_error"
        return 1
    }
    [[ $vdsm_ran = '50_virt_seed ' ]]
    lab_reset
    lab_virsh define /dev/stdin <<<"$vdsm_xml"
    lab_virsh start web1
    rm -rf seed
    virt_seed inspect --extract=seed "/run/libvirt/virt-seed/$web1.iso" >/dev/null
}

@test "the examples in virt-seed-vdsm(8) install the hook, and a VM starts with what they print" {
    local command count=0

    examples_of virt-seed-vdsm.8
    make_ovirt_host
    echo "<ci:cloud-init xmlns:ci='urn:virt-seed:cloud-init:1'><ci:hostname>web1.example.org</ci:hostname>\
</ci:cloud-init>" >request.xml
    # Each command by itself: what base64 prints has no end of line.
    while IFS= read -r command; do
        echo "virt-seed-vdsm.8: $command"
        echo "$command" >typed
        type_example typed >printed
        case $command in
        *.yaml)
            start_vm "$(<printed)"
            diff web1.yaml seed/user-data
            ;;
        *.xml)
            start_vm "$(<printed)"
            [[ $(jq -r '."local-hostname"' seed/meta-data) = web1.example.org ]]
            ;;
        esac
        count=$((count + 1))
    done < <(cat examples/*)
    [[ $count -eq 6 ]]
}
