/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user-data and vendor-data are, beside cloud-configs (cloud-config.c). */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
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

/* --- includes ----------------------------------------------------------------------- */

static bool
begins_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* Return: the URL of a line, as cloud-init finds it (user_data.py, _do_include); "" where
 * there is none. */
static const char *
include_url(const char *line)
{
    if (begins_with(line, "#include-once"))
        line += strlen("#include-once");
    else if (begins_with(line, "#include"))
        line += strlen("#include");
    line += strspn(line, " \t");
    return *line == '#' ? "" : line;
}

static void
check_includes(const struct check *check, const struct part *part)
{
    cleanup_free char *text = xstrndup(part->data.data, part->data.size);
    char *rest = text;
    int number = 0;

    for (char *line = strsep(&rest, "\r\n"); line; line = strsep(&rest, "\r\n")) {
        const char *url = include_url(line);

        number++;
        if (!*url || begins_with(url, "http://") || begins_with(url, "https://"))
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

/* --- scripts ------------------------------------------------------------------------ */

/* cloud-init mends all lines where the first one ends in CR LF (util.dos2unix), and else
 * none. */
static void
check_line_ends(const struct check *check, const struct part *part)
{
    const char *data = part->data.data;
    const char *first = memchr(data, '\n', part->data.size);

    if (!first || (first > data && first[-1] == '\r') ||
        !memmem(first, part->data.size - (size_t)(first - data), "\r\n", 2))
        return;
    warn(check, part, WARNING_LINE_ENDS, "convert it: sed -i 's/\\r$//' FILE", 0,
         "has lines that end in CR LF, but not the first: the shell would see the CR");
}

/* --- by kind ------------------------------------------------------------------------ */

static void
check_part_kind(const struct check *check, const struct part *part)
{
    const char *kind = user_data_kind(part->data.data, part->data.size);

    if (strcmp(kind, "gzip") == 0 || strcmp(kind, "MIME") == 0)
        warn(check, part, WARNING_UNSEEN,
             "give its parts as user-data elements of their own: virt-seed combines them",
             0, "is packed (gzip or MIME), so that the values in it were not checked");
    else if (strcmp(kind, "include") == 0 || strcmp(kind, "include-once") == 0)
        check_includes(check, part);
    else if (strcmp(kind, "script") == 0 || strcmp(kind, "boothook") == 0)
        check_line_ends(check, part);
}

void
check_user_data(const struct check *check)
{
    for (size_t i = 0; i < check->request->parts.count; i++) {
        const struct part *part = check->request->parts.list[i];

        if ((part->kind == PART_USER_DATA || part->kind == PART_VENDOR_DATA) &&
            part->data.size > 0)
            check_part_kind(check, part);
    }
}
