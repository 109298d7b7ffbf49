/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The labels by which cloud-init finds its seed among the guest's volumes. */
#pragma once

/*
 * Reads the label of the volume in a file, a raw image.
 * Return: "cidata" or "config-2" if it is one of these, in upper or lower case; "" if it is
 * neither, also for a qcow2 image of a disk that is too large for a seed; NULL if nobody
 * can tell: the path does not lead to a regular file that can be read, or the file is too
 * short, or is another qcow2 image.
 */
const char *label_find(const char *path);
