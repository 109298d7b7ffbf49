/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostile-maker: stands in for virt-seed-maker, as one that was taken over.
 *
 *     hostile-maker list             print the rows: number; "start", "message" (of a
 *                                    start) or "record"; outcome; words that are in what it
 *                                    was told ("-": none); what it is
 *     hostile-maker watch FILE ...   run a command; then write into FILE how many processes
 *                                    that it started were left, or "alive" if one did not
 *                                    end
 *     hostile-maker                  as the keeper starts it (host/maker.h)
 *
 * How it works: arguments and environment of a maker are fixed, so the row is in what it
 * reads: "row-17" in the domain's XML or in its record. Then it says the row's messages.
 * What it was told becomes the domain's next record, for the test to look at.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../hostile/maker-rows.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "host/exchange.h"
#include "host/maker.h"

#define MILLISECOND 1000000L

/* --- rows --------------------------------------------------------------------------- */

enum step_kind {
    STEP_NONE,  /* after the last: exits with status 0 */
    HEAR_HELLO, /* unless it was heard to find the row */
    HEAR_ANSWERS,
    SAY,         /* a message of kind `number` */
    SAY_HEADER,  /* kind `number`, and then the size in the fields */
    SAY_BYTES,   /* the fields alone */
    SAY_TOLD,    /* a verdict whose record is what it was told */
    MAKE_IMAGE,  /* of `number` bytes */
    SEAL_IMAGE,  /* with `number` */
    MAP_IMAGE,   /* and keep it so in a child */
    GROW_IMAGE,  /* to `number` bytes, in a child, after its end */
    KEEP_SOCKET, /* in a child, until the keeper has ended */
    PRINT,
    EXIT, /* with status `number` */
    DIE,  /* of signal `number` */
    WAIT,
};

struct step {
    enum step_kind kind;
    unsigned long number;
    struct field fields[MOST_FIELDS];
};

enum outcome {
    REFUSED,
    STARTS,
    EITHER,
    LATE, /* refused by the keeper's alarm */
    SAME, /* of a record: it stays as it was */
    CHANGED,
};

static const char *const outcome_names[] = {
    [REFUSED] = "refused", [STARTS] = "starts", [EITHER] = "either",
    [LATE] = "late",       [SAME] = "same",     [CHANGED] = "changed",
};

struct conversation {
    const char *what;
    enum outcome outcome;
    const char *told; /* is in what it was told; or NULL */
    struct step steps[6];
};

/* clang-format off */
#define NEEDS_OF(...) {SAY, MESSAGE_NEEDS, {__VA_ARGS__}}
#define VERDICT(...) {SAY, MESSAGE_VERDICT, {__VA_ARGS__}}
#define RESULT(...) {SAY, MESSAGE_RESULT, {__VA_ARGS__}}
#define HELLO {.kind = HEAR_HELLO}
#define ANSWERS {.kind = HEAR_ANSWERS}
#define STEP(step, value) {.kind = (step), .number = (value)}
/* clang-format on */
#define NOTHING N(VERDICT_NOTHING), NOTES(0), N(0), NO_HINT
#define ASK(...)                                                                         \
    {                                                                                    \
        HELLO, NEEDS_OF(__VA_ARGS__), ANSWERS,                                           \
        {                                                                                \
            .kind = SAY_TOLD                                                             \
        }                                                                                \
    }
#define FILE_NEED(name) N(1), N(NEED_FILE), T(name), NO_KEYS
#define SECRET_NEED(name, key) N(1), N(NEED_SECRET), T(name), T(key), NO_TEXT, NO_TEXT
#define WHOLE_SECRET_NEED(name) N(1), N(NEED_WHOLE_SECRET), T(name), NO_KEYS
#define LABEL_NEED(name) N(1), N(NEED_LABEL), T(name), NO_KEYS
#define OTHER_UUID "0b5f1a57-7d27-4a50-8f6e-2d0b6f0a4c11"
#define BLOCK 2048UL
#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/* What it may ask for and say. */
static const struct conversation starts[] = {
    {"it finds nothing", STARTS, NULL, {HELLO, VERDICT(NOTHING)}},
    {"it needs nothing",
     STARTS,
     NULL,
     {HELLO, NEEDS_OF(N(0)), ANSWERS, VERDICT(NOTHING)}},
    {"it makes an image",
     STARTS,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), VERDICT(SEED, IMAGE, REST)}},
    {"it has documents served",
     STARTS,
     NULL,
     {HELLO, VERDICT(SEED, SERVED, MACS(1), DOCUMENTS(2), REST)}},
    {"it needs a file", STARTS, "content of base.yaml", ASK(FILE_NEED("base.yaml"))},
    {"it needs a secret", STARTS, "content of web1",
     ASK(SECRET_NEED("web1", "userdata"))},
    {"a document with another's UUID",
     STARTS,
     NULL,
     {HELLO, VERDICT(SEED, SERVED, MACS(1), N(1), T("user-data"), T(OTHER_UUID), REST)}},
    {"a record and a note with another's UUID",
     STARTS,
     NULL,
     {HELLO, VERDICT(N(VERDICT_SEED), N(1), T(OTHER_UUID), N(0), NO_HINT, UNSERVED,
                     NO_KEY, NO_DIGEST, T("{\"uuid\": \"" OTHER_UUID "\"}\n"))}},
    {"it prints", STARTS, NULL, {HELLO, STEP(PRINT, 0), VERDICT(NOTHING)}},
};

/* What it has no right to. What belongs to others is in nothing that it is told. */
static const struct conversation wants[] = {
    {"a file of another directory", STARTS, "/virt-seed/files",
     ASK(FILE_NEED("../secrets/other/userdata"))},
    {"a file by its path", STARTS, "/virt-seed/files", ASK(FILE_NEED("/etc/shadow"))},
    {"a file far above", STARTS, "/virt-seed/files",
     ASK(FILE_NEED("../../../../../../../../etc/shadow"))},
    {"a file above on the way", STARTS, "/virt-seed/files",
     ASK(FILE_NEED("site/../../secrets/other/userdata"))},
    {"a file behind a link", STARTS, "/virt-seed/files", ASK(FILE_NEED("out"))},
    {"a file behind a linked directory", STARTS, "/virt-seed/files",
     ASK(FILE_NEED("above/secrets/other/userdata"))},
    {"a directory", STARTS, "/virt-seed/files", ASK(FILE_NEED("site"))},
    {"the directory of files", STARTS, "/virt-seed/files", ASK(FILE_NEED("."))},
    {"a file without a name", STARTS, NULL, ASK(FILE_NEED(""))},
    {"a FIFO", STARTS, "/virt-seed/files", ASK(FILE_NEED("fifo"))},
    {"a file with another's UUID", STARTS, "/virt-seed/files",
     ASK(FILE_NEED("../../../var/lib/virt-seed/" OTHER_UUID ".json"))},
    {"another's secret", STARTS, "may not use the secret 'other'",
     ASK(SECRET_NEED("other", "userdata"))},
    {"all of another's secret", STARTS, "may not use the secret 'other'",
     ASK(WHOLE_SECRET_NEED("other"))},
    {"a key of another's secret", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("web1", "../other/userdata"))},
    {"a key with a path", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("web1", "sub/userdata"))},
    {"a key by its path", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("web1", "/etc/shadow"))},
    {"a key that is a linked file", STARTS, "leads out of its directory",
     ASK(SECRET_NEED("web1", "out"))},
    {"a key without a name", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("web1", ""))},
    {"the list of a secret's domains", STARTS, "is the list of domains",
     ASK(SECRET_NEED("web1", "allow"))},
    {"a secret that leads up", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("../secrets/other", "userdata"))},
    {"a secret above", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("..", "virt-seed.conf"))},
    {"the directory of secrets", STARTS, "is not a valid secret name",
     ASK(WHOLE_SECRET_NEED("."))},
    {"a secret with another's UUID", STARTS, "does not exist",
     ASK(WHOLE_SECRET_NEED(OTHER_UUID))},
    {"the label of a seed with another's UUID", STARTS, NULL,
     ASK(LABEL_NEED("/run/libvirt/virt-seed/" OTHER_UUID ".iso"))},
    {"a secret without a name", STARTS, "is not a valid secret name",
     ASK(WHOLE_SECRET_NEED(""))},
    {"a secret by its path", STARTS, "is not a valid secret name",
     ASK(WHOLE_SECRET_NEED("/etc"))},
    {"a secret that is a link", STARTS, NULL, ASK(WHOLE_SECRET_NEED("linked"))},
    {"secrets of domains", STARTS, "is not a valid secret name",
     ASK(SECRET_NEED("../../../var/lib/virt-seed/secrets", OTHER_UUID))},
    {"a password that it does not have", STARTS, NULL,
     ASK(N(1), N(NEED_PASSWORD), T("password"), NO_KEYS)},
    {"its host key, which there is not", STARTS, NULL,
     ASK(N(1), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS)},
    {"the label of the passwords", STARTS, NULL, ASK(LABEL_NEED("/etc/shadow"))},
    {"the label of the keeper's memory", STARTS, NULL, ASK(LABEL_NEED("/proc/self/mem"))},
    {"the label of a device", STARTS, NULL, ASK(LABEL_NEED("/dev/zero"))},
    {"the label of a directory", STARTS, NULL, ASK(LABEL_NEED("/etc/"))},
    {"the label of a FIFO", STARTS, NULL,
     ASK(N(1), N(NEED_LABEL), HERE("fifo"), NO_KEYS)},
    {"the label of another's seed", STARTS, NULL,
     ASK(N(1), N(NEED_LABEL), HERE("other.iso"), NO_KEYS)},
};

/* What it may not say, or not then. */
static const struct conversation talks[] = {
    {"it says nothing", REFUSED, NULL, {STEP(EXIT, 0)}},
    {"it says nothing and fails", REFUSED, NULL, {STEP(EXIT, 1)}},
    {"it says nothing to the hello", REFUSED, NULL, {HELLO}},
    {"it dies at once", REFUSED, NULL, {STEP(DIE, SIGSEGV)}},
    {"it dies after the hello", REFUSED, NULL, {HELLO, STEP(DIE, SIGKILL)}},
    {"it does not listen", REFUSED, NULL, {VERDICT(NOTHING)}},
    {"it has seven bytes of a header",
     REFUSED,
     NULL,
     {HELLO, {SAY_BYTES, 0, {N(MESSAGE_VERDICT), RAW("\1\1\1")}}}},
    {"it dies in the middle of a header",
     REFUSED,
     NULL,
     {HELLO, {SAY_BYTES, 0, {RAW("\4")}}, STEP(DIE, SIGKILL)}},
    {"it dies in the middle of a message",
     REFUSED,
     NULL,
     {HELLO,
      {SAY_HEADER, MESSAGE_VERDICT, {N(1000), N(VERDICT_NOTHING)}},
      STEP(DIE, SIGKILL)}},
    {"it says less than it announced",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_VERDICT, {N(20), NOTHING}}}},
    {"it says more than it announced",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_VERDICT, {N(12), NOTHING}}}},
    {"it announces a gigabyte",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_VERDICT, {N(1UL << 30), NOTHING}}}},
    {"it announces a byte too much",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_VERDICT, {N(LIMIT_CONTENT + 1), NOTHING}}}},
    {"it announces as much as it may",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_VERDICT, {N(LIMIT_CONTENT), NOTHING}}}},
    {"it announces 32 bits",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_VERDICT, {N(UINT32_MAX), NOTHING}}}},
    {"it announces a gigabyte of needs",
     REFUSED,
     NULL,
     {HELLO, {SAY_HEADER, MESSAGE_NEEDS, {N(1UL << 30), N(0)}}}},
    {"message 0", REFUSED, NULL, {HELLO, {SAY, 0, {NOTHING}}}},
    {"message 6", REFUSED, NULL, {HELLO, {SAY, MESSAGE_RESULT + 1, {NOTHING}}}},
    {"message of 32 bits", REFUSED, NULL, {HELLO, {SAY, UINT32_MAX, {NOTHING}}}},
    {"a hello", REFUSED, NULL, {HELLO, {SAY, MESSAGE_HELLO, {NOTHING}}}},
    {"answers", REFUSED, NULL, {HELLO, {SAY, MESSAGE_ANSWERS, {NOTHING}}}},
    {"a result in place of a verdict",
     REFUSED,
     NULL,
     {HELLO, RESULT(N(0), T("{}"), N(0), N(0))}},
    {"a definition in place of a verdict",
     REFUSED,
     NULL,
     {HELLO, RESULT(N(0), T("<domain/>"), N(0), NOTES(1))}},
    {"two verdicts", REFUSED, NULL, {HELLO, VERDICT(NOTHING), VERDICT(NOTHING)}},
    {"a verdict and a byte",
     REFUSED,
     NULL,
     {HELLO, VERDICT(NOTHING), {SAY_BYTES, 0, {RAW("x")}}}},
    {"a verdict and an empty message",
     REFUSED,
     NULL,
     {HELLO, VERDICT(NOTHING), {SAY, MESSAGE_VERDICT, {{0}}}}},
    {"needs after the verdict", REFUSED, NULL, {HELLO, VERDICT(NOTHING), NEEDS_OF(N(0))}},
    {"needs twice",
     REFUSED,
     NULL,
     {HELLO, NEEDS_OF(N(0)), ANSWERS, NEEDS_OF(N(0)), ANSWERS, VERDICT(NOTHING)}},
    {"needs twice at once",
     REFUSED,
     NULL,
     {HELLO, NEEDS_OF(N(0)), NEEDS_OF(FILE_NEED("base.yaml")), ANSWERS, ANSWERS,
      VERDICT(NOTHING)}},
    {"needs alone", REFUSED, NULL, {HELLO, NEEDS_OF(N(0)), ANSWERS}},
    {"needs, and then it dies",
     REFUSED,
     NULL,
     {HELLO, NEEDS_OF(FILE_NEED("base.yaml")), STEP(DIE, SIGKILL)}},
    {"needs whose answer it does not hear",
     REFUSED,
     NULL,
     {HELLO, NEEDS_OF(FILE_NEED("base.yaml")), VERDICT(NOTHING)}},
    {"needs, and then a result",
     REFUSED,
     NULL,
     {HELLO, NEEDS_OF(N(0)), ANSWERS, RESULT(N(0), T("{}"), N(0), N(0))}},
    {"a failure after a verdict",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), VERDICT(SEED, IMAGE, REST), STEP(EXIT, 1)}},
    {"a failure after it found nothing",
     REFUSED,
     NULL,
     {HELLO, VERDICT(NOTHING), STEP(EXIT, 1)}},
    {"another status after a verdict",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), VERDICT(SEED, IMAGE, REST), STEP(EXIT, 255)}},
    {"death after a verdict",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), VERDICT(SEED, IMAGE, REST), STEP(DIE, SIGKILL)}},
    {"an abort after a verdict",
     REFUSED,
     NULL,
     {HELLO, VERDICT(SEED, SERVED, MACS(1), DOCUMENTS(2), REST), STEP(DIE, SIGABRT)}},
    {"a key that it was not asked to make, with an image",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK),
      VERDICT(SEED, IMAGE, T("private"), T("ssh-ed25519 A\n"), NO_DIGEST, NO_RECORD)}},
    {"a public key that it was not given",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK),
      VERDICT(SEED, IMAGE, T(""), T("ssh-ed25519 A\n"), NO_DIGEST, NO_RECORD)}},
    {"a key after a need of another kind",
     REFUSED,
     NULL,
     {HELLO, NEEDS_OF(LABEL_NEED("/etc/shadow")), ANSWERS,
      VERDICT(SEED, UNSERVED, T("private"), T("ssh-ed25519 A\n"), NO_DIGEST, NO_RECORD)}},
    {"controls in a refusal",
     REFUSED,
     NULL,
     {HELLO,
      VERDICT(N(VERDICT_REFUSE), N(1), T("a\033[2Jb\nc"), N(1), N(FAILURE_FILE), N(1),
              T("one\nvirt-seed: hint: two\033[2J\xff"), T("a\rb\nc"), NO_HINT)}},
    {"a refusal without a hint",
     REFUSED,
     NULL,
     {HELLO, VERDICT(N(VERDICT_REFUSE), NOTES(0), REFUSAL, NO_HINT)}},
    {"an empty refusal",
     REFUSED,
     NULL,
     {HELLO, VERDICT(N(VERDICT_REFUSE), NOTES(0), N(1), N(FAILURE_FILE), N(0), T(""),
                     T(""), NO_HINT)}},
    {"controls in a note",
     STARTS,
     NULL,
     {HELLO, VERDICT(N(VERDICT_NOTHING), N(1), T("a\033[2Jb\nc\xff"), N(0), NO_HINT)}},
    {"an image of which it keeps a mapping",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), STEP(MAP_IMAGE, 0), VERDICT(SEED, IMAGE, REST)}},
    {"an image that it has sealed itself",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), STEP(SEAL_IMAGE, F_SEAL_SEAL),
      VERDICT(SEED, IMAGE, REST)}},
    {"an image that it has sealed itself against all changes",
     REFUSED,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), STEP(SEAL_IMAGE, SEALS),
      VERDICT(SEED, IMAGE, REST)}},
    {"an image that grows after its end",
     EITHER,
     NULL,
     {HELLO, STEP(MAKE_IMAGE, BLOCK), STEP(GROW_IMAGE, 4 * LIMIT_IMAGE),
      VERDICT(SEED, IMAGE, REST)}},
    {"it does not end", LATE, NULL, {HELLO, VERDICT(NOTHING), STEP(WAIT, 0)}},
    {"its child keeps the socket",
     LATE,
     NULL,
     {HELLO, STEP(KEEP_SOCKET, 0), VERDICT(NOTHING)}},
};

/* The same of a record. It always hears the hello, which has the row. */
static const struct conversation results[] = {
    {"a changed record", CHANGED, NULL, {RESULT(N(0), T("{\"new\": 1}\n"), N(0), N(0))}},
    {"it says nothing", SAME, NULL, {STEP(EXIT, 0)}},
    {"it fails", SAME, NULL, {STEP(EXIT, 1)}},
    {"it dies", SAME, NULL, {STEP(DIE, SIGKILL)}},
    {"it dies in the middle of a message",
     SAME,
     NULL,
     {{SAY_HEADER, MESSAGE_RESULT, {N(1000), N(0)}}, STEP(DIE, SIGKILL)}},
    {"needs",
     SAME,
     NULL,
     {NEEDS_OF(FILE_NEED("base.yaml")), ANSWERS, RESULT(N(0), T("{}"), N(0), N(0))}},
    {"empty needs",
     SAME,
     NULL,
     {NEEDS_OF(N(0)), ANSWERS, RESULT(N(0), T("{}"), N(0), N(0))}},
    {"labels",
     SAME,
     NULL,
     {NEEDS_OF(LABEL_NEED("/etc/shadow")), ANSWERS, RESULT(N(0), T("{}"), N(0), N(0))}},
    {"a verdict", SAME, NULL, {VERDICT(NOTHING)}},
    {"a verdict with documents",
     SAME,
     NULL,
     {VERDICT(SEED, SERVED, MACS(1), DOCUMENTS(2), REST)}},
    {"a definition", SAME, NULL, {RESULT(N(0), T("<domain/>"), N(0), NOTES(1))}},
    {"two results",
     SAME,
     NULL,
     {RESULT(N(0), T("{}"), N(0), N(0)), RESULT(N(0), T("{}"), N(0), N(0))}},
    {"a result and a byte",
     SAME,
     NULL,
     {RESULT(N(0), T("{}"), N(0), N(0)), {SAY_BYTES, 0, {RAW("x")}}}},
    {"a failure after a result",
     SAME,
     NULL,
     {RESULT(N(0), T("{}"), N(0), N(0)), STEP(EXIT, 1)}},
    {"death after a result",
     SAME,
     NULL,
     {RESULT(N(0), T("{}"), N(0), N(0)), STEP(DIE, SIGKILL)}},
    {"it announces a gigabyte",
     SAME,
     NULL,
     {{SAY_HEADER, MESSAGE_RESULT, {N(1UL << 30), N(0)}}}},
    {"it announces a byte too much",
     SAME,
     NULL,
     {{SAY_HEADER, MESSAGE_RESULT, {N(LIMIT_CONTENT + 1), N(0)}}}},
    {"a failure with controls",
     SAME,
     NULL,
     {RESULT(N(1), N(FAILURE_RECORD), N(0), T("a\033[2J\nb"), T("c\rd"))}},
};

static const struct {
    const struct conversation *list;
    size_t count;
    bool is_of_record;
} conversations[] = {
    {starts, ARRAY_SIZE(starts), false},
    {wants, ARRAY_SIZE(wants), false},
    {talks, ARRAY_SIZE(talks), false},
    {results, ARRAY_SIZE(results), true},
};

/* --- playing ------------------------------------------------------------------------ */

static struct {
    bool is_heard;
    struct buffer hello;
    struct buffer told;
} now;

static void
hear_hello(void)
{
    if (!now.is_heard)
        message_receive(MAKER_SOCKET, MESSAGE_NO_END, &now.hello);
    now.is_heard = true;
}

static void
put_fields(const struct field *fields, struct buffer *message)
{
    for (const struct field *field = fields; field->kind != FIELD_NONE; field++)
        field_put(field, message);
}

static void
say(unsigned long kind, const struct field *fields)
{
    cleanup_buffer struct buffer message = {0};

    put_fields(fields, &message);
    message_send(MAKER_SOCKET, MESSAGE_NO_END, (enum message_kind)kind, &message);
}

static void
say_bytes(const struct field *fields)
{
    cleanup_buffer struct buffer bytes = {0};

    put_fields(fields, &bytes);
    fs_write_all(MAKER_SOCKET, bytes.data, bytes.size);
}

/* Kind and size come first. */
static void
say_header(unsigned long kind, const struct field *fields)
{
    const uint32_t number = (uint32_t)kind;

    fs_write_all(MAKER_SOCKET, &number, sizeof(number));
    say_bytes(fields);
}

static void
say_what_it_was_told(void)
{
    static const struct field before[] = {SEED, UNSERVED, NO_KEY, NO_DIGEST, {0}};
    cleanup_buffer struct buffer message = {0};

    put_fields(before, &message);
    message_put_bytes(&message, now.told.data, now.told.size);
    message_send(MAKER_SOCKET, MESSAGE_NO_END, MESSAGE_VERDICT, &message);
}

static void
pause_for(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* Return: whether this is the child, which has no socket. */
static bool
leave_child(void)
{
    if (fork() != 0)
        return false;
    close(MAKER_SOCKET);
    return true;
}

static void
map_image(void)
{
    volatile char *image =
        mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, MAKER_OUTPUT, 0);

    if (image == MAP_FAILED)
        _exit(EXIT_FAILURE);
    if (!leave_child())
        return;
    for (int i = 0; i < 1000; i++) {
        image[0] = (char)i;
        pause_for(MILLISECOND);
    }
    _exit(EXIT_SUCCESS);
}

/* Soon after the keeper has waited for it. */
static void
grow_image(off_t size)
{
    const pid_t maker = getpid();

    if (!leave_child())
        return;
    for (int i = 0; i < 100000 && kill(maker, 0) == 0; i++)
        pause_for(MILLISECOND / 100);
    pause_for(MILLISECOND / 10);
    _exit(ftruncate(MAKER_OUTPUT, size) < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void
keep_socket(void)
{
    struct pollfd end = {.fd = MAKER_SOCKET};

    if (fork() != 0)
        return;
    poll(&end, 1, 60 * 1000);
    _exit(EXIT_SUCCESS);
}

static void
play_step(const struct step *step)
{
    switch (step->kind) {
    case HEAR_HELLO:
        hear_hello();
        break;
    case HEAR_ANSWERS:
        message_receive(MAKER_SOCKET, MESSAGE_NO_END, &now.told);
        break;
    case SAY:
        say(step->number, step->fields);
        break;
    case SAY_HEADER:
        say_header(step->number, step->fields);
        break;
    case SAY_BYTES:
        say_bytes(step->fields);
        break;
    case SAY_TOLD:
        say_what_it_was_told();
        break;
    case MAKE_IMAGE:
        if (ftruncate(MAKER_OUTPUT, (off_t)step->number) < 0)
            _exit(EXIT_FAILURE);
        break;
    case SEAL_IMAGE:
        fcntl(MAKER_OUTPUT, F_ADD_SEALS, (int)step->number);
        break;
    case MAP_IMAGE:
        map_image();
        break;
    case GROW_IMAGE:
        grow_image((off_t)step->number);
        break;
    case KEEP_SOCKET:
        keep_socket();
        break;
    case PRINT:
        puts("<domain/>");
        fflush(stdout);
        break;
    case EXIT:
        _exit((int)step->number);
    case DIE:
        signal((int)step->number, SIG_DFL);
        kill(getpid(), (int)step->number);
        break;
    case WAIT:
        sleep(60);
        break;
    case STEP_NONE:
        break;
    }
}

static void
play(const struct conversation *conversation)
{
    for (size_t i = 0; i < ARRAY_SIZE(conversation->steps); i++)
        play_step(&conversation->steps[i]);
}

/* Asks for whatever the row needs before it, says it, and what comes after it. */
static void
play_row(const struct maker_rows *group, const struct maker_row *row)
{
    static const struct field key_need[] = {
        N(1), N(NEED_HOST_KEY), NO_TEXT, NO_KEYS, {0}};
    static const struct field nothing[] = {NOTHING, {0}};

    hear_hello();
    if (group->reader == READER_OF_RESULT) {
        say(MESSAGE_RESULT, row->fields);
        return;
    }
    if (group->reader == READER_OF_NEEDS) {
        say(MESSAGE_NEEDS, row->fields);
        message_receive(MAKER_SOCKET, MESSAGE_NO_END, &now.told);
        say(MESSAGE_VERDICT, nothing);
        return;
    }
    if (row->given.right != KEY_NONE) {
        say(MESSAGE_NEEDS, key_need);
        message_receive(MAKER_SOCKET, MESSAGE_NO_END, &now.told);
    }
    if (ftruncate(MAKER_OUTPUT, row->given.image_size) < 0)
        _exit(EXIT_FAILURE);
    say(MESSAGE_VERDICT, row->fields);
}

/* --- by number ---------------------------------------------------------------------- */

static bool
is_of_wiring(const struct maker_rows *group)
{
    return group->reader == READER_OF_WIRING_NEEDS || group->reader == READER_OF_WIRED;
}

static enum outcome
outcome_of(const struct maker_rows *group, const struct maker_row *row)
{
    if (group->reader == READER_OF_RESULT)
        return group->is_taken ? EITHER : SAME;
    if (!group->is_taken)
        return REFUSED;
    return STARTS;
}

static void
print_row(size_t number, const char *kind, enum outcome outcome, const char *told,
          const char *what)
{
    printf("%zu\t%s\t%s\t%s\t%s\n", number, kind, outcome_names[outcome],
           told ? told : "-", what);
}

/* Plays the row of that number; without one (0), prints all. */
static void
play_number(size_t wanted)
{
    size_t number = 0;

    for (size_t i = 0; i < ARRAY_SIZE(conversations); i++) {
        for (size_t row = 0; row < conversations[i].count; row++) {
            const struct conversation *conversation = &conversations[i].list[row];

            number++;
            if (wanted == 0)
                print_row(number, conversations[i].is_of_record ? "record" : "start",
                          conversation->outcome, conversation->told, conversation->what);
            else if (number == wanted)
                play(conversation);
        }
    }
    for (size_t i = 0; i < maker_rows_count; i++) {
        const struct maker_rows *group = &maker_rows[i];

        for (size_t row = 0; !is_of_wiring(group) && row < group->count; row++) {
            number++;
            if (wanted == 0)
                print_row(
                    number, group->reader == READER_OF_RESULT ? "record" : "message",
                    outcome_of(group, &group->rows[row]), NULL, group->rows[row].what);
            else if (number == wanted)
                play_row(group, &group->rows[row]);
        }
    }
}

static size_t
find_number(const struct buffer *text)
{
    static const char mark[] = "row-";
    const char *at =
        text->size == 0 ? NULL : memmem(text->data, text->size, mark, strlen(mark));

    return at ? strtoul(at + strlen(mark), NULL, 10) : 0;
}

/* --- the program -------------------------------------------------------------------- */

static int
be_maker(void)
{
    cleanup_buffer struct buffer xml = {0};
    size_t number;

    /* As virt-seed-maker, before anything can take it over. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    fs_read_all(MAKER_XML, LIMIT_DOMAIN_XML, &xml);
    number = find_number(&xml);
    if (number == 0) {
        hear_hello();
        number = find_number(&now.hello);
    }
    if (number == 0)
        return EXIT_FAILURE;
    play_number(number);
    return EXIT_SUCCESS;
}

/* Waits for those of the command's processes that are left. */
static const char *
wait_for_others(void)
{
    static char text[16];
    int count = 0;

    for (int i = 0; i < 10000; i++) {
        const pid_t ended = waitpid(-1, NULL, WNOHANG);

        if (ended < 0)
            break;
        if (ended > 0)
            count++;
        else if (i == 9999)
            return "alive";
        else
            pause_for(MILLISECOND);
    }
    snprintf(text, sizeof(text), "%d", count);
    return text;
}

/* Return: the command's exit status. */
static int
watch(const char *path, char **command)
{
    int status;
    pid_t process;
    FILE *file;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    process = fork();
    if (process == 0) {
        execvp(command[0], command);
        _exit(2);
    }
    if (process < 0 || waitpid(process, &status, 0) < 0)
        return 2;
    file = fopen(path, "we");
    if (!file)
        return 2;
    fprintf(file, "%s\n", wait_for_others());
    fclose(file);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "watch") == 0)
        return watch(argv[2], argv + 3);
    if (argc > 1)
        play_number(0);
    else
        _exit(be_maker());
    return EXIT_SUCCESS;
}
