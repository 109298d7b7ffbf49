#!/usr/bin/env bats
# schema.bats: virt-seed's validator gives the verdicts of cloud-init's own.

# shellcheck source-path=SCRIPTDIR source=consumer.bash
source "$BATS_TEST_DIRNAME/consumer.bash"

@test "of thousands of documents, virt-seed and cloud-init accept the same" {
    local name

    for name in bookworm sid; do
        [[ -e $consumer/$name/manifest ]] || skip "the cloud-init of Debian $name is not in '$consumer'"
    done
    "$consumer/bookworm/python3" -B "$BATS_TEST_DIRNAME/schema-examples.py" \
        "$consumer/sid/root/usr/share/doc/cloud-init/examples" >"$BATS_TEST_TMPDIR/examples.json"
    timeout 60 "$consumer/sid/python3" -B "$BATS_TEST_DIRNAME/schema-agrees.py" "$top_srcdir/src/check/schemas" \
        "$top_builddir/tests/consumer/schema-verdicts" "$BATS_TEST_TMPDIR/examples.json"
}
