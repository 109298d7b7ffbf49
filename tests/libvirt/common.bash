# shellcheck shell=bash
# common.bash: what most test files here share; loaded after lab.bash and domains.bash.
#
# A file has one lab, with the hook, and no domain is left between two tests. A file that needs something
# else defines setup_file, teardown_file or teardown itself after the load.

builddir=${VIRT_SEED_BUILDDIR:?the build directory with the programs}

setup_file() {
    common_start_lab
}

teardown_file() {
    lab_stop
}

teardown() {
    lab_reset
}

# common_start_lab: the tests of the file share one libvirtd.
common_start_lab() {
    export BATS_NO_PARALLELIZE_WITHIN_FILE=true
    # A leak in a hook would be reported to the user who starts a domain.
    LAB_HOOK=$builddir/virt-seed-hook lab_start
}

# common_make_server: makes a host on which guests can fetch their seeds: the directory, as systemd-tmpfiles
# does, and a listener at the usual address.
common_make_server() {
    common_make_imds_directory
    common_listen
}

# common_make_imds_directory: the same without the listener.
common_make_imds_directory() {
    lab_run install -d -m 0711 /run/libvirt/virt-seed
    lab_run install -d -m 0750 /run/libvirt/virt-seed/imds
}

# common_listen, common_stop_listening: its process id is the lab's.
common_listen() {
    # shellcheck disable=SC2016  # the words are the inner shell's, in the lab
    lab_run bash -c 'exec 2>/run/listener.log 3>&- 4>&-; mkfifo -m 0600 /run/listener.port
        sleep infinity | python3 "$0" listen 80 169.254.169.254 >/run/listener.port &
        read -r _ </run/listener.port; rm /run/listener.port; echo $! >/run/listener.pid' \
        "$BATS_TEST_DIRNAME/../imds/raw.py"
}

common_stop_listening() {
    # shellcheck disable=SC2016  # the same
    lab_run sh -c 'kill "$(cat /run/listener.pid)"'
}

virt_seed() {
    lab_run "$builddir/virt-seed" "$@"
}
