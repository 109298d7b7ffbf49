/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "seed/yaml-anchor.h"

struct yaml_anchor *
yaml_anchor_find(const struct yaml_anchors *anchors, const char *name)
{
    for (size_t i = 0; i < anchors->count; i++) {
        if (strcmp(anchors->list[i].name, name) == 0)
            return &anchors->list[i];
    }
    return NULL;
}

void
yaml_anchor_add(struct yaml_anchors *anchors, const char *name, enum yaml_kind kind)
{
    anchors->list =
        xreallocarray(anchors->list, anchors->count + 1, sizeof(*anchors->list));
    anchors->list[anchors->count++] =
        (struct yaml_anchor){.name = xstrdup(name), .kind = kind};
}

void
yaml_anchors_clear(struct yaml_anchors *anchors)
{
    for (size_t i = 0; i < anchors->count; i++)
        free(anchors->list[i].name);
    free(anchors->list);
    *anchors = (struct yaml_anchors){0};
}
