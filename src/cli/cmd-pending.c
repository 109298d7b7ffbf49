/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/child.h"
#include "base/json.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/comparison.h"
#include "cli/io.h"
#include "domain/element.h"
#include "store/delivery.h"
#include "store/seed-file.h"

struct options {
    bool show_secrets;
    bool exit_code;
};

/* What the next start is, as JSON and as a sentence. What cloud-init does with new documents
 * of the same instance: cc_set_hostname at each stage, modules and handlers of the frequency
 * PER_ALWAYS. */
static const struct {
    const char *word;
    const char *text;
} boots[] = {
    [NEXT_BOOT_UNRECORDED] =
        {"unrecorded",
         "the next start is a first boot for cloud-init, unless its disk has booted with this instance-id before: no boot of the domain is recorded on this host"},
    [NEXT_BOOT_NEW_INSTANCE] =
        {"new-instance",
         "the next start is a first boot for cloud-init: everything is applied, and new ssh host keys are made unless the seed has some"},
    [NEXT_BOOT_SAME_INSTANCE] =
        {"same-instance",
         "the next start is the same instance: of what changed, cloud-init takes the host name, and what is done at every boot (bootcmd, boothooks, per-boot scripts, manage_etc_hosts); the rest (users, keys, passwords, files, packages, runcmd, scripts, the network) is ignored until the instance-id changes"},
    [NEXT_BOOT_KEPT] =
        {"kept",
         "the next start is the same instance, whatever has changed: the guest was told to keep what it had read (cache=\"keep\"), and reads no seed until 'cloud-init clean' is run in it, or it gets a new disk"},
    [NEXT_BOOT_UNKNOWN] =
        {"unknown", "whether the next start is a first boot for cloud-init is not known"},
};

/* --json has the same words. */
static const char *const state_words[] = {
    [DOCUMENT_UNCHANGED] = "unchanged",
    [DOCUMENT_CHANGED] = "changed",
    [DOCUMENT_NEW] = "new",
    [DOCUMENT_GONE] = "gone",
    [DOCUMENT_UNKNOWN] = "unknown",
};

/* diff's exit status: 0 is the same, 1 different, 2 trouble. */
#define DIFF_DIFFERENT 1

/* Return: whether it is UTF-8 without control characters, but for the tab and the ends of
 * lines. */
static bool
is_text(const struct document *document)
{
    return element_can_hold(buffer_text(&document->data), document->data.size);
}

/* Return: diff(1)'s unified diff, owned by the caller (buffer_clear); empty if there is
 * none to show, diff(1) is missing, or it exceeded LIMIT_DIFF_*. */
static struct buffer
make_diff(const struct compared_document *document, bool show_secrets)
{
    const struct document *before = document->before;
    const struct document *next = document->next;
    const bool is_shown = !document->secret || show_secrets;
    const bool has_changed = document->state == DOCUMENT_CHANGED && before && next;
    struct buffer diff = {0};

    if (!is_shown || !has_changed)
        return diff;
    if (is_text(before) && is_text(next)) {
        cleanup_close int before_file = process_document("old", &before->data);
        cleanup_close int next_file = process_document("new", &next->data);
        cleanup_free char *before_path = xasprintf("/proc/self/fd/%d", before_file);
        cleanup_free char *next_path = xasprintf("/proc/self/fd/%d", next_file);
        cleanup_free char *before_label = xasprintf("--label=last boot/%s", before->path);
        cleanup_free char *next_label = xasprintf("--label=next start/%s", next->path);
        const char *const words[] = {"diff",     "--unified", "--text",  before_label,
                                     next_label, before_path, next_path, NULL};
        /* No translation, no TMPDIR of the user's. */
        const char *const environment[] = {"LC_ALL=C", NULL};
        const int documents[] = {before_file, next_file, -1};
        const struct child child = {
            .words = words,
            .environment = environment,
            .documents = documents,
            .output = LIMIT_DIFF_OUTPUT,
            .memory = LIMIT_DIFF_MEMORY,
            .seconds = LIMIT_DIFF_SECONDS,
        };

        if (before_file < 0 || next_file < 0 ||
            child_run(&child, &diff) != DIFF_DIFFERENT)
            buffer_clear(&diff);
    }
    return diff;
}

static const char *
find_reason(const struct compared_document *document, bool show_secrets)
{
    if (document->secret && !show_secrets)
        return "contains secrets, or may; not shown";
    if (!document->before)
        return "the previous version was not kept";
    if (!is_text(document->before) || (document->next && !is_text(document->next)))
        return "not text";
    return "too much to show";
}

static void
print_document(const struct compared_document *document, bool show_secrets)
{
    cleanup_buffer struct buffer diff = make_diff(document, show_secrets);
    const struct document *before = document->before;
    const struct document *next = document->next;

    print_outside_string(stdout, document->path);
    printf(": %s", state_words[document->state]);
    if (document->state != DOCUMENT_UNCHANGED && document->state != DOCUMENT_UNKNOWN) {
        if (before || next)
            printf(", %zu bytes", (before ? before : next)->data.size);
        if (before && next)
            printf(", then %zu", next->data.size);
    }
    if (document->state == DOCUMENT_CHANGED && diff.size == 0)
        printf(" (%s)", find_reason(document, show_secrets));
    putchar('\n');
    if (diff.size > 0)
        print_outside_text(stdout, diff.data, diff.size, "\n\t");
}

void
pending_print_documents(const struct comparison *comparison, bool show_secrets)
{
    for (size_t i = 0; i < comparison->document_count; i++)
        print_document(&comparison->documents[i], show_secrets);
}

static void
advise(const struct comparison *comparison, const char *purpose, const char *setting,
       const char *value)
{
    const struct definition *source = &comparison->source;
    cleanup_free char *name =
        xshellquote(source->name ? source->name : source->domain.name);
    cleanup_free char *word = xshellquote(value);

    print_outside_line(stdout, "hint: %s: virt-seed set %s --%s=%s", purpose, name,
                       setting, word);
}

static void
print_boot(const struct comparison *comparison)
{
    const struct identity *identity = &comparison->identity;
    const char *id = identity->instance_id;
    const char *last = comparison->last_instance_id;
    const enum next_boot boot = comparison->boot;
    const char *text = boots[boot].text;
    bool differs = boot == NEXT_BOOT_NEW_INSTANCE;

    print_outside_line(stdout, "instance-id: %s%s%s", id ? id : "unknown",
                       differs ? ", at the last boot " : "", differs ? last : "");
    if (boot == NEXT_BOOT_SAME_INSTANCE && !comparison->has_changes)
        text = "the next start is the same instance, and changes nothing for cloud-init";
    puts(text);
    if (boot == NEXT_BOOT_SAME_INSTANCE && comparison->has_changes) {
        advise(comparison, "to have all of it applied, as a first boot", "instance-id",
               "NEW");
        advise(comparison, "to have that whenever the seed changes", "instance-id-policy",
               "content");
    }
    if (differs)
        advise(comparison, "to keep the guest as it is", "instance-id", last);
}

static void
print_circumstances(const struct comparison *comparison)
{
    cleanup_free char *says =
        consumption_describe(comparison->consumption, comparison->reason);

    for (size_t i = 0; i < comparison->wiring.change_count; i++)
        print_outside_line(stdout, "wiring: %s", comparison->wiring.changes[i]);
    if (comparison->wiring.needed)
        puts("a start is refused until it is wired: see 'virt-seed wire'");
    if (comparison->is_done)
        puts("it is recorded as done: the guest only gets its identity ('virt-seed done "
             "--undo' reverts that)");
    if (comparison->reason)
        printf("the guest says: %s\n", says);
    if (comparison->is_saved)
        puts("it was saved: its next start resumes the guest, which then reads no seed");
    if (comparison->is_replaced) {
        if (comparison->storage)
            printf("the seed %s has been replaced since it was started",
                   storage_location(comparison->storage));
        else
            fputs("its seed was replaced after it was started", stdout);
        /* A guest that keeps what it has read, has read neither; others may say which. */
        if (comparison->is_kept || comparison->claim.instance_id)
            putchar('\n');
        else if (comparison->is_as_replaced)
            puts(
                ", by that of the next start: if the guest has been rebooted since, nothing changes");
        else
            puts("; if the guest has been rebooted since, it has read that one");
    }
    /* What a reboot within the guest reads, and how to have it read the new seed. */
    if (comparison->running.doc && comparison->has_changes) {
        const struct storage *storage =
            delivery_of_running(&comparison->running.domain)->storage;

        printf("it is running: a reboot within the guest%s reads what is %s",
               comparison->boot == NEXT_BOOT_KEPT ? ", after 'cloud-init clean'," : "",
               storage_location(storage));
        /* Unless it is there already, or `update` would refuse. */
        if (comparison->next_storage == storage && !comparison->is_as_replaced) {
            cleanup_free char *name = xshellquote(comparison->source.domain.name);

            fputs("; to put the new seed there: virt-seed update ", stdout);
            print_outside_string(stdout, name);
        }
        putchar('\n');
    }
}

json_t *
pending_pack(const struct comparison *comparison, bool show_secrets)
{
    const struct wiring *wiring = &comparison->wiring;
    json_t *documents = json_array();

    for (size_t i = 0; i < comparison->document_count; i++) {
        const struct compared_document *document = &comparison->documents[i];
        const struct document *before = document->before;
        const struct document *next = document->next;
        cleanup_buffer struct buffer diff = make_diff(document, show_secrets);

        json_add(
            documents,
            json_pack("{s:o, s:s, s:b, s:o*, s:o*, s:o*}", "path",
                      json_outside_string(document->path), "state",
                      state_words[document->state], "secret", document->secret,
                      "size-before",
                      before ? json_integer((json_int_t)before->data.size) : NULL, "size",
                      next ? json_integer((json_int_t)next->data.size) : NULL, "diff",
                      diff.size > 0 ? json_stringn(diff.data, diff.size) : NULL));
    }
    return json_pack(
        "{s:s, s:s, s:s?, s:s?, s:o, s:o, s:b, s:b, s:b, s:b, s:s?, s:o}", "domain",
        comparison->source.domain.name, "boot", boots[comparison->boot].word,
        "instance-id", comparison->identity.instance_id, "last-instance-id",
        comparison->last_instance_id, "documents", documents, "wiring",
        json_texts(wiring->changes, wiring->change_count), "running",
        comparison->running.doc != NULL, "saved", comparison->is_saved, "done",
        comparison->is_done, "replaced", comparison->is_replaced, "denied",
        comparison->denied ? comparison->denied->message : NULL, "guest-says",
        consumption_pack(comparison->consumption, comparison->reason,
                         &comparison->claim));
}

void
pending_print(const struct comparison *comparison, bool show_secrets)
{
    pending_print_documents(comparison, show_secrets);
    print_boot(comparison);
    print_circumstances(comparison);
}

bool
pending_has_changes(const struct comparison *comparison)
{
    if (comparison->wiring.change_count > 0)
        return true;
    return comparison->boot != NEXT_BOOT_KEPT &&
           (comparison->has_changes || comparison->boot != NEXT_BOOT_SAME_INSTANCE);
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    const struct options *options = data;
    cleanup_comparison struct comparison comparison = {0};

    if (comparison_read(&comparison, context, failure) < 0)
        return -1;
    if (context->json) {
        json_print(pending_pack(&comparison, options->show_secrets));
    } else {
        if (context->is_one_of_several)
            print_outside_line(stdout, "==> %s <==", comparison.source.domain.name);
        pending_print(&comparison, options->show_secrets);
    }
    if (comparison.denied) {
        *failure = steal(comparison.denied);
        return failure_prefix(failure, "domain '%s': not all could be compared",
                              comparison.source.domain.name);
    }
    if (options->exit_code && pending_has_changes(&comparison))
        return STATUS_CHANGES;
    return STATUS_OK;
}

static const struct option_row rows[] = {
    OPTION(0, "show-secrets", NULL, show_secrets,
           "also show changes in documents with secrets"),
    OPTION(0, "exit-code", NULL, exit_code,
           "exit with 3 if the next start changes anything"),
    OPTION_END,
};

const struct command cmd_pending = {
    .name = "pending",
    .operands = "DOMAIN|FILE|-…",
    .summary = "say what the next start changes for the guest",
    .help =
        "Compares each document of the seed that the domain gets at its next start with\n"
        "that of the last start, and says whether cloud-init takes it for a first boot.\n"
        "While the domain runs, text is compared line by line. Documents that contain a\n"
        "secret are not shown. Exit status 1 if you may not read everything that must\n"
        "be compared.\n",
    .options = rows,
    .options_size = sizeof(struct options),
    .takes = TAKES_JSON,
    .for_each = true,
    .run = run,
};
