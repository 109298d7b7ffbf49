/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits on all input from outside. Running out of memory aborts, so each input is
 * bounded before it is read.
 */
#pragma once

#define KIB (1024UL)
#define MIB (1024UL * KIB)

/* A limit that is a plain number, as text for a message. */
#define DECIMAL(limit) DECIMAL_TEXT(limit)
#define DECIMAL_TEXT(limit) #limit

/* A message or a hint, in bytes: readable whatever names it contains. */
#define LIMIT_MESSAGE 2000

/* A domain's XML. libvirt's own strings end at 4 MiB (REMOTE_STRING_MAX), and escaping
 * can make them longer in the document. */
#define LIMIT_DOMAIN_XML (16 * MIB)

/* How deep its elements are nested: as libxml2's. A disk's chain of images, of which libvirt
 * allows 200, is the deepest. */
#define LIMIT_XML_DEPTH 256

/* One user-data, vendor-data, network-config or file, after decoding. */
#define LIMIT_PART (4 * MIB)

/* How many of these a domain may have, and how many of them may be user-data. */
#define LIMIT_PARTS 1024
#define LIMIT_USER_DATA 16

/* The parts of a document that is MIME or an archive, and messages within each other. */
#define LIMIT_PIECES 1000
#define LIMIT_MIME_DEPTH 8

/* oVirt's payload: how many files, bytes of a name (Rock Ridge), characters of the
 * volume's label. */
#define LIMIT_PAYLOAD_FILES 256
#define LIMIT_FILE_NAME 255
#define LIMIT_PATH 1024
#define LIMIT_LABEL 16

/* Everything that goes into one seed. */
#define LIMIT_SEED (16 * MIB)

/* An image that is read: bytes, files, directories within each other, and blocks
 * of its tree. Seeds have only a few of each. The last also bounds libisofs's
 * recursion. */
#define LIMIT_IMAGE (64 * MIB)
#define LIMIT_IMAGE_FILES 1000
#define LIMIT_IMAGE_DEPTH 8
#define LIMIT_IMAGE_TREE_BLOCKS 512

/* A domain's disks, controllers and host devices, each; QEMU's own limits are far
 * lower. */
#define LIMIT_DEVICES 4096
#define LIMIT_NICS 256

/* A described network: for each nic. The name is the kernel's (IFNAMSIZ); IPv6 needs an
 * MTU of at least 1280 (RFC 8200, section 5), IPv4 68 (RFC 791). */
#define LIMIT_NIC_ADDRESSES 32
#define LIMIT_NIC_NAMESERVERS 16
#define LIMIT_NIC_SEARCHES 32
#define LIMIT_NIC_ROUTES 256
#define LIMIT_NIC_NAME 15
#define LIMIT_MTU_MIN 68
#define LIMIT_MTU_MIN_IPV6 1280
#define LIMIT_MTU 65535
#define LIMIT_METRIC 4294967295L

/* Free meta-data: how many entries, bytes of a key, bytes of a value. */
#define LIMIT_ENTRIES 256
#define LIMIT_ENTRY_KEY 256
#define LIMIT_ENTRY_VALUE (64 * KIB)

/* A domain's ssh keys, and bytes of one. */
#define LIMIT_SSH_KEYS 256
#define LIMIT_SSH_KEY (16 * KIB)

/* A host name (RFC 1035, section 2.3.4, without the final dot) and one label of it. */
#define LIMIT_HOSTNAME 253
#define LIMIT_HOSTNAME_LABEL 63

/* <initialization>: users, files; bytes of a user's name (useradd(8)), of an URL, of the
 * name of a time zone or locale. */
#define LIMIT_USERS 64
#define LIMIT_FILES 64
#define LIMIT_USER_NAME 32
#define LIMIT_URL 2048
#define LIMIT_GUEST_NAME 64

/* Elements in one element of another system's document: more than any of ours may
 * contain. */
#define LIMIT_FOREIGN_ELEMENTS 1000

/* A password, in bytes: what PAM takes (PAM_MAX_RESP_SIZE). */
#define LIMIT_PASSWORD 512

/* An instance-id: cloud-init makes it a folder's name. */
#define LIMIT_INSTANCE_ID 128

/* The SMBIOS serial: the kernel shows at most a page of it
 * (drivers/firmware/dmi-id.c). */
#define LIMIT_SERIAL 4094

/* Options of one command that can be given several times. */
#define LIMIT_SETTINGS 1024

/* Bytes of a report that the emulator shim writes instead of virtlogd. A boot takes about
 * 5 KiB. */
#define LIMIT_SHIM_REPORT (2 * MIB)
/* Seconds of `virt-seed wait --timeout`: what libvirt's timers can count in
 * milliseconds. */
#define LIMIT_TIMEOUT 2000000
/* Events that `virt-seed wait` shows for one guest: stages, boots, errors, warnings. A
 * guest has a few dozen. */
#define LIMIT_EVENTS 1000

/* Names of secrets and of their keys: what Kubernetes allows. */
#define LIMIT_SECRET_NAME 253

/* A file of the configuration, and a secret's list of domains. */
#define LIMIT_CONFIG (64 * KIB)
/* Files in conf.d. */
#define LIMIT_CONFIG_DROP_INS 64
/* All files of the configuration: the host's and, in a session, the user's. */
#define LIMIT_CONFIG_FILES (2 * (1 + LIMIT_CONFIG_DROP_INS))

/* Files of the host that are searched for a line: libvirt's qemu.conf, a file of
 * AppArmor's policy (and the depth of includes), a process's state in /proc. */
#define LIMIT_QEMU_CONF (1 * MIB)
#define LIMIT_APPARMOR_FILE (1 * MIB)
#define LIMIT_APPARMOR_DEPTH 8
#define LIMIT_PROC (16 * KIB)

/* /etc/passwd and /etc/group. */
#define LIMIT_ACCOUNTS (16 * MIB)

/* A record of a domain (store/record.h): bytes, bytes of a text in it, and the number of
 * the guest's errors or warnings. */
#define LIMIT_RECORD (2 * MIB)
#define LIMIT_RECORD_TEXT 2048
#define LIMIT_RECORD_TEXTS 100

/* Files and directories on the host that belong to domains. */
#define LIMIT_LEFTOVERS 1000000U

/* Seconds that the hook may take: libvirt has no limit, and holds the domain's lock
 * meanwhile. */
#define LIMIT_HOOK_SECONDS 20
/* The maker (maker/sandbox.h): bytes of memory, seconds of processor time, descriptors. The
 * XML that takes most memory, elements of one letter and text between them, takes 56 bytes
 * for each of its own: LIMIT_DOMAIN_XML of it just fit. */
#define LIMIT_MAKER_MEMORY (1024 * MIB)
#define LIMIT_MAKER_SECONDS LIMIT_HOOK_SECONDS
#define LIMIT_MAKER_DESCRIPTORS 16
/* Milliseconds of processor time to find out where the paths in a domain's XML lead. */
#define LIMIT_PATHS_MILLISECONDS 500
/* Seconds from restore or migrate to the guest's prepare; libvirt needs milliseconds. */
#define LIMIT_RESUME_SECONDS 10

/* What the maker may say: warnings, bytes of a text; documents that are served; bytes of the
 * metadata server's address. */
#define LIMIT_NOTES 32
#define LIMIT_MAKER_TEXT (2UL * LIMIT_MESSAGE)
#define LIMIT_SERVED_DOCUMENTS 4
#define LIMIT_SERVER 64
#define LIMIT_WIRING_CHANGES 64

/* Depth of a directory tree that is removed. */
#define LIMIT_TREE_DEPTH 64

/* What `check` says of one domain; what an installed cloud-init may say
 * of a document, and the memory (bytes) and time (seconds) that it has for it. */
#define LIMIT_FINDINGS 1000
#define LIMIT_SCHEMA_OUTPUT (64 * KIB)
#define LIMIT_SCHEMA_MEMORY (1024 * MIB)
#define LIMIT_SCHEMA_SECONDS 30
/* Schemas that are compared with a document's values, by our own validator: a second or
 * two. */
#define LIMIT_SCHEMA_STEPS 2000000

/* For `try`: qemu-img, which makes an empty overlay, and a file with a firmware's
 * variables. */
#define LIMIT_QEMU_IMG_OUTPUT (4 * KIB)
#define LIMIT_QEMU_IMG_MEMORY (2048 * MIB)
#define LIMIT_QEMU_IMG_SECONDS 60
#define LIMIT_NVRAM (64 * MIB)

/* diff(1) of a changed document: bytes of output, bytes of memory, seconds. */
#define LIMIT_DIFF_OUTPUT (1 * MIB)
#define LIMIT_DIFF_MEMORY (1024 * MIB)
#define LIMIT_DIFF_SECONDS 10

/* YAML: levels, keys and values, and bytes of text, all with aliases expanded. */
#define LIMIT_YAML_DEPTH 64
#define LIMIT_YAML_NODES 500000
#define LIMIT_YAML_BYTES (16 * MIB)
#define LIMIT_YAML_ALIASES 1000
#define LIMIT_YAML_ANCHORS 1000
#define LIMIT_YAML_DIRECTIVES 100
/* Digits of a number in YAML: what Python's int() takes (sys.int_info). */
#define LIMIT_YAML_NUMBER 4300

/* The guest's report: bytes of a line, of a message, of the datasource's description; how
 * many errors are kept, how many warnings, and how much that was not used; how many bytes
 * of its file are read, and how many copies virtlogd may keep (virtlogd.conf, max_backups;
 * 3 by default). An error quotes a command's output, and the line with the result contains
 * it twice. */
#define LIMIT_REPORT_LINE (1 * MIB)
#define LIMIT_REPORT_TEXT 2048
#define LIMIT_REPORT_DATASOURCE 256
#define LIMIT_REPORT_MESSAGES 100
#define LIMIT_REPORT_DROPPED 20
/* What is kept of the ways to log in to the guest. */
#define LIMIT_REPORT_ADDRESSES 64
#define LIMIT_REPORT_HOST_KEYS 16
#define LIMIT_REPORT_FILE (16 * MIB)
/* fs_read_all() reads a little more. */
#define LIMIT_REPORT_READ (LIMIT_REPORT_FILE + MIB)
#define LIMIT_REPORT_COPIES 100
/* What is kept of a guest's log (seed/reporter.sh sends no more). */
#define LIMIT_LOG (64 * KIB)
/*
 * The metadata server. Connections at a time, and those of one peer on another machine;
 * bytes of a request with its headers, and what libmicrohttpd needs to answer it; bytes
 * of answers and of requests that the kernel keeps for each connection (it takes twice
 * that); seconds that a request may take, that an answer may take to be sent, and its end
 * to arrive. A peer that does not take an answer larger than the kernel's buffer occupies
 * a connection.
 */
#define LIMIT_IMDS_CONNECTIONS 4096
#define LIMIT_IMDS_PEER_CONNECTIONS 16
/* One in this many connections is kept free for new ones. */
#define LIMIT_IMDS_SPARE 8
#define LIMIT_IMDS_REQUEST (4 * KIB)
#define LIMIT_IMDS_SEND_BUFFER (8 * KIB)
#define LIMIT_IMDS_RECEIVE_BUFFER (8 * KIB)
/* Seconds that a server may take to accept a health check, and again to answer it. */
#define LIMIT_IMDS_PROBE_SECONDS 2
#define LIMIT_IMDS_ASK_SECONDS 10
#define LIMIT_IMDS_ANSWER_SECONDS 60
#define LIMIT_IMDS_ARRIVE_SECONDS 10
/* Answers that the kernel has, and their peers have not taken. */
#define LIMIT_IMDS_KEPT 1024

/* Requests a second of one guest, its burst, and how many guests are told apart; the same
 * for refusals of one peer. Lines of the log for each of them, and for all peers that
 * only an address or MAC tells apart. */
#define LIMIT_IMDS_RATE 20
#define LIMIT_IMDS_BURST 100
#define LIMIT_IMDS_RATE_SLOTS 8192
#define LIMIT_IMDS_LOG_RATE 1
#define LIMIT_IMDS_LOG_BURST 20
#define LIMIT_IMDS_LOG_CROWD_RATE 20
#define LIMIT_IMDS_LOG_CROWD_BURST 400
/* Seconds between lines about dropped messages, or about connections ended to make
 * room. */
#define LIMIT_IMDS_LOG_SECONDS 10

/* Addresses to listen on; a document up to this size is read at once, a longer one as it
 * is sent. */
#define LIMIT_IMDS_LISTENERS 16
#define LIMIT_IMDS_READ_AT_ONCE (16 * KIB)

/* Bytes of a domain's token and MACs, one per line. */
#define LIMIT_IMDS_ACCESS (64 + LIMIT_NICS * 32UL)
