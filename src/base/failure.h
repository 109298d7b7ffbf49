/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What went wrong, and what to do about it.
 *
 * A function that can fail takes a `struct failure **` last and returns 0 or -1 (or a
 * pointer and NULL); the failure is set if and only if it failed. The caller owns it
 * (failure_free). Nothing below a main prints: messages travel up, and each layer that
 * knows something more (which element, which domain) adds it once, with failure_prefix().
 *
 * A message is one phrase in lower case, with the values in 'quotes'; the hint says what
 * to do next. Neither ever contains a secret. Both are UTF-8, whatever the values are.
 */
#pragma once

/* The codes are stable: `virt-seed check --json` prints their names. */
#define FAILURE_CODES(X)                                                                 \
    X(SYSTEM, "system")                                                                  \
    X(USAGE, "usage")                                                                    \
    X(LIBVIRT, "libvirt")                                                                \
    X(LIBVIRT_MISSING, "libvirt-missing")                                                \
    X(DOMAIN_MISSING, "domain-missing")                                                  \
    X(CONFIG, "config")                                                                  \
    X(XML, "xml")                                                                        \
    X(DOMAIN, "domain")                                                                  \
    X(DOMAIN_UUID, "domain-uuid")                                                        \
    X(REQUEST, "request")                                                                \
    X(REQUEST_MISSING, "request-missing")                                                \
    X(REQUEST_UNKNOWN, "request-unknown")                                                \
    X(BASE64, "base64")                                                                  \
    X(HOSTNAME, "hostname")                                                              \
    X(INSTANCE_ID, "instance-id")                                                        \
    X(SSH_KEY, "ssh-key")                                                                \
    X(META_DATA, "meta-data")                                                            \
    X(USER_DATA, "user-data")                                                            \
    X(NETWORK_CONFIG, "network-config")                                                  \
    X(YAML, "yaml")                                                                      \
    X(LIMIT, "limit")                                                                    \
    X(FILE, "file")                                                                      \
    X(SECRET, "secret")                                                                  \
    X(SECRET_MISSING, "secret-missing")                                                  \
    X(SECRET_MODE, "secret-mode")                                                        \
    X(SECRET_NAME, "secret-name")                                                        \
    X(SECRET_UNREADABLE, "secret-unreadable")                                            \
    X(SECRET_DENIED, "secret-denied")                                                    \
    X(SERIAL, "serial")                                                                  \
    X(SMBIOS, "smbios")                                                                  \
    X(BUS, "bus")                                                                        \
    X(NO_NETWORK, "no-network")                                                          \
    X(APPARMOR, "apparmor")                                                              \
    X(IMDS, "metadata-server")                                                           \
    X(IMDS_USER, "metadata-server-user")                                                 \
    X(FOREIGN_SEED, "foreign-seed")                                                      \
    X(FOREIGN_REPORT, "foreign-report")                                                  \
    X(FORBIDDEN_PATH, "forbidden-path")                                                  \
    X(UNWIRED, "unwired")                                                                \
    X(UNASKED_SEED, "unasked-seed")                                                      \
    X(RECORD, "record")                                                                  \
    X(RUNDIR, "run-time-directory")                                                      \
    X(IMAGE, "image")

#define FAILURE_CODE_ENUM(name, text) FAILURE_##name,
enum failure_code {
    FAILURE_CODES(FAILURE_CODE_ENUM)
};
#undef FAILURE_CODE_ENUM
#define FAILURE_CODE_LAST FAILURE_IMAGE

struct failure {
    enum failure_code code;
    int line;       /* in the domain's XML; 0 if there is none */
    char *part;     /* the element of the document that it is in ("user-data"), or NULL */
    int part_index; /* among the elements of that name */
    int part_line;  /* in that document's text; 0 if there is none */
    char *message;  /* never NULL */
    char *hint;     /* NULL if there is none */
};

/*
 * Sets the whole failure; `*failure` must be NULL. The text after a newline in the format
 * is the hint:
 *
 *     return failure_set(failure, FAILURE_LIMIT, "'%s' has more than %zu bytes\n"
 *                        "give a smaller file", path, limit);
 *
 * Return: -1.
 */
#define failure_set(failure, code, ...)                                                  \
    failure_set_whole((failure), (code), 0, 0, __VA_ARGS__)
/* The same, at a line of the domain's XML. */
#define failure_set_at(failure, code, line, ...)                                         \
    failure_set_whole((failure), (code), (line), 0, __VA_ARGS__)
/* The same, with the text of `error` (an errno, positive or negative) after the
 * message. */
#define failure_set_errno(failure, code, error, ...)                                     \
    failure_set_whole((failure), (code), 0, (error), __VA_ARGS__)
int failure_set_whole(struct failure **failure, enum failure_code code, int line,
                      int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Add a hint or a line in a layer that knows more than the one that failed; an existing
 * hint or line stays. Return: -1. */
int failure_hint(struct failure **failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline int
failure_at_line(struct failure **failure, int line)
{
    if (!(*failure)->line)
        (*failure)->line = line;
    return -1;
}

/* Puts the context in front of the message: "context: message". Return: -1. */
int failure_prefix(struct failure **failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "line N: ", of a document's text, in front of the message. Return: -1. */
static inline int
failure_in_line(struct failure **failure, int line)
{
    (*failure)->part_line = line;
    return failure_prefix(failure, "line %d", line);
}

/* Makes formatted text safe to show, in place, whatever names from outside it contains:
 * bounded, UTF-8, one line, no terminal control. Return: the text. */
char *failure_tidy(char *text);

/* Return: the message and the hint on one line, for a log; owned by the caller (free). */
char *failure_text(const struct failure *failure);

/* Return: the code's stable name. */
const char *failure_code_name(enum failure_code code);

/* For a main: prints "virt-seed: error: …" and, if there is a hint, "virt-seed: hint: …"
 * on standard error. */
#define print_failure(failure) print_failure_as("error", (failure))
/* The same for a failure that does not stop the program: "virt-seed: warning: …". */
#define print_warning(failure) print_failure_as("warning", (failure))
void print_failure_as(const char *severity, const struct failure *failure);

void failure_free(struct failure *failure);

static inline void
failure_free_pointer(struct failure **failure)
{
    failure_free(*failure);
}

#define cleanup_failure __attribute__((cleanup(failure_free_pointer)))
