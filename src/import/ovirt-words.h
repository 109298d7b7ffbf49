/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of oVirt's REST API below <initialization>: the types Initialization,
 * NicConfiguration and Ip, and the deprecated CloudInit and NetworkConfiguration; and the
 * ones of its first days, when users and files stood there.
 */
#pragma once

enum ovirt_word_flags {
    OVIRT_REPEATED = 1, /* may be there several times */
    OVIRT_VERBATIM = 2, /* text that is taken with the white space around it */
    OVIRT_LOWER = 4,    /* a word that was written in capitals once */
    OVIRT_SECRET = 8,
    OVIRT_SYSPREP = 16, /* has no effect in a Linux guest */
    OVIRT_DROPPED = 32, /* is not about the guest's initialization */
    OVIRT_INLINE = 64,  /* is not copied itself; its children go where it would */
    OVIRT_WORDS = 128,  /* becomes one text: those of all elements below it */
    OVIRT_SCRIPT = 256, /* <files>, of which oVirt makes a custom_script */
};

struct ovirt_word {
    const char *name;
    const struct ovirt_word *children; /* NULL: it has text */
    unsigned int flags;
    const char *becomes; /* another name, or NULL */
};

/* Each ends with a row of zeros. */
extern const struct ovirt_word ovirt_initialization[];
/* Below OVIRT_WORDS. */
extern const struct ovirt_word ovirt_hosts[];
