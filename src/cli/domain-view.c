/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/memory.h"
#include "cli/domain-view.h"
#include "cli/libvirt.h"
#include "domain/xml.h"
#include "wire/wire.h"

int
domain_view_load(struct domain_view *view, virDomainPtr domain, struct failure **failure)
{
    const char *name = virDomainGetName(domain);
    int active = virDomainIsActive(domain);
    cleanup_free char *text = active < 0 ? NULL : virDomainGetXMLDesc(domain, 0);

    *view = (struct domain_view){.active = active > 0};
    if (!text)
        return libvirt_fail(failure, "could not read domain '%s'", name);
    view->doc = xml_parse(text, strlen(text), name, failure);
    if (!view->doc || domain_read(&view->domain, view->doc, failure) < 0)
        return failure_prefix(failure, "domain '%s'", name);
    view->has_request = request_read(&view->request, &view->domain, &view->refused) == 0;
    return 0;
}

int
domain_view_check_report(const struct domain_view *view, bool has_file,
                         struct failure **failure)
{
    bool wired = domain_uses_shim(&view->domain) || wire_report_is_there(&view->domain);
    const char *reason, *hint;

    if (wired && has_file)
        return 0;
    if (view->refused && view->refused->code == FAILURE_REQUEST_MISSING) {
        reason = "it asks for no seed";
        hint = "'virt-seed set DOMAIN' makes it ask for one; start it anew then";
    } else if (view->refused) {
        reason = view->refused->message;
        hint = view->refused->hint;
    } else if (!view->request.report) {
        reason = "its <cloud-init> says report=\"no\"";
        hint = "take that away with 'virsh edit', and start it anew";
    } else if (!request_wants_report(&view->request)) {
        reason = "for Windows and for oVirt's payload there is no reporter";
        hint = "look into the guest itself";
    } else if (!wired) {
        reason = "it has no report channel";
        hint = "'virt-seed wire DOMAIN' adds it; start it anew then";
    } else if (!view->active) {
        return 0;
    } else {
        reason = "its report is missing: no hook made it when it was started";
        hint = "start it anew, with virt-seed's hook installed";
    }
    failure_set(failure, FAILURE_DOMAIN, "domain '%s' will never report: %s",
                view->domain.name, reason);
    return hint ? failure_hint(failure, "%s", hint) : -1;
}

void
domain_view_clear(struct domain_view *view)
{
    request_clear(&view->request);
    domain_clear(&view->domain);
    xmlFreeDoc(view->doc);
    failure_free(view->refused);
    *view = (struct domain_view){0};
}
