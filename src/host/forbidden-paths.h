/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a domain's definition may not name: files in virt-seed's directories. libvirt opens
 * many of the files that a definition names as root, or gives them to QEMU's user; such a
 * device could write another domain's seed or the list of who may use a secret, or read
 * another domain's seed.
 */
#pragma once

#include "base/base.h"

/*
 * Fails if a value of the domain's XML, which libvirt has written, leads into the
 * directory of seeds, of reports, of what is kept, of rehearsals, or of the
 * configuration with the secrets; or goes through a link of /proc, which another process
 * can make lead there later. The domain may name its own seed as the source of a disk
 * and its own report and log as those of channels, spelled as the wiring does, and, in a
 * rehearsal, the files of its own directory. <metadata>, <title> and <description> are
 * not looked at. Fails, too, if it does not find out where a path leads, if that takes
 * more than LIMIT_PATHS_MILLISECONDS, or if the XML is not in libvirt's form
 * (host/domain-text.h).
 *
 * Paths are resolved below `root`, so neither links nor ".." hide where they lead. Not
 * found: a link to what does not exist yet, a directory above ours, and what an argument
 * for QEMU itself leads to, if it is not a path and does not have virt-seed's name in it.
 */
int forbidden_paths_check(int root, const struct buffer *xml, const char *uuid,
                          struct failure **failure);
