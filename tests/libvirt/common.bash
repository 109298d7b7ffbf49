# shellcheck shell=bash
# common.bash: what most files here begin with; loaded behind lab.bash and domains.bash.
#
# A file has one lab, with the hook, and no domain is left between two tests. A file that needs more
# defines functions of bats's by the same names behind the load.

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
    # A leak in a hook would be reported to whoever starts a domain.
    LAB_HOOK=$builddir/virt-seed-hook lab_start
}

virt_seed() {
    lab_run "$builddir/virt-seed" "$@"
}
