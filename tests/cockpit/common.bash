# shellcheck shell=bash disable=SC2154  # the variables of session.bash
# common.bash: a lab with Cockpit and the page; loaded after lab.bash.
#
#   common_start_lab           start it, with the page and the command as they are installed
#   virt_seed ARGUMENT...      run virt-seed in the lab
#   steps NAME [WORD...]       do in a browser what page.py has under that name
#   begin_steps NAME [WORD...] begin with them
#   wait_for WORD              until they have come that far
#   go_on                      let them go on
#   end_steps                  wait until they are done
#   cockpit_end_steps          end them if they are not

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}
boot_seconds=${VIRT_SEED_BOOT_SECONDS:-1800}

common_start_lab() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    LAB_HOOK=$builddir/virt-seed-hook lab_start
    export images=$LAB_DIR/root/var/lib/libvirt/images
    common_install "$LAB_DIR/installed"
    common_start_bus
}

# Without a bus, Debian 13's bridge ends when Cockpit's shell asks for one: the system's, and the session's.
common_start_bus() {
    lab_run sh -c 'mkdir /run/dbus && exec dbus-daemon --system --fork' </dev/null >"$LAB_DIR/bus.log" 2>&1 3>&- 4>&-
}

common_start_her_bus() {
    lab_run install -d -m 0700 -o "$ann" -g "$ann" "/run/user/$ann"
    as_ann XDG_RUNTIME_DIR="/run/user/$ann" dbus-daemon --session --fork \
        --address="unix:path=/run/user/$ann/bus" </dev/null >>"$LAB_DIR/bus.log" 2>&1 3>&- 4>&-
}

# The page is where 'make install' puts it. The command is the build's, in a place that everybody can reach, and writes
# down its arguments, which everybody can see while it runs. It saves nothing while there is a file 'slow'.
common_install() {
    local installed=$1

    make -s -C "$builddir" install-dist_cockpitDATA install-nodist_cockpitDATA DESTDIR="$installed" bindir=/usr/bin \
        datadir=/usr/share cockpitdir=/usr/share/cockpit/virt-seed >"$LAB_DIR/install.log" || return
    mkdir -p "$installed/usr/bin"
    install -m 0755 "$builddir"/virt-seed{,-maker} "$installed"
    install -m 0666 /dev/null "$LAB_DIR/commands"
    cat >"$installed/usr/bin/virt-seed" <<END
#!/bin/sh
echo "\$*" >>$LAB_DIR/commands
case "\$*" in
*--dry-run*) ;;
*' set '*) for i in \$(seq 600); do [ -e $LAB_DIR/slow ] || break; sleep 0.1; done ;;
esac
exec $installed/virt-seed "\$@"
END
    chmod -R a+rX "$installed"
    chmod 0755 "$installed/usr/bin/virt-seed"
    # shellcheck disable=SC2016  # for the shell in the lab
    lab_run sh -c 'for dir in /usr/bin /usr/share/cockpit; do
            mount -t overlay -o "lowerdir=$1$dir:$dir" lab $dir || exit
        done
        echo "ann:*:20000:0:99999:7:::" >>/etc/shadow
        echo "ann ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/ann' sh "$installed"
}

virt_seed() {
    lab_run LC_ALL=C.UTF-8 "$builddir/virt-seed" "$@"
}

# In the lab's network, which the browser cannot leave.
browser() {
    lab_run PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=yes VIRT_SEED_BOOT_SECONDS="$boot_seconds" \
        VIRT_SEED_PICTURE="${VIRT_SEED_PICTURE-}" /usr/bin/python3 "$BATS_TEST_DIRNAME/page.py" "$@"
}

steps() {
    browser "$@"
}

begin_steps() {
    mkfifo "$LAB_DIR/steps.in"
    browser "$@" <>"$LAB_DIR/steps.in" >"$LAB_DIR/steps.log" 2>&1 3>&- 4>&- &
    steps_pid=$!
}

wait_for() {
    wait_until 120 has_said_or_ended "$1"
    if ! grep -qxF "$1" "$LAB_DIR/steps.log"; then
        cat "$LAB_DIR/steps.log"
        return 1
    fi
}

has_said_or_ended() {
    grep -qxF "$1" "$LAB_DIR/steps.log" || ! kill -0 "$steps_pid" 2>/dev/null
}

go_on() {
    echo 'go on' >"$LAB_DIR/steps.in"
}

end_steps() {
    local status=0

    wait "$steps_pid" || status=$?
    steps_pid=
    rm "$LAB_DIR/steps.in"
    cat "$LAB_DIR/steps.log"
    return "$status"
}

cockpit_end_steps() {
    if [[ -n ${steps_pid-} ]]; then
        kill "$steps_pid" || :
        rm -f "$LAB_DIR/steps.in"
    fi
}
