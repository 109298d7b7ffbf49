/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maker-in-root --root=DIR [--report]: what makers do with standard input, whatever it is.
 * Where the hook would look at it first, this has a maker wire the definition, and another one
 * make the seed of that; with --report, a maker reads a guest's report. DIR is the host's "/".
 *
 * Prints one line, "seed", "report", "nothing", "refused: REASON" or "skipped: REASON", and
 * fails if a maker has not come to its end.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/memory.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "host/answer.h"
#include "host/maker.h"
#include "host/storage.h"
#include "store/configuration.h"

static int
end(const char *word, const char *reason)
{
    if (reason)
        printf("%s: %s\n", word, reason);
    else
        printf("%s\n", word);
    return EXIT_SUCCESS;
}

/* Either the maker's verdict on what it has read, or on the maker. */
static int
end_by_failure(const struct failure *failure)
{
    if (!strstr(failure->message, "the process that reads what the domain asks for"))
        return end("refused", failure->message);
    fprintf(stderr, "%s\n", failure->message);
    return EXIT_FAILURE;
}

/* Whether libxml2 would have to ask iconv(3), which could not open what it needs. The hook
 * lets only documents through that begin with <domain. */
static bool
has_other_encoding(const struct buffer *text)
{
    static const unsigned char odd[][4] = {{0, 0, 0, '<'},
                                           {'<', 0, 0, 0},
                                           {0, 0, '<', 0},
                                           {0, '<', 0, 0},
                                           {0x4c, 0x6f, 0xa7, 0x94}};
    static const char *const own[] = {"utf-8",  "utf8",     "us-ascii", "ascii",
                                      "utf-16", "utf-16le", "utf-16be", "iso-8859-1"};
    const char *begin = text->size > 0 ? text->data : "";
    const char *encoding;

    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        if (text->size >= 4 && memcmp(begin, odd[i], 4) == 0)
            return true;
    }
    if (strncmp(begin, "<?xml", 5) != 0)
        return false;
    encoding = strstr(begin, "encoding");
    if (!encoding || encoding > begin + strcspn(begin, ">"))
        return false;
    encoding += strlen("encoding");
    encoding += strspn(encoding, " \t\r\n=\"'");
    for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
        if (strncasecmp(encoding, own[i], strlen(own[i])) == 0 &&
            strchr("\"'", encoding[strlen(own[i])]))
            return false;
    }
    return true;
}

static int
run_report(const struct buffer *text)
{
    const struct hello hello = {
        .role = MAKER_REPORT, .report = *text, .written = time(NULL)};
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;

    if (maker_run(&hello, NULL, NULL, &result, &failure) < 0)
        return end_by_failure(failure);
    return end("report", NULL);
}

static int
run_prepare(const struct host *host, struct hello *hello, const struct buffer *xml)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;
    cleanup_maker struct maker maker = MAKER_NONE;
    cleanup_failure struct failure *failure = NULL;
    cleanup_close int output = image_open(&failure);

    hello->role = MAKER_PREPARE;
    verdict.publication.output = output;
    if (output < 0 || maker_start(&maker, xml, output, &failure) < 0 ||
        maker_say_hello(&maker, hello, &failure) < 0 ||
        maker_verdict(&maker, hello, host, &verdict, &failure) < 0)
        return end_by_failure(failure);
    switch (verdict.kind) {
    case VERDICT_REFUSE:
        return end_by_failure(verdict.refusal);
    case VERDICT_SEED:
        return end("seed", NULL);
    case VERDICT_NOTHING:
        break;
    }
    return end("nothing", NULL);
}

/* No metadata server runs for these domains. */
static void
answer(void *data, struct needs *needs)
{
    answerer_answer(data, needs);
    for (size_t i = 0; i < needs->count; i++)
        needs->list[i].server = (struct imds_finding){.health = IMDS_HEALTHY};
}

static int
run_domain(int root, const struct buffer *text)
{
    cleanup_hello struct hello hello = {.role = MAKER_WIRE};
    struct answerer answerer = {
        .root = root, .config = &hello.config, .may_make_key = true};
    const struct host host = {.data = &answerer, .answer = answer};
    cleanup_failure struct failure *ignored = NULL;
    cleanup_failure struct failure *failure = NULL;
    cleanup_maker_result struct maker_result wired = {0};
    cleanup_xml xmlDoc *doc = NULL;
    cleanup_domain struct domain domain = {0};

    config_files_read(&hello.config, root, &ignored);
    if (maker_run(&hello, text, &host, &wired, &failure) < 0)
        return end_by_failure(failure);
    doc = xml_parse(wired.text.data, wired.text.size, "the wired definition", &failure);
    if (!doc || domain_read(&domain, doc, &failure) < 0) {
        fprintf(stderr, "%s\n", failure->message);
        return EXIT_FAILURE;
    }
    hello.uuid = xstrdup(domain.uuid);
    answerer.domain = (struct secret_user){.uuid = domain.uuid, .name = domain.name};
    return run_prepare(&host, &hello, &wired.text);
}

int
main(int argc, char **argv)
{
    static const char option[] = "--root=";
    const bool is_report = argc == 3 && strcmp(argv[2], "--report") == 0;
    cleanup_buffer struct buffer text = {0};
    cleanup_close int root = -1;
    int error;

    if (argc < 2 || argc > 3 || strncmp(argv[1], option, strlen(option)) != 0 ||
        (argc == 3 && !is_report)) {
        fprintf(stderr, "Usage: maker-in-root --root=DIR [--report]\n");
        return 2;
    }
    root = fs_open_root(argv[1] + strlen(option));
    error = fs_read_all(STDIN_FILENO, is_report ? LIMIT_REPORT_FILE : LIMIT_DOMAIN_XML,
                        &text);
    if (root < 0 || (error < 0 && error != -EFBIG)) {
        fprintf(stderr, "%s\n", strerror(root < 0 ? -root : -error));
        return EXIT_FAILURE;
    }
    if (error == -EFBIG)
        return end("refused", "it is too large");
    if (is_report)
        return run_report(&text);
    if (has_other_encoding(&text))
        return end("skipped", "its encoding");
    return run_domain(root, &text);
}
