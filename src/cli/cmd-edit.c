/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: the document is written into a temporary file, which the user's editor changes.
 * Then the definition is loaded again, so that a change that somebody else has made meanwhile
 * stays; only a change to the same document is a conflict. The text is put into it, wired and
 * checked, as `set` and `check` do, and defined. If any of this fails, the same file is offered
 * again; it is removed when its text is defined, or thrown away.
 */
#include "config.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "base/scope.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/io.h"
#include "cli/libvirt.h"
#include "domain/element.h"
#include "domain/request.h"
#include "domain/vocabulary.h"
#include "domain/xml.h"
#include "wire/wire.h"

/* What can be edited; the first is the default. */
static const struct subject {
    const char *name;
    const char *suffix;   /* of the temporary file, by which editors know the language */
    const char *template; /* what is edited if the domain has none */
    enum part_kind kind;
} subjects[] = {
    {"user-data", ".yaml", "#cloud-config\n", PART_USER_DATA},
    {"vendor-data", ".yaml", "#cloud-config\n", PART_VENDOR_DATA},
    {"network-config", ".yaml", "version: 2\n", PART_NETWORK_CONFIG},
    {"element", ".xml",
     "<ci:cloud-init xmlns:ci=\"" REQUEST_NAMESPACE "\">\n</ci:cloud-init>\n", 0},
};

const char *
edit_part_name(size_t index)
{
    return index < ARRAY_SIZE(subjects) ? subjects[index].name : NULL;
}

#define SUBJECT_ELEMENT (&subjects[ARRAY_SIZE(subjects) - 1])

struct editing {
    const struct context *context;
    const struct subject *subject;
    struct buffer original; /* the document as it is defined */
    /* The text in a temporary file. If a signal ends this process, the file stays: there may
     * be something in it that nobody wants to lose. */
    char *path;
    bool keep;      /* it has what somebody has edited, and was not defined */
    bool force;     /* define it in spite of what is wrong */
    bool can_force; /* what is wrong leaves a definition that libvirt takes */
};

/* --- the document in the definition ------------------------------------------------- */

/* The document is not in the definition, so it must be edited elsewhere. */
static int
refuse_reference(const struct editing *editing, const xmlNode *node,
                 struct failure **failure)
{
    cleanup_free char *file = xml_attribute(node, "file");
    cleanup_free char *secret = xml_attribute(node, "secret");
    cleanup_free char *key = xml_attribute(node, "key");
    cleanup_free char *domain = xshellquote(editing->context->operands[0]);
    const char *name = editing->subject->name;

    if (file)
        return failure_set(failure, FAILURE_USAGE,
                           "the %s is the file '%s' of the host\n"
                           "edit the file itself, in %s/files or another file-directory",
                           name, file, scope()->confdir);
    if (secret)
        return failure_set(failure, FAILURE_USAGE,
                           "the %s is the secret '%s' of the host\n"
                           "edit the secret itself: %s/secrets/%s/%s",
                           name, secret, scope()->confdir, secret, key ? key : "");
    return failure_set(failure, FAILURE_USAGE,
                       "the %s is generated, and has no text to edit\n"
                       "edit what it is made from: virt-seed edit %s element",
                       name, domain);
}

static bool
is_inline(const xmlNode *node)
{
    return !part_is_reference(node) && !xmlHasProp(node, (const xmlChar *)"from");
}

/* Finds the only element of the subject that contains its text; `found` stays NULL if
 * there is no such element. */
static int
find_document(const struct editing *editing, const struct domain *domain, xmlNode **found,
              struct failure **failure)
{
    const xmlNode *element = request_find(domain);
    const xmlNode *reference = NULL;

    *found = NULL;
    xml_foreach_element(node, element) {
        if (!vocabulary_is(node, editing->subject->name))
            continue;
        if (*found && is_inline(node)) {
            cleanup_free char *name = xshellquote(editing->context->operands[0]);

            return failure_set(failure, FAILURE_USAGE,
                               "there are several <%s>\n"
                               "edit all of them: virt-seed edit %s element",
                               editing->subject->name, name);
        }
        if (is_inline(node))
            *found = node;
        else
            reference = node;
    }
    return reference && !*found ? refuse_reference(editing, reference, failure) : 0;
}

/* Appends the document to `text`: nothing if there is none. */
static int
read_document(const struct editing *editing, const struct domain *domain,
              struct buffer *text, struct failure **failure)
{
    __attribute__((cleanup(parts_clear))) struct parts parts = {0};
    const struct part *part;
    xmlNode *node;

    if (editing->subject == SUBJECT_ELEMENT) {
        cleanup_xml xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
        cleanup_free char *formatted = NULL;

        node = request_find(domain);
        if (!node)
            return 0;
        /* Indent the first line like the others. */
        if (node->prev && node->prev->type == XML_TEXT_NODE) {
            const char *blanks = strrchr((const char *)node->prev->content, '\n');

            buffer_append_string(text, blanks ? blanks + 1 : "");
        }
        xmlDocSetRootElement(doc, xmlDocCopyNode(node, doc, 1));
        xmlReconciliateNs(doc, xmlDocGetRootElement(doc));
        formatted = element_format(doc);
        buffer_append_string(text, formatted);
        return 0;
    }
    if (find_document(editing, domain, &node, failure) < 0)
        return -1;
    if (!node)
        return 0;
    part = parts_add(&parts, editing->subject->kind, node, false, failure);
    if (!part)
        return -1;
    buffer_append(text, part->data.data, part->data.size);
    return 0;
}

/* Puts the text into the domain's document; an empty one removes the element. */
static int
write_document(const struct editing *editing, const struct domain *domain,
               const struct buffer *text, struct failure **failure)
{
    const char *name = editing->subject->name;
    xmlNode *element, *old, *node;

    if (editing->subject == SUBJECT_ELEMENT)
        return definition_put_element(domain, text, failure);
    if (find_document(editing, domain, &old, failure) < 0)
        return -1;
    if (text->size == 0) {
        if (old)
            xml_remove(old);
        return 0;
    }
    element = request_find(domain);
    if (!element) {
        cleanup_xml xmlDoc *doc = request_new();

        element = request_insert(domain, xmlDocGetRootElement(doc));
    }
    node = element_add_data(element, name, text->data, text->size);
    if (old && xml_attribute_is(old, "format", "raw"))
        xml_set_attribute(node, "format", "raw");
    xmlUnlinkNode(node);
    if (old)
        xmlReplaceNode(old, node);
    else
        xml_insert_child(element, node);
    xmlFreeNode(old);
    return 0;
}

/* --- the editor ---------------------------------------------------------------------- */

/* Makes the file, with that text. By its suffix, editors know the language. */
static int
editor_open(struct editing *editing, const struct buffer *text, struct failure **failure)
{
    const char *directory = getenv("TMPDIR");
    const bool is_script = strncmp(text->data, "#!", 2) == 0;
    const char *suffix = is_script ? ".sh" : editing->subject->suffix;
    cleanup_close int fd = -1;
    int error;

    editing->path = xasprintf("%s/virt-seed-%s-XXXXXX%s",
                              directory && *directory ? directory : "/tmp",
                              editing->subject->name, suffix);
    fd = mkostemps(editing->path, (int)strlen(suffix), O_CLOEXEC);
    error = fd < 0 ? -errno : fs_write_all(fd, text->data, text->size);
    if (error == 0)
        return 0;
    if (fd >= 0)
        unlink(editing->path);
    return failure_set_errno(failure, FAILURE_SYSTEM, error,
                             "could not make a temporary file\n"
                             "set TMPDIR to a directory that you may write into");
}

/* Runs the command on the file until it ends; signals have their default effect in it.
 * `status` gets that of wait(2). Return: 0 or an errno. */
static int
run_command(const char *command, const char *path, int *status)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ};
    cleanup_free char *script = xasprintf("%s \"$@\"", command);
    const pid_t pid = fork();

    if (pid == 0) {
        for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
            signal(ignored[i], SIG_DFL);
        execl("/bin/sh", "sh", "-c", script, "sh", path, NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, status, 0) < 0)
        return errno;
    return 0;
}

/* Runs $VISUAL, $EDITOR or vi until it ends. `text` gets what is then in the file, even if
 * the editor failed. */
static int
editor_run(const char *path, struct buffer *text, struct failure **failure)
{
    const char *visual = getenv("VISUAL");
    const char *command = visual && *visual ? visual : getenv("EDITOR");
    cleanup_close int fd = -1;
    int error, status = 0;

    if (!command || !*command)
        command = "vi";
    /* Those from the terminal are for the editor. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    error = run_command(command, path, &status);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (error != 0)
        failure_set_errno(failure, FAILURE_SYSTEM, error, "could not run a shell");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        failure_set(failure, FAILURE_SYSTEM,
                    "the editor '%.256s' failed\n"
                    "set VISUAL or EDITOR to an editor that you have",
                    command);
    buffer_clear(text);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    error = fd < 0 ? -errno : fs_read_all(fd, LIMIT_DOMAIN_XML, text);
    if (error < 0 && !*failure)
        failure_set_errno(failure, FAILURE_SYSTEM, error,
                          "could not read the edited text, '%s'", path);
    return *failure ? -1 : 0;
}

/* --- from the file to libvirt --------------------------------------------------------- */

/* Prints what `check` finds in the document. Return: -1 if a start would fail. */
static int
check_document(const struct editing *editing, const struct definition *definition,
               struct failure **failure)
{
    cleanup_findings struct findings findings = {0};

    if (findings_read(&findings, definition, editing->context, failure) < 0)
        return -1;
    findings_print(&findings, &definition->domain, editing->context);
    return findings_refuse(&findings, &definition->domain, editing->subject->name,
                           failure);
}

static int
define(struct editing *editing, const struct buffer *text, struct failure **failure)
{
    const char *name = editing->subject->name;
    cleanup_definition struct definition definition = {0};
    cleanup_wiring struct wiring wiring = {0};
    cleanup_buffer struct buffer present = {0};
    const struct change_options change = {
        .in_place = definition_is_file(editing->context->operands[0]),
    };

    editing->can_force = false;
    if (definition_load(&definition, editing->context, DEFINITION_CHANGE, failure) < 0 ||
        read_document(editing, &definition.domain, &present, failure) < 0)
        return -1;
    if (!editing->force && !buffer_is_same(&present, &editing->original)) {
        editing->can_force = true;
        return failure_set(failure, FAILURE_LIBVIRT,
                           "somebody else changed the %s of '%s' meanwhile", name,
                           definition.domain.name);
    }
    if (write_document(editing, &definition.domain, text, failure) < 0)
        return -1;
    wiring_note(&wiring, "%s edited", name);
    if (definition_wire(&definition, editing->context,
                        (struct wire_options){.add_log = true}, &wiring, failure) < 0)
        return -1;
    definition.request_alone = wiring.change_count == 1;
    if (!editing->force && !libvirt_is_remote(definition.connection) &&
        check_document(editing, &definition, failure) < 0) {
        editing->can_force = true;
        return -1;
    }
    return definition_commit(&definition, editing->context, &change, "unchanged", &wiring,
                             failure);
}

/* --- the command ------------------------------------------------------------------------ */

/* Asks what to do with a text that was refused. Return: 'y' to edit it again, 'f' to
 * define it anyway, 'n' to discard it; 'k', at the end of the input, to keep the file. */
static char
ask(const struct editing *editing)
{
    for (;;) {
        char line[64];

        fprintf(stderr, "Edit it again? [y,n,%s?]: ", editing->can_force ? "f," : "");
        if (!fgets(line, sizeof(line), stdin))
            return 'k';
        if (line[0] == 'y' || line[0] == 'n')
            return line[0];
        if (line[0] == 'f' && editing->can_force)
            return line[0];
        fprintf(stderr, "y - yes, start the editor again\nn - no, discard my changes\n%s",
                editing->can_force ? "f - force, define it anyway\n" : "");
    }
}

/* Has `text` edited until it is defined or given up. Return: the exit status, or -1. */
static int
edit(struct editing *editing, const struct buffer *text, struct failure **failure)
{
    cleanup_buffer struct buffer edited = {0};
    char answer = 'y';

    for (;;) {
        if (answer == 'y') {
            int result = editor_run(editing->path, &edited, failure);

            editing->keep = !buffer_is_same(&edited, text);
            if (!editing->keep && result == 0 && !editing->context->quiet)
                printf("the %s was not changed\n", editing->subject->name);
            if (!editing->keep || result < 0)
                return result;
        }
        editing->force = answer == 'f';
        editing->keep = define(editing, &edited, failure) < 0;
        if (!editing->keep)
            return STATUS_OK;
        if (!isatty(STDIN_FILENO))
            return -1;
        print_failure(*failure);
        failure_free(steal(*failure));
        answer = ask(editing);
        editing->keep = answer != 'n';
        if (answer == 'n' || answer == 'k')
            return STATUS_FAILURE;
    }
}

static int
run(const struct context *context, const void *data, struct failure **failure)
{
    struct editing editing = {.context = context};
    const char *name = context->operand_count > 1 ? context->operands[1] : NULL;
    cleanup_definition struct definition definition = {0};
    cleanup_buffer struct buffer text = {0};
    int result = -1;

    for (size_t i = 0; !editing.subject && i < ARRAY_SIZE(subjects); i++) {
        if (!name || strcmp(subjects[i].name, name) == 0)
            editing.subject = &subjects[i];
    }
    if (!editing.subject)
        return failure_set(failure, FAILURE_USAGE,
                           "there is no document '%.64s' to edit\n"
                           "edit user-data, vendor-data, network-config or element",
                           name);
    if (strcmp(context->operands[0], "-") == 0)
        return failure_set(failure, FAILURE_USAGE,
                           "standard input cannot be edited\ngive a DOMAIN or a FILE");
    if (definition_load(&definition, context, DEFINITION_CHANGE, failure) == 0 &&
        read_document(&editing, &definition.domain, &editing.original, failure) == 0) {
        buffer_append(&text, editing.original.data, editing.original.size);
        if (text.size == 0)
            buffer_append_string(&text, editing.subject->template);
        result = editor_open(&editing, &text, failure);
    }
    if (result == 0) {
        result = edit(&editing, &text, failure);
        if (editing.keep)
            print_outside_line(stderr, "virt-seed: the text that you edited is in %s",
                               editing.path);
        else
            unlink(editing.path);
    }
    free(editing.path);
    buffer_clear(&editing.original);
    return result;
}

const struct command cmd_edit = {
    .name = "edit",
    .operands = "DOMAIN|FILE [PART]",
    .summary = "edit a document of the request in your editor",
    .help =
        "Starts $VISUAL, $EDITOR or vi on the domain's user-data, or on the PART that\n"
        "you name: user-data, vendor-data, network-config, or element, which is the\n"
        "whole <cloud-init> element. The result is checked, wired and defined; if it has\n"
        "mistakes, you can edit it again.\n",
    .takes = TAKES_DRY_RUN,
    .run = run,
};
