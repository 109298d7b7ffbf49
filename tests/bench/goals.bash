# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# goals.bash: what the benchmarks share; scripts/bench and scripts/bench-imds source it, and set
# $source_dir and $build before.
#
#   fail MESSAGE [HINT]                end with a message
#   find_build PROGRAM...              print the directory where those were built: $build, or the
#                                      usual ones
#   calculate EXPRESSION               print what awk makes of it
#   goal TEXT FOUND RELATION LIMIT     print a line that says whether FOUND, a number or nothing,
#                                      reaches it
#   print_machine VERSION              print what all of it was measured on, without a line end

fail() {
    echo "bench: error: $1" >&2
    [[ $# -lt 2 ]] || echo "bench: hint: $2" >&2
    exit 1
}

has_all() {
    local directory=$1 program

    shift
    for program; do
        [[ -x $directory/$program ]] || return
    done
}

find_build() {
    local directory directories=("$build")

    if [[ -z $build ]]; then
        directories=(. "$source_dir/build" "$source_dir")
    fi
    for directory in "${directories[@]}"; do
        if has_all "$directory" "$@"; then
            (cd "$directory" && pwd)
            return
        fi
    done
    fail "found no $1 in ${directories[*]}" "build it: ./configure && make"
}

calculate() {
    awk "BEGIN { printf \"%.3f\", $1 }"
}

goal() {
    local verdict=missed

    if [[ -z $2 ]]; then
        verdict='not measured'
    elif awk "BEGIN { exit !($2 $3 $4) }"; then
        verdict=met
    fi
    printf '%-62s %10s %3s %10s  %s\n' "$1" "${2:--}" "$3" "$4" "$verdict"
}

print_machine() {
    local system

    system=$(. /etc/os-release && echo "$PRETTY_NAME")
    printf '%s' "virt-seed $1, $system, $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
}
