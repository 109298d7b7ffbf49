# shellcheck shell=bash
# image.bash: what the scripts that build images have in common; a library to source.
#
#   say TEXT, fail MESSAGE [HINT]  tell the user; the latter ends the script
#   image_need TOOL:PACKAGE…       fail if one of the tools is missing
#   image_begin OUTPUT             one build at a time, in $work, which is removed at the end;
#                                  ends the script if OUTPUT is up to date
#   run COMMAND…                   run it with its output in the log; its failure ends the script
#   image_make_tree RELEASE PACKAGES OPTION…
#                                  run mmdebstrap; the tree is $work/root
#   image_make_initrd MODULES      make $work/new/initrd.img of guest/init, the busybox that is in
#                                  the tree's /boot, and the folder MODULES
#   image_publish                  $work/new becomes OUTPUT
#
# The script that sources this has $here, the folder of both, and defines print_identity, which prints
# two lines: what the image is made from. They begin OUTPUT/manifest.

# shellcheck source=scripts/packages.bash
source "$(dirname "${BASH_SOURCE[0]}")/packages.bash"

program=$(basename "$0")
work=
child=

say() {
    echo "==> $*"
}

fail() {
    echo "$program: error: $1" >&2
    [ $# -lt 2 ] || echo "$program: hint: $2" >&2
    exit 1
}

image_need() {
    local tool missing=()

    for tool; do
        command -v "${tool%:*}" >/dev/null || [ "$EUID $tool" = "0 newuidmap:uidmap" ] ||
            missing+=("${tool#*:}")
    done
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
    [ ${#missing[@]} -eq 0 ] ||
        fail "tools are missing" "apt-get install ${missing[*]}"
}

image_begin() {
    output=$(realpath -m -- "$1")
    mkdir -p "$(dirname "$output")"
    # The lock is on the folder around the result.
    exec 9<"$(dirname "$output")"
    flock 9

    if [ -e "$output/manifest" ] && print_identity | cmp -s - <(head -n 2 "$output/manifest"); then
        say "$output is up to date"
        exit 0
    fi
    if [ -d "$output" ] && [ ! -e "$output/manifest" ] && [ -n "$(ls -A "$output")" ]; then
        fail "'$output' is not empty and holds no image" "name another directory"
    fi

    trap image_clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    work=$(mktemp -d "$output.XXXXXX")
    mkdir "$work/new"
    export work
}

image_clean_up() {
    if [ -n "$child" ] && kill -- "-$child" 2>/dev/null; then
        wait "$child" || true
    fi
    [ -z "$work" ] || rm -rf --one-file-system "$work"
}

# In the background and a session of its own, so that a signal ends the build at once.
run() {
    setsid "$@" >>"$work/build.log" 2>&1 9>&- &
    child=$!
    wait "$child" || {
        mv "$work/build.log" "$output.log"
        fail "'$1' failed" "the last lines of $output.log say why"
    }
    child=
}

image_make_tree() {
    local release=$1 packages=$2 options sources
    local hooks=/usr/share/mmdebstrap/hooks/merged-usr merged

    shift 2
    merged=(--hook-dir="$hooks")
    # Debian 11 lacks usr-is-merged, for which the second hook exchanges the first one's empty package.
    [ "$release" != bullseye ] || merged=(--setup-hook="$hooks/setup00.sh \"\$1\"")
    mapfile -t options < <(apt_options)
    mapfile -t sources < <(packages_sources "$release")
    printf 'Package: usrmerge\nPin: release *\nPin-Priority: -1\n' >"$work/no-usrmerge"
    # shellcheck disable=SC2016  # the variables are for the hooks' shell
    run mmdebstrap --format=directory --include="$packages" \
        "${merged[@]}" \
        --setup-hook='mkdir -p "$1/etc/apt/preferences.d"' \
        --setup-hook='cp "$work/no-usrmerge" "$1/etc/apt/preferences.d"' \
        --aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
        "${options[@]}" "$@" "$release" "$work/root" "${sources[@]}"
}

# shellcheck disable=SC2154  # here is the other script's
image_make_initrd() {
    local tree=$work/initrd

    mkdir -p "$tree"/{bin,dev,proc,root,sys,usr/lib}
    cp "$here/guest/init" "$tree/init"
    mv "$work/root/boot/busybox" "$tree/bin/busybox"
    cp -r "$1" "$tree/usr/lib/modules"
    ln -s usr/lib "$tree/lib"
    (cd "$tree" && find . | sort | ./bin/busybox cpio -o -H newc -R 0:0) \
        >"$work/new/initrd.img" 2>>"$work/build.log" || fail "cannot write the initrd"
}

image_publish() {
    mv "$work/build.log" "$work/new/build.log"
    rm -f "$output.log"
    [ ! -e "$output" ] || mv "$output" "$work/old"
    chmod 755 "$work/new"
    mv "$work/new" "$output"
    say "$output is ready"
}
