/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process costs that does nothing. */
int
main(void)
{
    return 0;
}
