/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt-seed-maker: reads what others wrote, without rights. virt-seed-hook and root's
 * commands start it (host/maker.h); the conversation is that of host/exchange.h.
 *
 * How it works: it gives up its rights before it reads a byte (maker/sandbox.h). It says
 * everything that it has found and exits with status 0. If it exits with another status,
 * whoever has started it sees only that.
 */
#include "config.h"

#include <signal.h>
#include <sys/prctl.h>

#include "base/fs.h"
#include "domain/domain.h"
#include "domain/xml.h"
#include "host/maker.h"
#include "maker/maker.h"
#include "maker/sandbox.h"

/* --- a start -------------------------------------------------------------------------- */

static void
ask_keeper(void *data, struct needs *needs)
{
    cleanup_buffer struct buffer question = {0};
    cleanup_buffer struct buffer answers = {0};

    needs_put(needs, &question);
    if (message_send(MAKER_SOCKET, MESSAGE_NO_END, MESSAGE_NEEDS, &question) < 0 ||
        message_receive(MAKER_SOCKET, MESSAGE_NO_END, &answers) != MESSAGE_ANSWERS ||
        !answers_get(needs, &answers))
        _exit(EXIT_FAILURE);
}

static int
give_record(void *data, struct buffer *text, struct failure **failure)
{
    const struct hello *hello = data;
    const struct failure *reason = hello->record_failure;

    if (reason)
        return failure_set(failure, reason->code, "%s\n%s", reason->message,
                           reason->hint ? reason->hint : "");
    if (hello->record.size > 0)
        buffer_append(text, hello->record.data, hello->record.size);
    return 0;
}

static void
read_xml(struct buffer *xml)
{
    if (fs_read_all(MAKER_XML, LIMIT_DOMAIN_XML, xml) < 0)
        _exit(EXIT_FAILURE);
}

/* Moves the files into it, and reads them. */
static int
read_config(struct hello *hello, struct config *config, struct failure **failure)
{
    config->files = hello->config;
    hello->config = (struct config_files){0};
    return config_parse(config, failure);
}

static int
make_verdict(struct hello *hello, struct verdict *verdict, struct failure **failure)
{
    const struct host host = {
        .data = hello, .read_record = give_record, .answer = ask_keeper};
    cleanup_buffer struct buffer xml = {0};
    cleanup_xml xmlDoc *doc = NULL;
    cleanup_domain struct domain domain = {0};
    cleanup_config struct config config = {0};
    cleanup_failure struct failure *mistake = NULL;

    /* A mistake there fails a start only if the start needs that setting. */
    if (read_config(hello, &config, &mistake) < 0) {
        cleanup_free char *why = failure_text(mistake);

        texts_add(
            &verdict->notes, &verdict->note_count,
            xasprintf("continuing without this part of the configuration: %s", why));
    }
    read_xml(&xml);
    doc = xml_parse(xml.data, xml.size, "standard input", failure);
    buffer_clear(&xml);
    if (!doc || domain_read(&domain, doc, failure) < 0)
        return -1;
    if (strcmp(domain.uuid, hello->uuid) != 0)
        return failure_set(failure, FAILURE_DOMAIN_UUID,
                           "its XML has more than one UUID\nlook at it: virsh edit");
    maker_prepare(&host, &config, &domain, hello->resumes, verdict);
    return 0;
}

static int
run_prepare(struct hello *hello)
{
    cleanup_verdict struct verdict verdict = VERDICT_NONE;
    cleanup_buffer struct buffer message = {0};

    verdict.publication.output = MAKER_OUTPUT;
    if (make_verdict(hello, &verdict, &verdict.refusal) < 0) {
        verdict.kind = VERDICT_REFUSE;
        failure_hint(&verdict.refusal, CHECK_HINT, hello->uuid);
    }
    verdict_put(&verdict, &message);
    return message_send(MAKER_SOCKET, MESSAGE_NO_END, MESSAGE_VERDICT, &message);
}

/* --- a record, a definition ----------------------------------------------------------- */

static int
wire(struct hello *hello, struct maker_result *result, struct failure **failure)
{
    const struct host host = {.answer = ask_keeper};
    cleanup_buffer struct buffer xml = {0};
    cleanup_config struct config config = {0};

    if (read_config(hello, &config, failure) < 0)
        return -1;
    read_xml(&xml);
    return maker_wire_definition(&xml, &config, &host, result, failure);
}

static int
run_for_result(struct hello *hello,
               int (*make)(struct hello *hello, struct maker_result *result,
                           struct failure **failure))
{
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;
    cleanup_buffer struct buffer message = {0};

    make(hello, &result, &failure);
    result_put(&result, failure, &message);
    return message_send(MAKER_SOCKET, MESSAGE_NO_END, MESSAGE_RESULT, &message);
}

/* --- all of them ------------------------------------------------------------------------ */

static int
run(void)
{
    cleanup_hello struct hello hello = {0};
    cleanup_buffer struct buffer message = {0};

    if (message_receive(MAKER_SOCKET, MESSAGE_NO_END, &message) != MESSAGE_HELLO ||
        !hello_get(&hello, &message))
        return -1;
    buffer_clear(&message);
    switch (hello.role) {
    case MAKER_PREPARE:
        return run_prepare(&hello);
    case MAKER_REPORT:
        return run_for_result(&hello, maker_report);
    case MAKER_MERGE:
        return run_for_result(&hello, maker_merge);
    case MAKER_WIRE:
        return run_for_result(&hello, wire);
    }
    return -1;
}

/* Security updates of these libraries reach the programs only when they are built again. */
static void
print_version(void)
{
    static const char included[] = INCLUDED_LIBRARIES;
    static const char hook_included[] = HOOK_INCLUDED_LIBRARIES;

    puts(PACKAGE_STRING);
    if (included[0] != '\0')
        printf("virt-seed-maker includes %s\n", included);
    if (hook_included[0] != '\0')
        printf("virt-seed-hook and virt-seed-qemu include %s\n", hook_included);
}

static int
explain(const char *option)
{
    static const char usage[] =
        "Usage: virt-seed-maker\n"
        "\n"
        "Makes the seed that a domain's metadata asks for, without rights. virt-seed-hook\n"
        "and virt-seed run it, and talk to it through a socket.\n"
        "\n"
        "  --help     print this and exit\n"
        "  --version  print the version and the libraries that are included, and exit\n";

    if (strcmp(option, "--version") == 0) {
        print_version();
        return EXIT_SUCCESS;
    }
    if (strcmp(option, "--help") == 0) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    fputs(usage, stderr);
    return 2;
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        return explain(argv[1]);
    /* Ends with whoever has started it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || sandbox_enter() < 0)
        return EXIT_FAILURE;
    _exit(run() < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
