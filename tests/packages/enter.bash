#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# enter.bash: makes a root file system one's own root, for one command; the first process of new namespaces.
#
#   enter.bash ROOT WORK ARCHIVES COMMAND…
#
# Everything written is lost, except in WORK, which is /debs, and in ARCHIVES, where apt keeps what it has
# downloaded. Started by scripts/test-packages.

set -euo pipefail

lower=$1
work=$2
archives=$3
shift 3
top=$work/top

mount --make-rprivate /
mkdir -p "$top"
mount -t tmpfs -o mode=0755,size=6G upper "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$top/upper,workdir=$top/work" root "$top/root"
cd "$top/root"

mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=0755 run run
mkdir -m 1777 run/lock
mkdir debs
mount --bind "$work" debs
mkdir -p var/cache/apt/archives
mount --bind "$archives" var/cache/apt/archives
echo 'Binary::apt-get::APT::Keep-Downloaded-Packages "true"; APT::Sandbox::User "root";' \
    >etc/apt/apt.conf.d/99test-packages
cp --dereference /etc/resolv.conf etc/resolv.conf

# A small /dev without KVM, which is present but does not work on many machines; what needs descriptors
# finds them.
mount -t tmpfs -o mode=0755 dev dev
for device in 'null 3' 'zero 5' 'full 7' 'random 8' 'urandom 9'; do
    mknod -m 0666 "dev/${device% *}" c 1 "${device#* }"
done
mknod -m 0666 dev/tty c 5 0
for link in 'fd /proc/self/fd' 'stdin /proc/self/fd/0' 'stdout /proc/self/fd/1' \
    'stderr /proc/self/fd/2' 'ptmx pts/ptmx'; do
    ln -s "${link#* }" "dev/${link% *}"
done
mkdir dev/pts
mkdir -m 1777 dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts

pivot_root . .
umount -l .
cd /
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
