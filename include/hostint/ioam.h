/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * In ioam, these bytes follow IPv6's fixed header, all fields big-endian: a hop-by-hop header with hostint's own option,
 * IOAM's edge-to-edge option and IOAM's pre-allocated trace (RFC 9197, RFC 9486). Behind them stand the entries of
 * routers, which fill the room from its end: the newest entry comes first. Hosts and routers skip options that they do
 * not know.
 */
#ifndef HOSTINT_IOAM_H
#define HOSTINT_IOAM_H

struct ioam_head {
	__u8 next; /* protocol of the original packet */
	__u8 len;  /* in units of 8 bytes, less one */
	__u8 pad[2];
	/* hostint's own option, of the type for experiments (RFC 4727) */
	__u8 own_type;
	__u8 own_len;
	__be16 own_magic;
	__u8 own_version;
	__u8 own_flags; /* enum ioam_flag */
	__be16 port;    /* egress port of the source */
	__be32 node_id; /* of the source */
	__be32 time;    /* low 32 bits of ns since the Unix epoch */
	__be32 base;    /* TCP sequence number of the first segment */
	__be16 size;    /* payload of each segment but the last; 0: no superpacket */
	__be16 count;   /* number of segments */
	/* edge-to-edge option */
	__u8 e2e_type;
	__u8 e2e_len;
	__u8 e2e_reserved;
	__u8 e2e_kind;
	__be16 e2e_namespace;
	__be16 e2e_bits;
	__be32 sequence; /* number of the first segment */
	__be32 seconds;  /* since the Unix epoch */
	__be32 fraction; /* in microseconds: POSIX format */
	/* trace option */
	__u8 trace_type;
	__u8 trace_len;
	__u8 trace_reserved;
	__u8 trace_kind;
	__be16 trace_namespace;
	__be16 trace_words; /* words of an entry 5, flags 4, words that are still free 7 */
	__be32 trace_bits;  /* bits 24, reserved 8 */
};

/* What a router that runs plain Linux writes. All ones stand for what it does not know. */
struct ioam_entry {
	__be32 node_id;      /* hop limit 8, node id 24 */
	__be16 ingress_port; /* net.ipv6.conf.DEV.ioam6_id */
	__be16 egress_port;
	__be32 seconds;  /* of the arrival, since the Unix epoch */
	__be32 fraction; /* in microseconds */
	__be32 queue;    /* bytes in the egress queue */
};

enum ioam_constant {
	IOAM_HEAD_LEN = 60,
	IOAM_ENTRY_LEN = 20,
	IOAM_ENTRY_WORDS = 5,
	IOAM_MOST_LEN = 224,
	IOAM_OWN_TYPE = 0x1e, /* unknown to others: skipped, and never changed on the way */
	IOAM_OWN_LEN = 22,
	IOAM_MAGIC = 0x6869, /* "hi" */
	IOAM_TYPE = 0x31,
	IOAM_NAMESPACE = 0x4849,
	IOAM_E2E_LEN = 18,
	IOAM_E2E_KIND = 3,
	IOAM_E2E_BITS = 0x7000, /* 32-bit number, seconds, fraction */
	IOAM_TRACE_LEN = 10,    /* without the room for entries */
	IOAM_TRACE_KIND = 0,
	IOAM_TRACE_BITS = 0xf20000, /* hop limit and node, ports, seconds, fraction, queue */
	IOAM_OVERFLOW = 0x0400,     /* in trace_words: an entry found no room */
	IOAM_FREE_WORDS = 0x007f,   /* in trace_words */
};

enum ioam_flag {
	IOAM_FLOW_AGE = 0x0f,     /* as INT_FLOW_AGE */
	IOAM_FLAG_UNKNOWN = 0xf0, /* must be 0 */
};

#endif
