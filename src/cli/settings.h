/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the options of `set` say, written into the domain's <cloud-init> element. */
#pragma once

#include "base/buffer.h"
#include "cli/cli.h"
#include "domain/domain.h"
#include "wire/wire.h"

/* The key that --root-password-file makes, in the secret of the domain's name. */
#define SETTINGS_PASSWORD_KEY "root-password"

/*
 * Writes the settings into the element, which is added where there is none. What a setting
 * names is replaced, an empty value takes it away, and all else stays. What has changed is
 * noted in `wiring`; nothing, where all was as it should be. `password` gets the content
 * of --root-password-file, where that was given.
 */
int settings_write(struct domain *domain, const struct arguments *arguments,
                   struct wiring *wiring, struct buffer *password,
                   struct failure **failure);
