#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# newcomer.bats: from an image to a login, by somebody who has installed the package and knows two commands.
#
# scripts/test-packages runs this as root in a root file system in which `apt install ./virt-seed_*.deb` was all
# that was done, without network and init system. The catalogue's image is served here; its guest is real. Each
# test continues where the one before has ended.

bats_require_minimum_version 1.5.0

image=${VIRT_SEED_IMAGE:?the image that scripts/build-guest --bootable made}
# Its name in the catalogue: it has the release of this root.
release=debian-$(source /etc/os-release && echo "$VERSION_ID")
pool=/var/lib/libvirt/images
# As in check-guest: a boot takes half a minute, but much longer under emulation on a busy machine.
boot_seconds=1800

# shellcheck source-path=SCRIPTDIR source=../wait.bash
source "$BATS_TEST_DIRNAME/../wait.bash"

# All that a newcomer types.
typed=(
    "virt-seed new $release web1"
    "virt-seed ssh web1 hostname"
)

setup_file() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    serve_image
    virtlogd --daemon 3>&- 4>&-
    libvirtd --daemon 3>&- 4>&-
    wait_until 60 virsh uri
}

teardown_file() {
    local pid

    virsh destroy web1 || :
    for pid in "$(</run/libvirtd.pid)" "$(</run/virtlogd.pid)" "$(<"$BATS_FILE_TMPDIR/server.pid")"; do
        kill "$pid" || :
    done
}

# The file of the catalogue is the installed one but for the address.
serve_image() {
    local web=$BATS_FILE_TMPDIR/web name=$release-genericcloud-amd64.qcow2

    mkdir -p "$web" /etc/virt-seed/images.d
    ln "$image" "$web/$name" || cp "$image" "$web/$name"
    (cd "$web" && sha512sum "$name" >SHA512SUMS)
    python3 -m http.server --bind 127.0.0.1 --directory "$web" 80 >"$BATS_FILE_TMPDIR/server.log" 2>&1 3>&- 4>&- &
    echo $! >"$BATS_FILE_TMPDIR/server.pid"
    sed -E 's,https://.*/,http://127.0.0.1/,' "/usr/share/virt-seed/images.d/$release.conf" \
        >"/etc/virt-seed/images.d/$release.conf"
    wait_until 60 curl --silent --fail --output /dev/null http://127.0.0.1/SHA512SUMS
}

# type_in COMMAND: as a person's shell runs it, but with nobody to answer a question; prints how long it took.
type_in() {
    local begin=$SECONDS

    run -0 --separate-stderr timeout $boot_seconds bash -c "$1" </dev/null
    # shellcheck disable=SC2154  # bats's
    printf '# %s\n%s\n%s\n(%d s)\n' "$1" "$stderr" "$output" $((SECONDS - begin)) >&3
    [[ $stderr != *[Ww]arning* ]]
}

@test "two commands, of eighty characters at most, lead from an image to a login" {
    local all

    printf -v all '%s\n' "${typed[@]}"
    echo "typed: ${#typed[@]} commands, ${#all} characters with the ends of the lines" >&3
    [[ ${#typed[@]} -le 2 && ${#all} -le 80 ]]
    type_in "${typed[0]}"
    [[ ${lines[-1]} =~ ^web1\ is\ ready:\ virt-seed\ ssh\ web1\ \(192\.168\.122\.[0-9]+\)$ ]]
    type_in "${typed[1]}"
    [[ $output = web1 ]]
}

@test "its disk is a layer over the image, which was checked" {
    local digest

    digest=$(sha512sum <"$image")
    run -0 qemu-img info --force-share $pool/web1.qcow2
    [[ $output = *"backing file: $pool/${digest%% *}.qcow2"* ]]
}

@test "the list of images says that it was fetched, in columns" {
    local before row

    run -0 virt-seed images
    before=${lines[0]%%USER*}
    row=$(grep "^$release " <<<"$output")
    [[ $row = *" 20"*" MiB "* && ${row:${#before}} = "debian "* ]]
}

@test "a change of the definition becomes the guest's" {
    virt-seed set web1 --hostname=web2
    type_in "virt-seed apply --yes web1"
    type_in "virt-seed ssh web1 hostname"
    [[ $output = web2 ]]
}

@test "rm leaves nothing but the image" {
    type_in "virt-seed rm --yes web1"
    [[ $(virsh list --all --name) = '' ]]
    run -0 find $pool /run/libvirt/virt-seed /var/lib/virt-seed /var/log/libvirt/virt-seed ! -type d ! -name ".$release.image" \
        ! -name '????????????????????????????????*.qcow2'
    [[ $output = '' ]]
}
