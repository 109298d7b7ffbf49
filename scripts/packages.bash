# shellcheck shell=bash
# packages.bash: Debian packages for the scripts beside it; a library to source.
#
#   build_packages             print what building virt-seed needs
#   packages_missing NAME…     print those that are not installed
#   packages_install NAME…     install them, as root

build_packages() {
    echo autoconf automake gcc libc6-dev make pkg-config libxml2-dev libisofs-dev libyaml-dev \
        libjansson-dev nettle-dev zlib1g-dev uuid-dev libblkid-dev libvirt-dev \
        libmicrohttpd-dev libsystemd-dev
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
    apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}
