/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "exchange-readers.h"
#include "host/exchange.h"
#include "unit.h"

int
exchange_make_image(off_t size)
{
    const int fd = memfd_create("image", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    return fd;
}

bool
exchange_take_needs(const struct exchange_given *given, const struct buffer *message)
{
    cleanup_needs struct needs needs = {0};

    (void)given;
    return needs_get(&needs, MAKER_PREPARE, message);
}

bool
exchange_take_wiring_needs(const struct exchange_given *given,
                           const struct buffer *message)
{
    cleanup_needs struct needs needs = {0};

    (void)given;
    return needs_get(&needs, MAKER_WIRE, message);
}

bool
exchange_take_verdict(const struct exchange_given *given, const struct buffer *message)
{
    cleanup_close int image = exchange_make_image(given->image_size);
    cleanup_verdict struct verdict verdict = VERDICT_NONE;

    verdict.publication.output = image;
    return verdict_get(&verdict, given->right, message);
}

static bool
take_result(enum maker_role role, const struct buffer *message)
{
    cleanup_maker_result struct maker_result result = {0};
    cleanup_failure struct failure *failure = NULL;
    const bool taken = result_get(&result, role, &failure, message);

    assert_true(taken || !failure);
    return taken;
}

bool
exchange_take_result(const struct exchange_given *given, const struct buffer *message)
{
    (void)given;
    return take_result(MAKER_REPORT, message);
}

bool
exchange_take_wired(const struct exchange_given *given, const struct buffer *message)
{
    (void)given;
    return take_result(MAKER_WIRE, message);
}

bool
exchange_take_part(exchange_taker *take, const struct exchange_given *given,
                   const struct buffer *message, size_t size)
{
    cleanup_free char *exact = NULL;

    if (size == 0)
        return take(given, &(struct buffer){0});
    exact = xmalloc(size);
    memcpy(exact, message->data, size);
    return take(given, &(struct buffer){.data = exact, .size = size});
}
