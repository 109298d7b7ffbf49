# shellcheck shell=bash disable=SC2154  # what common.bash sets
# readme.bash: a reader's first ten minutes with the README and the guide, for tests; loaded after lab.bash.
#
#   readme_walk [SECONDS [FILE]]   type what the README and then the guide show, or what the file shows, in a
#                                  home of its own in the lab, each command with so much time; print each
#                                  command, and what it printed if that is not what is shown

readme_walk() {
    local home=$BATS_TEST_TMPDIR/home top=$BATS_TEST_DIRNAME/../..
    local files=("$top/README.md" "$top/docs/guide.md")

    [[ -z ${2-} ]] || files=("$2")
    mkdir -p "$home/.ssh"
    echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNB1vVGaMCcIqoCEYRlFqNCo4lQ6xU2cTyW7m1qVdMx you@example.org' \
        >"$home/.ssh/id_ed25519.pub"
    cd "$home" || return
    lab_run HOME="$home" PATH="$builddir:$PATH" LC_ALL=C.UTF-8 LIBVIRT_DEFAULT_URI=qemu:///system \
        TRANSCRIPT_SECONDS="${1:-120}" \
        python3 "$BATS_TEST_DIRNAME/../transcript.py" "${files[@]}"
}
