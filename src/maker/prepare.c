/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it works: a cold boot gets its seed or is refused, so that no guest ever boots for
 * the first time without what was asked for. A start that resumes a guest is not refused
 * because of its wiring or the content of its documents: the guest read its seed long ago,
 * and its saved state would be lost. It gets the seed that its saved XML asks for, byte for
 * byte the same as the one it was saved with unless its files or secrets have changed;
 * without that, it would not find its disk. The host key that was made at the guest's first
 * boot is never made again: if it is missing, the guest is not resumed.
 */
#include "config.h"

#include "base/scope.h"
#include "domain/digest.h"
#include "domain/request.h"
#include "domain/xml.h"
#include "maker/maker.h"
#include "store/delivery.h"
#include "store/imds-check.h"
#include "store/pipeline.h"
#include "store/record.h"

struct making {
    const struct host *host;
    const struct config *config;
    struct domain *domain;
    bool resumes;
    struct wire_facts facts; /* of the XML as libvirt has it */
    struct request request;
    struct needs needs;
    struct verdict *verdict;
};

static void
making_clear(struct making *making)
{
    wire_facts_clear(&making->facts);
    request_clear(&making->request);
    needs_clear(&making->needs);
}

static __attribute__((format(printf, 2, 3))) void
note(const struct making *making, const char *format, ...)
{
    struct verdict *verdict = making->verdict;
    va_list arguments;

    if (verdict->note_count >= LIMIT_NOTES)
        return;
    va_start(arguments, format);
    texts_add(&verdict->notes, &verdict->note_count, xvasprintf(format, arguments));
    va_end(arguments);
}

/* Return: whether the start has anything to do with seeds and reports. */
static bool
concerns_seeds(const struct wire_facts *facts)
{
    return facts->wants_seed || facts->seed_of_another || facts->report_of_another ||
           delivery_wired(facts);
}

/* Refuses another domain's seed or report; and the domain's own seed if there is no
 * request for it. If there is one, a cold boot is wired before it is refused. */
static int
refuse_unasked(const struct making *making, struct failure **failure)
{
    const struct wire_facts *facts = &making->facts;
    const bool resumes = making->resumes;
    const struct delivery *delivery;
    cleanup_free char *name = NULL;

    /* A resumed guest has its own seed and report unless someone changed the saved
     * state. */
    if (resumes && facts->elsewhere)
        return failure_set(
            failure, FAILURE_UNASKED_SEED,
            "was saved with the seed's disk %s, but seeds of domains %s are in %s\n"
            "resume it where it was saved; or change the path: virsh save-image-edit "
            "FILE, or virsh managedsave-edit",
            facts->elsewhere, scope()->place, scope()->rundir);
    if (resumes && (facts->seed_of_another || facts->report_of_another))
        return failure_set(
            failure, FAILURE_UNASKED_SEED,
            "would be resumed with another domain's seed or report\n"
            "check the serial, the disks, channels and other devices with files in the "
            "saved XML: virsh save-image-dumpxml FILE");
    if (resumes || facts->wants_seed)
        return 0;
    if (facts->report_of_another)
        return wire_report_check(making->domain, failure);
    /* Another domain's disk or URL counts, too: with it, this guest would read that
     * domain's seed. */
    delivery = delivery_wired(facts);
    if (!delivery && !facts->seed_of_another)
        return 0;
    name = xshellquote(making->domain->name);
    return failure_set(
        failure, FAILURE_UNASKED_SEED,
        "has %s %s, but no <cloud-init> in its <metadata>\n"
        "remove the wiring with 'virt-seed unset %s', or restore the request",
        delivery ? "virt-seed's" : "another domain's",
        delivery ? delivery->wiring : "seed", name);
}

/* Asks for everything at once. A cold boot is wired on trial, for which the disks' labels
 * count; and if it has to be refused, whether there is a definition. */
static int
ask(struct making *making, const struct pipeline *pipeline, struct failure **failure)
{
    const struct host *host = making->host;
    const struct wire_facts *facts = &making->facts;
    struct needs *needs = &making->needs;
    const struct delivery *delivery;
    xmlNode *node;

    if (pipeline_begin(pipeline, host, making->domain, &making->request, needs, failure) <
        0)
        return -1;
    /* The request, unless it is a payload or the shim's, has its own copies; large
     * documents need not be in memory twice. */
    node = request_find(making->domain);
    if (node)
        xml_remove(node);
    delivery = delivery_for(&making->request, facts->uses_shim);
    if (!making->resumes) {
        need_labels(making->domain, needs);
        needs_add(needs, NEED_DEFINITION, NULL);
        if (delivery->check_server && delivery_wired(facts) == delivery)
            needs_add(needs, NEED_SERVER, facts->url.address);
    }
    host->answer(host->data, needs);
    return pipeline_finish(pipeline, &making->request, needs, failure);
}

/* Return: the need of that kind, of which there is at most one, or NULL. */
static const struct need *
find_need(const struct making *making, enum need_kind kind)
{
    for (size_t i = 0; i < making->needs.count; i++) {
        if (making->needs.list[i].kind == kind)
            return &making->needs.list[i];
    }
    return NULL;
}

/*
 * Refuses the start, and says what to type. Where the configuration allows it and libvirt
 * keeps a definition of the domain, the definition is wired at the end of this start.
 * `wiring` is what wiring has changed on trial.
 */
static int
refuse_unwired(const struct making *making, const struct wiring *wiring,
               struct failure **failure)
{
    const struct wire_facts *facts = &making->facts;
    cleanup_free char *name = xshellquote(making->domain->name);
    cleanup_free char *emulator = wire_shim_emulator(making->domain);
    const bool is_wired = wire_facts_are_wired(facts);
    const enum need_word definition = find_need(making, NEED_DEFINITION)->word;

    if (facts->elsewhere) {
        failure_set(
            failure, FAILURE_UNWIRED,
            "is wired for another scope: its seed's disk is %s, but seeds of domains "
            "%s are in %s",
            facts->elsewhere, scope()->place, scope()->rundir);
        return failure_hint(failure, "run: virt-seed wire %s && virsh start %s", name,
                            name);
    }
    /* Keep it short, since libvirt prefixes it with a long line. But if there is a wiring
     * that is another domain's or another request's, tell what is wrong with it. */
    if (is_wired || facts->seed_of_another || facts->report_of_another) {
        cleanup_free char *changes = wiring_describe(wiring);

        failure_set(
            failure, FAILURE_UNWIRED,
            "asks for cloud-init but is not wired for that; 'virt-seed wire' would "
            "report: %s",
            changes);
    } else {
        failure_set(failure, FAILURE_UNWIRED,
                    "asks for cloud-init but is not wired for it yet");
    }
    if (definition == NEED_WORD_DEFINITION_NONE) {
        /* The emulator shim does not replace an existing wiring, and cannot do
         * everything. */
        if (is_wired || !wire_shim_can(&making->request))
            return failure_hint(
                failure, "wire its XML before it is created: virt-seed wire FILE | "
                         "virsh create /dev/stdin; or define it with virsh define, and "
                         "start that");
        return failure_hint(
            failure,
            "wire its XML before it is created: virt-seed wire FILE | virsh create "
            "/dev/stdin; or give it <emulator>%s</emulator>; or define it with virsh "
            "define, and start that",
            emulator);
    }
    /* This start's XML is a snapshot's. */
    if (definition == NEED_WORD_DEFINITION_WIRED && !is_wired)
        return failure_hint(failure,
                            "its definition is wired, but this start has an older "
                            "XML, as of a snapshot; 'unwired = warn' in "
                            "%s/virt-seed.conf lets it start",
                            scope()->confdir);
    if (making->config->autowire)
        making->verdict->hint_if_wired =
            xasprintf("wiring it now; run: virsh start %s", name);
    return failure_hint(failure, "run: virt-seed wire %s && virsh start %s", name, name);
}

/* Required of a cold boot, but not of a resumed guest. */
static int
wire_or_refuse(const struct making *making, struct failure **failure)
{
    const struct wire_facts *facts = &making->facts;
    const struct wire_options options = {
        .imds_address = making->config->imds_address,
        .facts = facts,
    };
    /* Whatever the configuration says about unwired domains, no guest gets another's seed
     * or writes another's report. */
    const bool may_start_unwired = making->config->warn_unwired &&
                                   !facts->seed_of_another && !facts->report_of_another;
    cleanup_wiring struct wiring wiring = {0};

    if (wire_domain(making->domain, &making->request, &options, &wiring, failure) < 0)
        return -1;
    if (wiring.change_count > 0 && wiring.needed && !may_start_unwired)
        return refuse_unwired(making, &wiring, failure);
    for (size_t i = 0; i < wiring.change_count; i++)
        note(making, "starting without this wiring: %s", wiring.changes[i]);
    return 0;
}

static void
record_boot(const struct making *making, const struct storage *storage,
            struct record *record)
{
    const struct request *request = &making->request;
    cleanup_record_boot struct record_boot boot = {0};

    record_boot_add_seed(&boot, storage, &making->verdict->seed);
    boot.time = record_time(time(NULL));
    boot.name = xstrdup(making->domain->name);
    boot.version = xstrdup(PACKAGE_VERSION);
    boot.identity_alone = request->until_done && record->done;
    boot.until_done = request->until_done;
    record->cache_keep = request->cache || record->cache_keep;
    record_set_boot(record, &boot);
}

/* What the record will say once the guest has started. A record that cannot be read is no
 * reason to refuse a start. */
static void
make_next_record(const struct making *making, const struct storage *storage)
{
    const struct host *host = making->host;
    cleanup_failure struct failure *failure = NULL;
    cleanup_record struct record record = {0};
    cleanup_buffer struct buffer text = {0};
    bool is_changed = true;

    if (host->read_record(host->data, &text, &failure) < 0 ||
        record_parse(&record, &text, &failure) < 0) {
        cleanup_free char *why = failure_text(failure);

        note(making, "its start will not be recorded: %s", why);
        return;
    }
    /* A state that was saved before the last boot knows nothing of that boot. */
    if (!making->resumes)
        record_boot(making, storage, &record);
    else if (record_forget_later_boot(&record))
        note(making, "resumed from a state that is older than its last boot; the "
                     "result of that boot is not this guest's");
    else
        is_changed = false;
    if (is_changed)
        record_format(&record, &making->verdict->next_record);
}

/*
 * The seed's digest is logged, unless the seed has more than what is in the XML, which is
 * public anyway: a reader of the journal who knows everything else in the seed could test
 * guesses of a password in a secret or a file against the digest.
 */
static char *
make_digest(const struct making *making)
{
    const struct config *config = making->config;
    const struct publication *publication = &making->verdict->publication;
    bool is_public = !config->vendor_data.value && !config->default_keys.value &&
                     !config->default_user.value;

    for (size_t i = 0; i < making->request.parts.count; i++)
        is_public = is_public && making->request.parts.list[i]->origin == PART_INLINE;
    if (!is_public || !publication->has_image)
        return NULL;
    return digest_make_of_file(publication->output);
}

static int
describe_delivery(struct making *making, struct failure **failure)
{
    const struct wire_facts *facts = &making->facts;
    const struct request *request = &making->request;
    const struct delivery *delivery = delivery_for(request, facts->uses_shim);
    const struct delivery_start start = {
        .domain = making->domain,
        .facts = facts,
        .request = request,
    };
    struct verdict *verdict = making->verdict;
    struct publication *publication = &verdict->publication;

    publication->report = delivery->reporter(&start);
    make_next_record(making, delivery->storage);
    if (delivery->make(&start, &making->verdict->seed, publication, failure) < 0)
        return -1;
    verdict->digest = make_digest(making);
    return 0;
}

/* Refuses a cold boot if the host cannot deliver its seed. */
static int
check_server(const struct making *making, struct failure **failure)
{
    const struct need *need = find_need(making, NEED_SERVER);
    cleanup_failure struct failure *reason = NULL;
    cleanup_free char *why = NULL;

    if (!need || imds_check(need->name, &need->server, &reason) == 0)
        return 0;
    if (need->server.health < IMDS_ABSENT || need->server.health == IMDS_FOREIGN ||
        !delivery_may_lack_server(&making->request, making->config)) {
        *failure = steal(reason);
        return -1;
    }
    why = failure_text(reason);
    note(making, "starting anyway: %s", why);
    return 0;
}

/* Return: 0 with the verdict's kind set, or -1. */
static int
prepare(struct making *making, struct failure **failure)
{
    const struct wire_facts *facts = &making->facts;
    const struct pipeline pipeline = {
        .policy = making->resumes ? PIPELINE_RESUME : PIPELINE_COLD_BOOT,
        .config = making->config,
        .key = &making->verdict->key,
    };

    if (!concerns_seeds(facts))
        return 0;
    if (refuse_unasked(making, failure) < 0)
        return -1;
    if (!facts->wants_seed)
        return 0;
    if (making->resumes && !wire_facts_are_wired(facts)) {
        note(making, "resumed without a seed: its XML is not wired for one");
        return 0;
    }
    if (ask(making, &pipeline, failure) < 0)
        return -1;
    if (!making->resumes) {
        take_labels(making->domain, &making->needs);
        if (wire_or_refuse(making, failure) < 0)
            return -1;
    }
    /* Started unwired, as configured: it could not read a seed. */
    if (!wire_facts_are_wired(facts))
        return 0;
    if (seed_make(&making->verdict->seed, &making->request, failure) < 0)
        return -1;
    making->verdict->kind = VERDICT_SEED;
    if (describe_delivery(making, failure) < 0)
        return -1;
    return check_server(making, failure);
}

void
maker_prepare(const struct host *host, const struct config *config, struct domain *domain,
              bool resumes, struct verdict *verdict)
{
    __attribute__((cleanup(making_clear))) struct making making = {
        .host = host,
        .config = config,
        .domain = domain,
        .resumes = resumes,
        .verdict = verdict,
    };
    const size_t note_count = verdict->note_count;
    cleanup_free char *name = xshellquote(domain->name);

    wire_facts_read(&making.facts, domain);
    if (prepare(&making, &verdict->refusal) == 0)
        return;
    verdict->kind = VERDICT_REFUSE;
    failure_hint(&verdict->refusal, CHECK_HINT, name);
    /* They say how the guest starts. */
    while (verdict->note_count > note_count)
        free(verdict->notes[--verdict->note_count]);
}
