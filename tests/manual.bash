# shellcheck shell=bash
# manual.bash: what the manual pages show, for tests; a library to source.
#
#   manual_examples PAGE DIR [SECTION]   write each example of the page, or of one section of it, to a file
#                                        in DIR, whose name is the number of its first line in the page

manual_examples() {
    awk -v directory="$2" -v section="${3-}" '
        /^\.SH / { inside = section == "" || $0 == ".SH " section }
        /^\.EX$/ { file = inside ? sprintf("%s/%04d", directory, FNR + 1) : ""; next }
        /^\.EE$/ { file = "" }
        file {
            gsub(/\\f[BIRP]/, ""); gsub(/\\-/, "-"); gsub(/\\&/, "")
            gsub(/\\\(dq/, "\""); gsub(/\\\(aq/, "\047"); gsub(/\\e/, "\\")
            print >file
        }' "$1" && [[ -n $(ls "$2") ]]
}
