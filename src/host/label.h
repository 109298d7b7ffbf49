/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The labels by which cloud-init finds its seed among the guest's volumes. */
#pragma once

/*
 * Reads the label of the volume in a file.
 * Return: "cidata" or "config-2" if it is one of these, in upper or lower case; "" for any
 * other volume of ISO 9660 or FAT; NULL if it is neither, or the path does not lead to a
 * regular file that can be read.
 */
const char *label_find(const char *path);
