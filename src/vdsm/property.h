/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The custom property "cloudinit", which VDSM puts into the environment of its hooks: in
 * base64, a <cloud-init> element, or a user-data.
 */
#pragma once

#include "domain/domain.h"

#define PROPERTY_NAME "cloudinit"

/*
 * Writes what the property's `value` asks for into the domain's <metadata>, where
 * libvirt's hook finds it. A domain that asks for the same already stays as it is; one
 * that asks for something else is an error. Nothing of the value is in any message.
 */
int property_write(struct domain *domain, const char *value, struct failure **failure);
