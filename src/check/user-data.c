/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user-data and vendor-data are, beside cloud-configs (cloud-config.c). */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "check/rules.h"
#include "seed/user-data.h"

static void
warn(const struct check *check, const struct part *part, enum warning id,
     const char *hint, int line, const char *message)
{
    cleanup_free char *description = part_describe(part);

    if (line > 0)
        findings_warn(check->findings, id, part->line, hint, "%s: line %d: %s",
                      description, line, message);
    else
        findings_warn(check->findings, id, part->line, hint, "%s %s", description,
                      message);
}

static bool
begins_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static void
check_includes(const struct check *check, const struct part *part)
{
    cleanup_free char *text = xstrndup(part->data.data, part->data.size);
    char *rest = text;
    int number = 0;

    for (char *line = strsep(&rest, "\r\n"); line; line = strsep(&rest, "\r\n")) {
        const char *url = line;

        /* As cloud-init finds it (user_data.py, _do_include). */
        if (begins_with(line, "#include-once"))
            url += strlen("#include-once");
        else if (begins_with(line, "#include"))
            url += strlen("#include");
        url += strspn(url, " \t");
        number++;
        if (!*url || *url == '#' || begins_with(url, "http://") ||
            begins_with(url, "https://"))
            continue;
        if (begins_with(url, "file:") || *url == '/')
            warn(
                check, part, WARNING_INCLUDE,
                "put the content into a user-data element of its own, unless the guest's "
                "image has the file",
                number, "includes a file of the guest's, not of the host's");
        else
            warn(check, part, WARNING_INCLUDE,
                 "write one http:// or https:// URL on each line", number,
                 "includes what is no http URL; what cannot be fetched stops cloud-init");
    }
}

/* Return: whether lines end in CR LF, but not the first one: cloud-init converts all lines if
 * the first one ends so (util.dos2unix), and none otherwise. */
static bool
has_later_cr_lf(const struct buffer *data)
{
    const char *first = memchr(data->data, '\n', data->size);

    return first && (first == data->data || first[-1] != '\r') &&
           memmem(first, data->size - (size_t)(first - data->data), "\r\n", 2);
}

void
check_user_data(const struct check *check)
{
    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];
        const char *kind;

        if ((part->kind != PART_USER_DATA && part->kind != PART_VENDOR_DATA) ||
            part->data.size == 0)
            continue;
        kind = user_data_kind(part->data.data, part->data.size);
        if (strcmp(kind, "gzip") == 0 || strcmp(kind, "MIME") == 0)
            warn(check, part, WARNING_UNSEEN,
                 "give its parts as user-data elements of their own: virt-seed combines "
                 "them",
                 0,
                 "is packed (gzip or MIME), so that the values in it were not checked");
        else if (strcmp(kind, "include") == 0 || strcmp(kind, "include-once") == 0)
            check_includes(check, part);
        else if ((strcmp(kind, "script") == 0 || strcmp(kind, "boothook") == 0) &&
                 has_later_cr_lf(&part->data))
            warn(
                check, part, WARNING_LINE_ENDS, "convert it: sed -i 's/\\r$//' FILE", 0,
                "has lines that end in CR LF, but not the first: the shell would see the "
                "CR");
    }
}
