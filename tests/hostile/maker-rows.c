/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/process.h"
#include "host/datasource.h"
#include "host/exchange.h"
#include "maker-rows.h"

#define MAC "52:54:00:12:34:56"
#define PUBLIC_KEY "ssh-ed25519 AAAAC3Nz web1\n"

/* --- fields ------------------------------------------------------------------------- */

static void
put_list(enum field_kind kind, size_t count, struct buffer *message)
{
    static const char *const documents[] = {IMDS_META_DATA, IMDS_USER_DATA,
                                            IMDS_VENDOR_DATA, IMDS_NETWORK_CONFIG};

    message_put_number(message, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        if (kind == FIELD_NEEDS) {
            message_put_number(message, NEED_HOST_KEY);
            for (size_t text = 0; text < 1 + NEED_KEYS; text++)
                message_put_text(message, NULL);
        } else if (kind == FIELD_NOTES) {
            message_put_text(message, "a note");
        } else if (kind == FIELD_MACS) {
            message_put_text(message, MAC);
            message_put_number(message, IMDS_LINK_USER);
        } else {
            message_put_text(message, documents[i % ARRAY_SIZE(documents)]);
            message_put_text(message, "content");
        }
    }
}

void
field_put(const struct field *field, struct buffer *message)
{
    cleanup_free char *repeated = NULL;
    cleanup_free char *path = NULL;

    switch (field->kind) {
    case FIELD_NUMBER:
        message_put_number(message, (uint32_t)field->number);
        break;
    case FIELD_NO_TEXT:
        message_put_text(message, NULL);
        break;
    case FIELD_BYTES:
        message_put_bytes(message, field->text, field->number);
        break;
    case FIELD_REPEATED:
    case FIELD_LINE:
        repeated = xmalloc(field->number);
        memset(repeated, *field->text, field->number);
        if (field->kind == FIELD_LINE)
            repeated[field->number - 1] = '\n';
        message_put_bytes(message, repeated, field->number);
        break;
    case FIELD_RAW:
        buffer_append_string(message, field->text);
        break;
    case FIELD_HERE:
        path = process_path_beside(field->text);
        message_put_text(message, path);
        break;
    case FIELD_NEEDS:
    case FIELD_NOTES:
    case FIELD_MACS:
    case FIELD_DOCUMENTS:
        put_list(field->kind, field->number, message);
        break;
    case FIELD_NONE:
        break;
    }
}

/* --- needs -------------------------------------------------------------------------- */

static const struct maker_row needs_up_to_the_limits[] = {
    {"as many needs as allowed", .fields = {NEEDS(LIMIT_PARTS + LIMIT_DEVICES)}},
    {"a file's longest name",
     .fields = {N(1), N(NEED_FILE), REPEATED("a", LIMIT_PATH), NO_KEYS}},
    {"a secret's longest name",
     .fields = {N(1), N(NEED_SECRET), REPEATED("a", LIMIT_SECRET_NAME), ONE_KEY}},
    {"a key's longest name",
     .fields = {N(1), N(NEED_SECRET), T("web1"), REPEATED("a", LIMIT_SECRET_NAME),
                NO_TEXT, NO_TEXT}},
    {"the longest address of a server",
     .fields = {N(1), N(NEED_SERVER), REPEATED("1", LIMIT_SERVER), NO_KEYS}},
    {"a disk's longest path",
     .fields = {N(1), N(NEED_LABEL), REPEATED("/", PATH_MAX), NO_KEYS}},
};

static const struct maker_row needs_that_are_no_message[] = {
    {"an empty message", .fields = {{0}}},
    {"half a number", .fields = {RAW("\1\1")}},
    {"a count alone", .fields = {N(1)}},
    {"fewer needs than there should be",
     .fields = {N(2), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS}},
    {"more needs than there should be",
     .fields = {N(0), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS}},
    {"too many needs", .fields = {NEEDS(LIMIT_PARTS + LIMIT_DEVICES + 1)}},
    {"a count of 32 bits", .fields = {N(UINT32_MAX)}},
    {"a byte after the needs",
     .fields = {N(1), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS, RAW("x")}},
    {"a name beyond the message", .fields = {N(1), N(NEED_FILE), N(1000), RAW("base")}},
    {"a key beyond the message",
     .fields = {N(1), N(NEED_SECRET), T("web1"), N(200), RAW("userdata")}},
    {"a length of nearly 32 bits",
     .fields = {N(1), N(NEED_FILE), N(UINT32_MAX - 1), RAW("base")}},
    {"a NUL in a name", .fields = {N(1), N(NEED_FILE), T("base\0.yaml"), NO_KEYS}},
    {"a NUL in a key",
     .fields = {N(1), N(NEED_SECRET), T("web1"), T("user\0data"), NO_TEXT, NO_TEXT}},
    {"an unknown kind", .fields = {N(1), N(NEED_DEFINITION + 1), NO_TEXT, NO_KEYS}},
    {"an unknown kind with a name",
     .fields = {N(1), N(NEED_DEFINITION + 1), T("x"), NO_KEYS}},
    {"a kind of 32 bits", .fields = {N(1), N(UINT32_MAX), NO_TEXT, NO_KEYS}},
};

static const struct maker_row needs_that_do_not_fit_their_kind[] = {
    {"a file without a name", .fields = {N(1), N(NEED_FILE), NO_TEXT, NO_KEYS}},
    {"a secret without a name", .fields = {N(1), N(NEED_SECRET), NO_TEXT, ONE_KEY}},
    {"a whole secret without a name",
     .fields = {N(1), N(NEED_WHOLE_SECRET), NO_TEXT, NO_KEYS}},
    {"a password without a name", .fields = {N(1), N(NEED_PASSWORD), NO_TEXT, NO_KEYS}},
    {"a label without a path", .fields = {N(1), N(NEED_LABEL), NO_TEXT, NO_KEYS}},
    {"a host key with a name", .fields = {N(1), N(NEED_HOST_KEY), T("x"), NO_KEYS}},
    {"a host key with an empty name", .fields = {N(1), N(NEED_HOST_KEY), T(""), NO_KEYS}},
    {"a definition with a name", .fields = {N(1), N(NEED_DEFINITION), T("x"), NO_KEYS}},
    {"a long name of a file",
     .fields = {N(1), N(NEED_FILE), REPEATED("a", LIMIT_PATH + 1), NO_KEYS}},
    {"a long name of a secret",
     .fields = {N(1), N(NEED_SECRET), REPEATED("a", LIMIT_PATH + 1), ONE_KEY}},
    {"a long name of a whole secret",
     .fields = {N(1), N(NEED_WHOLE_SECRET), REPEATED("a", LIMIT_PATH + 1), NO_KEYS}},
    {"a long name of a password",
     .fields = {N(1), N(NEED_PASSWORD), REPEATED("a", LIMIT_SECRET_NAME + 1), NO_KEYS}},
    {"a long path of a disk",
     .fields = {N(1), N(NEED_LABEL), REPEATED("/", PATH_MAX + 1), NO_KEYS}},
    {"a long key", .fields = {N(1), N(NEED_SECRET), T("web1"),
                              REPEATED("a", LIMIT_PATH + 1), NO_TEXT, NO_TEXT}},
    {"another password", .fields = {N(1), N(NEED_PASSWORD), T("shadow"), NO_KEYS}},
    {"a password that leads up",
     .fields = {N(1), N(NEED_PASSWORD), T("../password"), NO_KEYS}},
    {"an empty password", .fields = {N(1), N(NEED_PASSWORD), T(""), NO_KEYS}},
    {"two servers", .fields = {N(2), N(NEED_SERVER), T("127.0.0.1"), NO_KEYS,
                               N(NEED_SERVER), T("127.0.0.1:8080"), NO_KEYS}},
    {"a server without an address", .fields = {N(1), N(NEED_SERVER), NO_TEXT, NO_KEYS}},
    {"a long address of a server",
     .fields = {N(1), N(NEED_SERVER), REPEATED("1", LIMIT_SERVER + 1), NO_KEYS}},
    {"a relative path of a disk",
     .fields = {N(1), N(NEED_LABEL), T("images/web1.iso"), NO_KEYS}},
    {"an empty path of a disk", .fields = {N(1), N(NEED_LABEL), T(""), NO_KEYS}},
    {"a secret without a key", .fields = {N(1), N(NEED_SECRET), T("web1"), NO_KEYS}},
    {"a secret with a second key alone",
     .fields = {N(1), N(NEED_SECRET), T("web1"), NO_TEXT, T("userdata"), NO_TEXT}},
    {"keys with a gap",
     .fields = {N(1), N(NEED_SECRET), T("web1"), T("userdata"), NO_TEXT, T("userData")}},
    {"a whole secret with a key",
     .fields = {N(1), N(NEED_WHOLE_SECRET), T("web1"), ONE_KEY}},
    {"a file with a key", .fields = {N(1), N(NEED_FILE), T("base.yaml"), ONE_KEY}},
    {"a second need that breaks a rule",
     .fields = {N(2), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS, N(NEED_FILE), NO_TEXT,
                NO_KEYS}},
};

/* --- verdicts ----------------------------------------------------------------------- */

#define WITH_MAC(mac) SEED, SERVED, N(1), mac, N(IMDS_LINK_NEIGHBOUR), DOCUMENTS(0), REST
#define WITH_DOCUMENT(path) SEED, SERVED, MACS(0), N(1), path, T("content"), REST
#define WITH_KEY(private, public) SEED, UNSERVED, private, public, NO_DIGEST, NO_RECORD
#define WITH_DIGEST(digest) SEED, UNSERVED, NO_KEY, digest, NO_RECORD
#define WITH_RECORD(record) SEED, UNSERVED, NO_KEY, NO_DIGEST, record

#define GIVEN_IMAGE .given.image_size = EXCHANGE_IMAGE_SIZE
#define MAY_MAKE_KEY .given.right = KEY_TO_MAKE

static const struct maker_row verdicts_up_to_the_limits[] = {
    {"a seed that is not served", .fields = {SEED, UNSERVED, REST}},
    {"as many notes as allowed",
     .fields = {N(VERDICT_NOTHING), NOTES(LIMIT_NOTES), N(0), NO_HINT}},
    {"the longest note", .fields = {N(VERDICT_NOTHING), N(1),
                                    REPEATED("a", LIMIT_MAKER_TEXT), N(0), NO_HINT}},
    {"the largest image", .fields = {SEED, IMAGE, REST}, .given.image_size = LIMIT_IMAGE},
    {"as many MACs as allowed",
     .fields = {SEED, SERVED, MACS(LIMIT_NICS), DOCUMENTS(0), REST}},
    {"as many documents as allowed",
     .fields = {SEED, SERVED, MACS(0), DOCUMENTS(LIMIT_SERVED_DOCUMENTS), REST}},
    {"the longest keys",
     .fields = {WITH_KEY(REPEATED("a", LIMIT_SSH_KEY), LINE(LIMIT_SSH_KEY))},
     MAY_MAKE_KEY},
    {"a public key", .fields = {WITH_KEY(T(""), T(PUBLIC_KEY))}, MAY_MAKE_KEY},
    {"the largest record", .fields = {WITH_RECORD(REPEATED("a", LIMIT_RECORD))}},
};

static const struct maker_row verdicts_that_contradict_themselves[] = {
    {"an empty message", .fields = {{0}}},
    {"kind 3", .fields = {N(VERDICT_SEED + 1), NOTES(0), N(0), NO_HINT}},
    {"kind 3 with a seed",
     .fields = {N(VERDICT_SEED + 1), NOTES(0), N(0), NO_HINT, UNSERVED, REST}},
    {"bytes after nothing",
     .fields = {N(VERDICT_NOTHING), NOTES(0), N(0), NO_HINT, N(0)}},
    {"a seed after nothing",
     .fields = {N(VERDICT_NOTHING), NOTES(0), N(0), NO_HINT, UNSERVED, REST}},
    {"a byte after a seed", .fields = {SEED, UNSERVED, REST, RAW("x")}},
    {"a refusal of nothing", .fields = {N(VERDICT_NOTHING), NOTES(0), REFUSAL, NO_HINT}},
    {"a refusal with a seed",
     .fields = {N(VERDICT_SEED), NOTES(0), REFUSAL, NO_HINT, UNSERVED, REST}},
    {"a refusal without a reason",
     .fields = {N(VERDICT_REFUSE), NOTES(0), N(0), NO_HINT}},
    {"a hint for the wired without a refusal",
     .fields = {N(VERDICT_NOTHING), NOTES(0), N(0), T("start it again")}},
    {"a hint for the wired with a seed",
     .fields = {N(VERDICT_SEED), NOTES(0), N(0), T("start it again"), UNSERVED, REST}},
    {"too many notes",
     .fields = {N(VERDICT_NOTHING), NOTES(LIMIT_NOTES + 1), N(0), NO_HINT}},
    {"a long note", .fields = {N(VERDICT_NOTHING), N(1),
                               REPEATED("a", LIMIT_MAKER_TEXT + 1), N(0), NO_HINT}},
    {"a note that is missing",
     .fields = {N(VERDICT_NOTHING), N(1), NO_TEXT, N(0), NO_HINT}},
    {"a NUL in a note", .fields = {N(VERDICT_NOTHING), N(1), T("a\0b"), N(0), NO_HINT}},
    {"an unknown code",
     .fields = {N(VERDICT_REFUSE), NOTES(0), N(1), N(FAILURE_CODE_LAST + 1), N(0),
                T("refused"), NO_TEXT, NO_HINT}},
    {"a negative line", .fields = {N(VERDICT_REFUSE), NOTES(0), N(1), N(FAILURE_FILE),
                                   N(UINT32_MAX), T("refused"), NO_TEXT, NO_HINT}},
    {"a refusal without a message",
     .fields = {N(VERDICT_REFUSE), NOTES(0), N(1), N(FAILURE_FILE), N(0), NO_TEXT,
                NO_TEXT, NO_HINT}},
    {"a long message",
     .fields = {N(VERDICT_REFUSE), NOTES(0), N(1), N(FAILURE_FILE), N(0),
                REPEATED("a", LIMIT_MAKER_TEXT + 1), NO_TEXT, NO_HINT}},
    {"a long hint",
     .fields = {N(VERDICT_REFUSE), NOTES(0), N(1), N(FAILURE_FILE), N(0), T("refused"),
                REPEATED("a", LIMIT_MAKER_TEXT + 1), NO_HINT}},
    {"a long hint for the wired", .fields = {N(VERDICT_REFUSE), NOTES(0), REFUSAL,
                                             REPEATED("a", LIMIT_MAKER_TEXT + 1)}},
    {"2 in place of a refusal",
     .fields = {N(VERDICT_REFUSE), NOTES(0), N(2), N(FAILURE_FILE), N(0), T("refused"),
                NO_TEXT, NO_HINT}},
};

static const struct maker_row images_that_are_none[] = {
    {"report 4", .fields = {SEED, N(REPORT_BY_SHIM + 1), N(0), NO_SHIM, NO_TEXT, REST}},
    {"a report of the shim without it",
     .fields = {SEED, N(REPORT_BY_SHIM), N(1), NO_SHIM, NO_TEXT, REST}, GIVEN_IMAGE},
    {"2 images", .fields = {SEED, N(REPORT_BY_NOBODY), N(2), NO_SHIM, NO_TEXT, REST},
     GIVEN_IMAGE},
    {"an image and a token",
     .fields = {SEED, N(REPORT_BY_NOBODY), N(1), NO_SHIM, T(EXCHANGE_TOKEN), MACS(0),
                DOCUMENTS(0), REST},
     GIVEN_IMAGE},
    {"an empty image", .fields = {SEED, IMAGE, REST}, .given.image_size = 0},
    {"half a block", .fields = {SEED, IMAGE, REST},
     .given.image_size = EXCHANGE_IMAGE_SIZE / 2},
    {"a block and a byte", .fields = {SEED, IMAGE, REST},
     .given.image_size = EXCHANGE_IMAGE_SIZE + 1},
    {"an image that is too large", .fields = {SEED, IMAGE, REST},
     .given.image_size = LIMIT_IMAGE + EXCHANGE_IMAGE_SIZE},
    {"another order for the shim",
     .fields = {SEED, N(REPORT_BY_SHIM), N(1), N(SHIM_ORDER_NOCLOUD + 1), NO_TEXT, REST},
     GIVEN_IMAGE},
    {"a word for the shim",
     .fields = {SEED, N(REPORT_BY_SHIM), N(1), T(SERIAL_NOCLOUD), NO_TEXT, REST},
     GIVEN_IMAGE},
    {"a word for the shim without an image",
     .fields = {SEED, N(REPORT_BY_SHIM), N(0), N(SHIM_ORDER_NOCLOUD), NO_TEXT, REST},
     GIVEN_IMAGE},
    {"an order for the shim without an image",
     .fields = {SEED, N(REPORT_BY_SHIM), N(0), N(SHIM_ORDER_NOTHING), NO_TEXT, REST},
     GIVEN_IMAGE},
};

#define WITH_TOKEN(token)                                                                \
    SEED, N(REPORT_BY_NOBODY), N(0), NO_SHIM, token, MACS(0), DOCUMENTS(0), REST

static const struct maker_row tokens_and_macs_of_another_form[] = {
    {"a short token", .fields = {WITH_TOKEN(REPEATED("a", IMDS_TOKEN_LENGTH - 1))}},
    {"a long token", .fields = {WITH_TOKEN(REPEATED("a", IMDS_TOKEN_LENGTH + 1))}},
    {"an empty token", .fields = {WITH_TOKEN(T(""))}},
    {"a token in upper case", .fields = {WITH_TOKEN(REPEATED("A", IMDS_TOKEN_LENGTH))}},
    {"a token of other letters",
     .fields = {WITH_TOKEN(REPEATED("g", IMDS_TOKEN_LENGTH))}},
    {"a token with a line's end",
     .fields = {WITH_TOKEN(T("0123456789abcdef0123456789abcde\n"))}},
    {"a MAC that leads up", .fields = {WITH_MAC(T("../x"))}},
    {"a MAC as long as one that leads up", .fields = {WITH_MAC(T("../../../../../xx"))}},
    {"a short MAC", .fields = {WITH_MAC(T("52:54:00:12:34:5"))}},
    {"a long MAC", .fields = {WITH_MAC(T("52:54:00:12:34:567"))}},
    {"a MAC with other signs", .fields = {WITH_MAC(T("52-54-00-12-34-56"))}},
    {"a MAC of other letters", .fields = {WITH_MAC(T("52:54:00:12:34:5g"))}},
    {"a MAC in upper case", .fields = {WITH_MAC(T("52:54:00:AB:CD:EF"))}},
    {"an empty MAC", .fields = {WITH_MAC(T(""))}},
    {"a missing MAC", .fields = {WITH_MAC(NO_TEXT)}},
    {"too many MACs", .fields = {SEED, SERVED, MACS(LIMIT_NICS + 1), DOCUMENTS(0), REST}},
    {"link 2",
     .fields = {SEED, SERVED, N(1), T(MAC), N(IMDS_LINK_USER + 1), DOCUMENTS(0), REST}},
};

static const struct maker_row documents_that_lead_elsewhere[] = {
    {"a path to another domain", .fields = {WITH_DOCUMENT(T("../V/user-data"))}},
    {"an absolute path", .fields = {WITH_DOCUMENT(T("/etc/passwd"))}},
    {"an empty name", .fields = {WITH_DOCUMENT(T("a//b"))}},
    {"a name that is missing at the end", .fields = {WITH_DOCUMENT(T("a/"))}},
    {"an empty path", .fields = {WITH_DOCUMENT(T(""))}},
    {"a missing path", .fields = {WITH_DOCUMENT(NO_TEXT)}},
    {"the directory itself", .fields = {WITH_DOCUMENT(T("."))}},
    {"the directory itself on the way", .fields = {WITH_DOCUMENT(T("a/./b"))}},
    {"the directory above", .fields = {WITH_DOCUMENT(T(".."))}},
    {"a path that leads up on the way", .fields = {WITH_DOCUMENT(T("a/../b"))}},
    {"a path that leads up at its end", .fields = {WITH_DOCUMENT(T("a/.."))}},
    {"the file that says who may read", .fields = {WITH_DOCUMENT(T(IMDS_ACCESS))}},
    {"a directory of that name", .fields = {WITH_DOCUMENT(T(IMDS_ACCESS "/x"))}},
    {"the directory of another domain",
     .fields = {WITH_DOCUMENT(T("4dea22b3-1d52-d8f3-2516-782e98ab3fa0"))}},
    {"another document", .fields = {WITH_DOCUMENT(T("meta_data.json"))}},
    {"a document in a directory", .fields = {WITH_DOCUMENT(T("openstack/user-data"))}},
    {"a long path", .fields = {WITH_DOCUMENT(REPEATED("a", LIMIT_PATH + 1))}},
    {"a NUL in a path", .fields = {WITH_DOCUMENT(T("user-data\0/../x"))}},
    {"a line's end in a path", .fields = {WITH_DOCUMENT(T("user-data\n"))}},
    {"a terminal's control in a path", .fields = {WITH_DOCUMENT(T("\033[2J"))}},
    {"a space in a path", .fields = {WITH_DOCUMENT(T("user data"))}},
    {"a backslash in a path", .fields = {WITH_DOCUMENT(T("a\\b"))}},
    {"a letter that is not ASCII", .fields = {WITH_DOCUMENT(T("\xc3\xa4"))}},
    {"a document twice",
     .fields = {SEED, SERVED, MACS(0), N(2), T("a"), T("one"), T("a"), T("other"), REST}},
    {"too many documents",
     .fields = {SEED, SERVED, MACS(0), DOCUMENTS(LIMIT_SERVED_DOCUMENTS + 1), REST}},
    {"content beyond the message",
     .fields = {SEED, SERVED, MACS(0), N(1), T("user-data"), N(1000), RAW("content")}},
    {"a large document", .fields = {SEED, SERVED, MACS(0), N(1), T("user-data"),
                                    REPEATED("a", LIMIT_SEED + 1), REST}},
    {"documents without a token",
     .fields = {SEED, UNSERVED, MACS(0), DOCUMENTS(1), REST}},
};

static const struct maker_row keys_that_are_not_new_or_not_a_line[] = {
    {"a private key that nobody asked for",
     .fields = {WITH_KEY(T("private"), T(PUBLIC_KEY))}},
    {"a public key that nobody asked for", .fields = {WITH_KEY(T(""), T(PUBLIC_KEY))}},
    {"a private key without a public one", .fields = {WITH_KEY(T("private"), NO_TEXT)},
     MAY_MAKE_KEY},
    {"a long private key",
     .fields = {WITH_KEY(REPEATED("a", LIMIT_SSH_KEY + 1), T(PUBLIC_KEY))}, MAY_MAKE_KEY},
    {"a missing private key", .fields = {WITH_KEY(NO_TEXT, T(PUBLIC_KEY))}, MAY_MAKE_KEY},
    {"a public key of two lines",
     .fields = {WITH_KEY(T(""), T("ssh-ed25519 A\nssh-ed25519 B\n"))}, MAY_MAKE_KEY},
    {"a public key without a line's end", .fields = {WITH_KEY(T(""), T("ssh-ed25519 A"))},
     MAY_MAKE_KEY},
    {"a public key with a terminal's control",
     .fields = {WITH_KEY(T(""), T("ssh-ed25519 \033[2J\n"))}, MAY_MAKE_KEY},
    {"a public key with a tab", .fields = {WITH_KEY(T(""), T("ssh-ed25519\tA\n"))},
     MAY_MAKE_KEY},
    {"a public key that is not ASCII",
     .fields = {WITH_KEY(T(""), T("ssh-ed25519 A \xc3\xa4\n"))}, MAY_MAKE_KEY},
    {"a public key with a NUL", .fields = {WITH_KEY(T(""), T("ssh-ed25519\0A\n"))},
     MAY_MAKE_KEY},
    {"an empty line", .fields = {WITH_KEY(T(""), T("\n"))}, MAY_MAKE_KEY},
    {"an empty public key", .fields = {WITH_KEY(T(""), T(""))}, MAY_MAKE_KEY},
    {"a long public key", .fields = {WITH_KEY(T(""), LINE(LIMIT_SSH_KEY + 1))},
     MAY_MAKE_KEY},
};

static const struct maker_row digests_and_records_of_another_form[] = {
    {"a short digest", .fields = {WITH_DIGEST(REPEATED("a", DIGEST_LENGTH - 1))}},
    {"a long digest", .fields = {WITH_DIGEST(REPEATED("a", DIGEST_LENGTH + 1))}},
    {"a digest in upper case", .fields = {WITH_DIGEST(REPEATED("A", DIGEST_LENGTH))}},
    {"a digest of other letters", .fields = {WITH_DIGEST(REPEATED("g", DIGEST_LENGTH))}},
    {"an empty digest", .fields = {WITH_DIGEST(T(""))}},
    {"a large record", .fields = {WITH_RECORD(REPEATED("a", LIMIT_RECORD + 1))}},
    {"a missing record", .fields = {WITH_RECORD(NO_TEXT)}},
};

/* --- results ------------------------------------------------------------------------ */

static const struct maker_row the_largest_result[] = {
    {"the largest record",
     .fields = {N(0), REPEATED("a", LIMIT_RECORD), N(MAKER_EVENT_FAILED), N(0)}},
    {"the longest failure",
     .fields = {N(1), N(FAILURE_CODE_LAST), N(INT32_MAX), REPEATED("a", LIMIT_MAKER_TEXT),
                REPEATED("a", LIMIT_MAKER_TEXT)}},
};

static const struct maker_row results_that_break_a_rule[] = {
    {"an empty message", .fields = {{0}}},
    {"event 4", .fields = {N(0), T("{}"), N(MAKER_EVENT_FAILED + 1), N(0)}},
    {"no event", .fields = {N(0), T("{}")}},
    {"a large record", .fields = {N(0), REPEATED("a", LIMIT_RECORD + 1), N(0), N(0)}},
    {"a NUL in a record", .fields = {N(0), T("{}\0{}"), N(0), N(0)}},
    {"a change of a record", .fields = {N(0), T("{}"), N(0), N(1), T("a")}},
    {"a record beyond the message", .fields = {N(0), N(1000), RAW("{}")}},
    {"a missing record", .fields = {N(0), NO_TEXT, N(0), N(0)}},
    {"a byte after the result", .fields = {N(0), T("{}"), N(0), N(0), RAW("x")}},
    {"a failure and a result", .fields = {REFUSAL, T("{}"), N(0), N(0)}},
    {"a failure and a byte", .fields = {REFUSAL, RAW("x")}},
    {"2 in place of a failure", .fields = {N(2), T("{}"), N(0), N(0)}},
    {"an unknown code",
     .fields = {N(1), N(FAILURE_CODE_LAST + 1), N(0), T("failed"), NO_TEXT}},
    {"a failure without a message",
     .fields = {N(1), N(FAILURE_FILE), N(0), NO_TEXT, T("hint")}},
    {"a NUL in a hint", .fields = {N(1), N(FAILURE_FILE), N(0), T("a"), T("a\0b")}},
};

/* --- definitions that are wired ----------------------------------------------------- */

static const struct maker_row wiring_needs[] = {
    {"nothing", .fields = {N(0)}},
    {"a label", .fields = {N(1), N(NEED_LABEL), T("/dev/null"), NO_KEYS}},
};

static const struct maker_row needs_that_wiring_does_not_have[] = {
    {"a file", .fields = {N(1), N(NEED_FILE), T("base.yaml"), NO_KEYS}},
    {"a secret", .fields = {N(1), N(NEED_SECRET), T("web1"), ONE_KEY}},
    {"a whole secret", .fields = {N(1), N(NEED_WHOLE_SECRET), T("web1"), NO_KEYS}},
    {"a host key", .fields = {N(1), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS}},
    {"a password", .fields = {N(1), N(NEED_PASSWORD), T("password"), NO_KEYS}},
    {"a definition", .fields = {N(1), N(NEED_DEFINITION), NO_TEXT, NO_KEYS}},
    {"a file after a label", .fields = {N(2), N(NEED_LABEL), T("/dev/null"), NO_KEYS,
                                        N(NEED_FILE), T("base.yaml"), NO_KEYS}},
};

static const struct maker_row wired_up_to_the_limits[] = {
    {"a definition that was wired before", .fields = {N(0), T(""), N(0), NOTES(0)}},
    {"as many changes as allowed",
     .fields = {N(0), T("<domain/>"), N(0), NOTES(LIMIT_WIRING_CHANGES)}},
    {"the longest change",
     .fields = {N(0), T("<domain/>"), N(0), N(1), REPEATED("a", LIMIT_MAKER_TEXT)}},
    {"the largest definition",
     .fields = {N(0), REPEATED("a", LIMIT_DOMAIN_XML), N(0), NOTES(0)}},
    {"a failure", .fields = {REFUSAL}},
};

static const struct maker_row wired_that_breaks_a_rule[] = {
    {"an empty message", .fields = {{0}}},
    {"no changes", .fields = {N(0), T("<domain/>"), N(0)}},
    {"a missing definition", .fields = {N(0), NO_TEXT, N(0), NOTES(0)}},
    {"a definition beyond the message", .fields = {N(0), N(1000), RAW("<domain/>")}},
    {"a large definition",
     .fields = {N(0), REPEATED("a", LIMIT_DOMAIN_XML + 1), N(0), NOTES(0)}},
    {"a NUL in a definition",
     .fields = {N(0), T("<domain/>\0<domain/>"), N(0), NOTES(0)}},
    {"a NUL after a definition", .fields = {N(0), T("<domain/>\0"), N(0), NOTES(0)}},
    {"an event", .fields = {N(0), T("<domain/>"), N(MAKER_EVENT_DONE), NOTES(0)}},
    {"too many changes",
     .fields = {N(0), T("<domain/>"), N(0), NOTES(LIMIT_WIRING_CHANGES + 1)}},
    {"a count of 32 bits", .fields = {N(0), T("<domain/>"), N(0), N(UINT32_MAX)}},
    {"fewer changes than there should be", .fields = {N(0), T(""), N(0), N(2), T("a")}},
    {"a long change",
     .fields = {N(0), T("<domain/>"), N(0), N(1), REPEATED("a", LIMIT_MAKER_TEXT + 1)}},
    {"a missing change", .fields = {N(0), T("<domain/>"), N(0), N(1), NO_TEXT}},
    {"a NUL in a change", .fields = {N(0), T("<domain/>"), N(0), N(1), T("a\0b")}},
    {"a byte after the changes",
     .fields = {N(0), T("<domain/>"), N(0), NOTES(0), RAW("x")}},
    {"a failure and a definition", .fields = {REFUSAL, T("<domain/>"), N(0), NOTES(0)}},
    {"2 in place of a failure", .fields = {N(2), T("<domain/>"), N(0), NOTES(0)}},
};

/* --- all of them -------------------------------------------------------------------- */

#define TAKEN(reader, rows)                                                              \
    {                                                                                    \
        reader, true, rows, ARRAY_SIZE(rows)                                             \
    }
#define REFUSED(reader, rows)                                                            \
    {                                                                                    \
        reader, false, rows, ARRAY_SIZE(rows)                                            \
    }

const struct maker_rows maker_rows[] = {
    TAKEN(READER_OF_NEEDS, needs_up_to_the_limits),
    REFUSED(READER_OF_NEEDS, needs_that_are_no_message),
    REFUSED(READER_OF_NEEDS, needs_that_do_not_fit_their_kind),
    TAKEN(READER_OF_VERDICT, verdicts_up_to_the_limits),
    REFUSED(READER_OF_VERDICT, verdicts_that_contradict_themselves),
    REFUSED(READER_OF_VERDICT, images_that_are_none),
    REFUSED(READER_OF_VERDICT, tokens_and_macs_of_another_form),
    REFUSED(READER_OF_VERDICT, documents_that_lead_elsewhere),
    REFUSED(READER_OF_VERDICT, keys_that_are_not_new_or_not_a_line),
    REFUSED(READER_OF_VERDICT, digests_and_records_of_another_form),
    TAKEN(READER_OF_RESULT, the_largest_result),
    REFUSED(READER_OF_RESULT, results_that_break_a_rule),
    TAKEN(READER_OF_WIRING_NEEDS, wiring_needs),
    REFUSED(READER_OF_WIRING_NEEDS, needs_that_wiring_does_not_have),
    TAKEN(READER_OF_WIRED, wired_up_to_the_limits),
    REFUSED(READER_OF_WIRED, wired_that_breaks_a_rule),
};
const size_t maker_rows_count = ARRAY_SIZE(maker_rows);
