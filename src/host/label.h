/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The labels by which cloud-init finds its seed among the guest's volumes. */
#pragma once

#include "host/need.h"

/*
 * Reads the label of the volume in a file, a raw image.
 * Return: NEED_WORD_LABEL_OF_SEED if it is "cidata" or "config-2", in upper or lower case;
 * NEED_WORD_LABEL_OTHER if it is neither, also for a qcow2 image of a disk that is too large
 * for a seed; NEED_WORD_NONE if that is not known: the path does not lead to a regular
 * file that can be read, or the file is too short and has no boot sector, or is another qcow2
 * image.
 */
enum need_word label_find(const char *path);
