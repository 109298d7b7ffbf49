#!/bin/sh
# virt-seed: gives each new instance a machine-id of its own, which
# <ci:cloud-init machine-id="per-instance"> in the domain's metadata asks for.

id=/etc/machine-id
dbus_id=/var/lib/dbus/machine-id
semaphores=/var/lib/cloud/instance/sem
# cloud-init drops what a boothook prints.
log=/var/log/cloud-init-output.log

# An instance that has booted before keeps what it has: by then cloud-init has left
# semaphores of its modules.
for semaphore in "$semaphores"/config_* "$semaphores/virt-seed-machine-id"; do
    [ ! -e "$semaphore" ] || exit 0
done
# Without a place for the note, each boot would change it.
: >"$semaphores/virt-seed-machine-id" || exit

old=
[ ! -e $id ] || read -r old <$id
# What is in /dev already is as old as this boot.
if [ ${#old} -ne 32 ] || [ -n "$(find $id -newer /dev/zero)" ]; then
    echo "virt-seed: the machine-id was made at this boot, and stays" >>$log
    exit
fi

new=$(tr -d - </proc/sys/kernel/random/uuid)
# Not renamed into place: the file keeps its mode and its SELinux label.
echo "$new" >$id || exit
if [ -f $dbus_id ] && [ ! -L $dbus_id ]; then
    echo "$new" >$dbus_id || exit
fi
echo "virt-seed: new machine-id for a new instance; services already running use it" \
    "after the next boot" >>$log
