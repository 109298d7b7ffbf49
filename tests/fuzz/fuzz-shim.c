/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the bytes are the shim's command line, an argument in each line, and after
 * an empty line its order. QEMU gets all that was given, then at most our devices, and no
 * devices a second time.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/text.h"
#include "fuzz.h"
#include "shim/shim.h"

#define UUID "4dea22b3-1d52-d8f3-2516-782e98ab3fa0"

struct given {
    char **arguments; /* NULL after the last */
    size_t count;
};

static void
given_clear(struct given *given)
{
    texts_free(given->arguments, given->count);
}

static void
given_add(struct given *given, char *argument)
{
    texts_add(&given->arguments, &given->count, argument);
    given->arguments =
        xreallocarray(given->arguments, given->count + 1, sizeof(*given->arguments));
    given->arguments[given->count] = NULL;
}

static void
make_host(void)
{
    static const char *const names[] = {"x86_64", "aarch64", "s390x"};
    static bool made;

    if (made)
        return;
    made = true;
    fuzz_write_file("/usr/libexec/qemu-kvm", "", 0);
    fuzz_require(fchmodat(fuzz_root(), "usr/libexec/qemu-kvm", 0755, 0) == 0);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        cleanup_free char *path = xasprintf("/usr/bin/qemu-system-%s", names[i]);

        fuzz_write_file(path, "", 0);
        fuzz_require(fchmodat(fuzz_root(), &path[1], 0755, 0) == 0);
    }
}

/* Return: the bytes after the empty line. */
static const char *
read_given(struct given *given, const char *data, const char *end)
{
    while (data < end && *data != '\n') {
        const char *line_end = memchr(data, '\n', (size_t)(end - data));
        size_t length = (size_t)((line_end ? line_end : end) - data);

        given_add(given, xstrndup(data, length));
        data += length + (line_end != NULL);
    }
    return data < end ? data + 1 : data;
}

/* The values of a list are what was written into it. */
static void
check_lists(const struct given *given)
{
    for (size_t i = 0; i < given->count; i++) {
        cleanup_free char *escaped = list_escape(given->arguments[i]);
        cleanup_free char *list = xasprintf("a=b,serial=%s,c=d", escaped);
        cleanup_free char *value = list_value(list, "serial", NULL);

        fuzz_require(value && strcmp(value, given->arguments[i]) == 0);
    }
}

static void
check_serial(char **added)
{
    const char *list;
    cleanup_free char *serial = NULL;

    if (arguments_find(added, "smbios", &list) == 0)
        return;
    serial = list_value(list, "serial", NULL);
    fuzz_require(serial && *serial && strlen(serial) <= LIMIT_SERIAL);
}

static void
check_added(const struct command *command, const struct given *given)
{
    cleanup_failure struct failure *failure = NULL;
    cleanup_command struct command again = {0};
    char **added = &command->arguments[given->count - 1];
    const char *value;
    int result;

    fuzz_require(arguments_find(given->arguments, "uuid", &value) == 1);
    fuzz_require(text_is_uuid(value));
    fuzz_require(strcmp(value, UUID) == 0);
    fuzz_require(arguments_find(added, "uuid", &value) == 0);
    fuzz_require(arguments_find(added, "blockdev", &value) == 1);
    fuzz_require(strstr(value, UUID SECOND_NAME_INFIX UUID));
    fuzz_require(arguments_find(added, "device", &value) >= 2);
    check_serial(added);
    /* The slot is taken now. */
    free(command->arguments[0]);
    command->arguments[0] = xstrdup(given->arguments[0]);
    result = command_make(&again, fuzz_root(), command->arguments, &failure);
    fuzz_require(!fuzz_succeeded(result, &failure));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *end = (const char *)data + size;
    __attribute__((cleanup(given_clear))) struct given given = {0};
    const char *order = read_given(&given, (const char *)data, end);
    cleanup_failure struct failure *failure = NULL;
    cleanup_command struct command command = {0};
    const char *uuid;
    int result;

    make_host();
    fuzz_write_file(VIRT_SEED_RUNDIR "/" UUID SHIM_ORDER_SUFFIX, order,
                    (size_t)(end - order));
    check_lists(&given);
    if (given.count == 0)
        return 0;
    result = command_make(&command, fuzz_root(), given.arguments, &failure);
    if (!fuzz_succeeded(result, &failure))
        return 0;
    fuzz_require(command.count >= given.count && !command.arguments[command.count]);
    for (size_t i = 1; i < given.count; i++)
        fuzz_require(strcmp(command.arguments[i], given.arguments[i]) == 0);
    /* There is no file for the report, which the guest must not miss. */
    fuzz_require(!command.warning || strstr(command.warning->message, "report"));
    if (command.count > given.count)
        check_added(&command, &given);
    else
        fuzz_require(arguments_find(given.arguments, "uuid", &uuid) == 0);
    return 0;
}
