#!/usr/bin/env bats
# dropped.bats: what the seed's reporter tells of documents that cloud-init does not use, by the logs that
# the cloud-inits of all releases of Debian write of it.

# shellcheck disable=SC2016  # jq's variables

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

# For each document: its name, what tells of it, and the document. Each has a secret, hunter2, where
# messages quote it.
documents() {
    cloud_init_python - <<'END'
import base64

mime = """Content-Type: multipart/mixed; boundary="//"
MIME-Version: 1.0

--//
Content-Type: {}

{}
--//--
"""
config = "text/cloud-config"
documents = {
    "used": "#cloud-config\npassword: hunter2\n",
    "absent-variable": "## template: jinja\n#cloud-config\npassword: {{ nobody }}hunter2\n",
    "absent-member": "## template: jinja\n#cloud-config\npassword: {{ v1.no.body }}hunter2\n",
    "hyphen": "## template: jinja\n#cloud-config\npassword: {{ ds.meta_data.local-hunter2 }}\n",
    "syntax": "## template: jinja\n#cloud-config\npassword: {% if v1 %}hunter2{% hunter2 %}\n",
    "rendered-yaml": "## template: jinja\n#cloud-config\npassword: [ hunter2\n",
    "rendered-nothing": "## template: jinja\n#cloud-config\n{% if false %}\npassword: hunter2\n{% endif %}\n",
    "yaml": mime.format(config, "#cloud-config\npassword: [hunter2"),
    "yaml-text": mime.format(config, "#cloud-config\nhunter2"),
    "type": mime.format("text/x-of-my-own", "hunter2"),
    "handler": mime.format("text/part-handler", "#part-handler\nraise ValueError('hunter2')"),
    "patch": mime.format(config + "-jsonp", '#cloud-config-jsonp\n[{"op": "hunter2"}]'),
    "boundary": mime.replace("--//", "//").format(config, "#cloud-config\npassword: hunter2"),
}
for name, document in documents.items():
    print(name, base64.b64encode(document.encode()).decode())
END
}

# tells NAME [TEXT...]: each cloud-init's log tells of the document with one of these texts; without any, of
# nothing. So does status.json, which has such messages since 23.4, of "a document". Nothing has the secret.
tells() {
    local name=$1 release texts

    shift
    texts=$(jq -cn '$ARGS.positional' --args "$@")
    for release in "${releases[@]}"; do
        if ! jq -e --argjson texts "$texts" --arg release "$release" '
                def told: if $texts == [] then . == [] else
                    any(.[]; . as $told | any($texts[]; . as $text | $told | contains($text))) end;
                .dropped | (.log | told) and all(.log[]; startswith("user-data: ")) and
                    (.log | length == (unique | length)) and
                    ((["bullseye", "bookworm"] | index($release)) or (.status | told)) and
                    (tostring | contains("hunter2") | not)' "$name/$release.json" >/dev/null; then
            echo "$name, $release:"
            jq -c .dropped "$name/$release.json"
            return 1
        fi
    done
}

@test "the reporter tells of each document that is not used, and quotes none" {
    local name document found=()

    releases=()
    cd "$BATS_TEST_TMPDIR" || return
    while read -r name document; do
        mkdir "$name"
        found+=("$name")
        domain_xml '' | make_seed "$name" --root="$root" || return
        base64 -d <<<"$document" | replace_user_data "$name" || return
    done < <(documents)
    [[ ${#found[@]} -eq 13 ]]
    for name in bullseye bookworm trixie sid; do
        if [[ -e $consumer/$name/manifest ]]; then
            releases+=("$name")
            "$consumer/$name/python3" -B "$BATS_TEST_DIRNAME/read-seed.py" "$consumer/$name/root" \
                "$name.json" "${found[@]}" || return
        fi
    done
    [[ ${#releases[@]} -gt 0 ]]
    tells used
    tells rendered-nothing
    tells absent-variable "Could not render jinja template variables in file 'part-001'"
    tells absent-member "Ignoring jinja template for part-001: 'dict object' has no attribute 'no'"
    tells hyphen 'Ignoring jinja template for part-001'
    # Since 24.1 it is not an exception of the handler's.
    tells syntax 'Ignoring jinja template for part-001. Failed to render' 'Failed calling handler JinjaTemplate'
    tells rendered-yaml 'Failed loading yaml blob. Invalid format at line 2 column 11'
    tells yaml 'Failed loading yaml blob. Invalid format at line 2 column 11'
    tells yaml-text "Failed loading yaml blob. Yaml load allows (<class 'dict'>,) root types, but got str instead"
    tells type 'Unhandled unknown content-type (text/x-of-my-own) userdata'
    tells handler 'Failed at registering python file: '
    tells patch 'Failed at merging in cloud config part from part-001'
    tells boundary 'cloud-init has found no part in it'
}
