# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# packages.bash: the Debian packages that the scripts need; a library to source.
#
#   packages_to_build          print what building virt-seed needs
#   packages_to_check          print what 'make check' needs besides
#   packages_to_check_cockpit  print what 'make check-cockpit' needs besides
#   packages_systemd           print the package that has systemd.pc, for packages of virt-seed
#   packages_missing NAME…     print those that are not installed
#   packages_install NAME…     install them, as root
#   packages_release           print the name of this system's release of Debian; that of Debian 12 on
#                              another system
#   packages_sources RELEASE   print the lines of sources.list for a release of Debian: from the
#                              mirrors of this system's apt, if it is Debian, too
#   make_root RELEASE FOLDER   make a bare root of a release of Debian, as root with mmdebstrap, unless
#                              FOLDER is one that was made the same way; FOLDER.log is its log
#   copy_source FROM TO        copy the source tree without what builds have made there; what a build
#                              has made in the copy stays. Needs rsync.

packages_to_build() {
    echo autoconf automake gcc libc6-dev make pkg-config libxml2-dev libisofs-dev libyaml-dev \
        libjansson-dev nettle-dev libcrypt-dev zlib1g-dev libsmartcols-dev libvirt-dev \
        libmicrohttpd-dev libmnl-dev libsystemd-dev
}

packages_to_check() {
    echo bats curl fish groff iproute2 jq libcmocka-dev libxml2-utils man-db openssh-client procps \
        python3 xorriso zsh
}

packages_to_check_cockpit() {
    echo chromium chromium-driver cockpit-bridge cockpit-system cockpit-ws dbus-daemon dbus-system-bus-common \
        python3-selenium sudo
}

# systemd 255 is the first with systemd-dev, as debian/control says. Each system has its libsystemd0, and apt may not
# have its lists yet.
packages_systemd() {
    local version

    version=$(dpkg-query -W -f '${Version}' libsystemd0 2>/dev/null) || :
    if dpkg --compare-versions "${version:-255}" lt 255; then
        echo systemd
    else
        echo systemd-dev
    fi
}

packages_missing() {
    local name

    for name; do
        if [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) != installed ]]; then
            echo "$name"
        fi
    done
}

packages_install() {
    # What a run that was interrupted has left.
    dpkg --configure -a &&
        apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

packages_release() (
    # shellcheck source=/dev/null
    source /etc/os-release
    [[ ${ID-} = debian && -n ${VERSION_CODENAME-} ]] || VERSION_CODENAME=bookworm
    echo "$VERSION_CODENAME"
)

packages_sources() {
    local release=$1 sources

    # shellcheck disable=SC2016  # the variables are apt's
    sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) main' \
        'Created-By: Packages' 'Origin: Debian' 'Component: main' |
        sed -nE "s/^(deb http[^ ]*) $(packages_release)(-security|-updates)? main\$/\1 $release\2 main/p" |
        sort -u) || :
    if ! grep -q " $release main" <<<"$sources"; then
        sources="deb http://deb.debian.org/debian $release main
deb http://deb.debian.org/debian-security $release-security main"
    fi
    case $release in
    # An unreleased distribution has no security archive.
    sid | unstable) grep " $release main" <<<"$sources" ;;
    *) echo "$sources" ;;
    esac
}

# How this machine's apt reaches the archive.
apt_options() {
    apt-config dump --no-empty --format='--aptopt=%f "%v";%n' |
        grep -E '^--aptopt=Acquire::(https?::Proxy|Check-)' || :
}

# Runs in a subshell, whose trap removes an unfinished root. Nothing is synced: after a power cut, the root is
# made again.
make_root() (
    release=$1
    root=$2
    mapfile -t options < <(apt_options)
    mapfile -t sources < <(packages_sources "$release")
    identity=$(printf '%s\n' "$release" "${options[@]}" "${sources[@]}" "$(declare -f make_root)" | sha256sum)
    if [[ $(cat "$root/identity" 2>/dev/null) = "$identity" ]]; then
        exit 0
    fi
    echo "==> making a root of Debian $release"
    work=$(mktemp -d "$root.XXXXXX") || exit
    trap 'rm -rf --one-file-system "$work"' EXIT
    mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io "${options[@]}" \
        "$release" "$work" "${sources[@]}" >"$root.log" 2>&1 &&
        chmod 0755 "$work" &&
        echo "$identity" >"$work/identity" &&
        rm -rf --one-file-system "$root" &&
        mv "$work" "$root"
)

# A changed file gets the current time: the copy may have been built after the file was changed.
copy_source() {
    rsync --archive --no-owner --no-group --no-times --checksum --delete --exclude=/.git \
        --filter=':- .gitignore' "$1/" "$2"
}
