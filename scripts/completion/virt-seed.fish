# SPDX-License-Identifier: GPL-2.0-or-later
# virt-seed's completion for fish: the command knows its commands, options and domains itself.

function __virt_seed_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l offers ($words[1] complete --describe -- $words[2..-1] "$word" 2>/dev/null)

    if set -q offers[1]
        printf '%s\n' $offers
        return
    end
    # Files, also as the value of an option.
    set -l before (string match -r -- '^--[a-z-]+=' $word)
    for path in (__fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $word))
        printf '%s%s\n' "$before" $path
    end
end

complete -c virt-seed -f -a '(__virt_seed_complete)'
