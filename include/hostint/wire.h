/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* These are the INT headers on the wire, with all fields big-endian: INT v0.5 in Host-INT's layout, and INT v2.1. */
#ifndef HOSTINT_WIRE_H
#define HOSTINT_WIRE_H

/*
 * INT v0.5 has a shim header, a metadata header, a metadata stack, a sequence number and a tail. These 36 bytes, as the
 * source writes them, follow the UDP header or the first 20 bytes of the TCP header. A transit hop pushes its own entry,
 * of 16 bytes, in front of all others, and adds it to length, total_hops and the lengths around the block.
 */
struct int_block {
	__u8 type;      /* shim: 3 is Host-INT's hop-by-hop type with sequence number */
	__u8 flags;     /* shim, reserved in v0.5: enum int_flag and the flow's age */
	__u8 length;    /* shim: length in words, with shim and tail */
	__u8 dscp;      /* shim, reserved in v0.5: original DSCP << 2 as in INT v1.0 */
	__u8 version;   /* metadata header: Ver 4, Rep 2, C 1, E 1 */
	__u8 ins_count; /* M 1 (reserved in v0.5), R 2, instruction count 5 */
	__u8 max_hops;
	__u8 total_hops;
	__be16 bitmap;
	__be16 reserved;
	__be32 node_id; /* metadata stack entry of the source */
	__be16 ingress_port;
	__be16 egress_port;
	__be32 ingress_ts; /* low 32 bits of ns since the Unix epoch */
	__be32 egress_ts;
	__be32 sequence;
	__be16 tail1; /* tail, first byte: original protocol in extension-udp */
	__be16 tail2;
};

/*
 * INT v2.1 (MD) over VXLAN-GPE: these bytes stand between the outer UDP header (port 4790) and the original IP packet.
 * The metadata stack has the source's entry, whose domain-specific words are source-only. Transit hops push theirs in
 * front of it. If the source asks for a hop's latency, too, the word stands between egress_port and queue of each entry; if it
 * asks for no queue then, in the place of queue.
 */
struct gpe_block {
	__u8 vx_flags; /* VXLAN-GPE: I and P */
	__u8 vx_reserved[2];
	__u8 vx_next; /* INT v2.1 */
	__be32 vni;
	__u8 type;   /* shim: type 1 (INT-MD) << 4 */
	__u8 length; /* shim: words of metadata header and metadata stack */
	__u8 shim_flags;
	__u8 next;    /* next header: 1 is IPv4, 2 is IPv6 */
	__u8 version; /* metadata header: version, D, E, M */
	__u8 md_reserved;
	__u8 hop_words;
	__u8 remaining_hops;
	__be16 bitmap;
	__be16 domain;
	__be16 ds_bitmap;
	__be16 ds_flags; /* enum gpe_flag */
	__be32 node_id;
	__be16 ingress_port;
	__be16 egress_port;
	__be32 queue;   /* id 8, packets 24 */
	__be32 ts_high; /* ingress timestamp: ns since the Unix epoch */
	__be32 ts_low;
	__be32 sequence; /* sequence number of the first segment */
	__be32 backlog;  /* bytes in the queue */
	__be32 base;     /* of the first segment: TCP sequence number, or for UDP the outer header's IPv4 id */
	__be16 size;     /* payload of each segment but the last */
	__be16 count;    /* number of segments */
};

/*
 * INT v2.1 (MD) as switches and other sources write it behind the UDP header or the first 20 bytes of the TCP header: shim
 * and metadata header. The metadata stack follows, the newest entry first.
 */
struct int_md_head {
	__u8 type;       /* shim: type 1 (INT-MD) << 4, what the mark replaced (NPT) << 2 */
	__u8 length;     /* shim: words of metadata header and metadata stack */
	__be16 original; /* shim: the original DSCP, destination port or protocol */
	__u8 version;    /* metadata header: version, D, E, M */
	__u8 reserved;
	__u8 hop_words; /* Hop ML: words that each hop pushes */
	__u8 remaining_hops;
	__be16 bitmap;
	__be16 domain;
	__be16 ds_bitmap;
	__be16 ds_flags;
};

/* Geneve (RFC 8926), behind the UDP header. Its options follow, and then the packet in the tunnel. */
struct geneve_head {
	__u8 words; /* version 2, words of all options 6 */
	__u8 flags;
	__be16 protocol;
	__be32 vni;
};

/* The header of an option of Geneve. In INT's (v2.1) it stands for the shim, so what follows is as in struct int_md_head. */
struct geneve_option {
	__be16 option_class;
	__u8 type;  /* INT: 1 is INT-MD */
	__u8 words; /* reserved 3, words that follow 5; INT: of metadata header and metadata stack */
};

enum geneve_constant {
	GENEVE_PORT = 6081,
	GENEVE_HEAD_LEN = 8,
	GENEVE_WORDS = 0x3f,        /* bits of geneve_head.words; the version is 0 */
	GENEVE_OPTION_WORDS = 0x1f, /* bits of geneve_option.words */
	GENEVE_INT_CLASS = 0x0103,
	GENEVE_INT_MD = 1,
	GENEVE_MOST_OPTIONS = 252, /* bytes */
};

/*
 * INT v2.1 (MD) as hostint's source writes it there: the head, the source's entry, and two domain-specific words that are
 * source-only. Transit hops push entries of the same words behind the head. The tail comes last for the same reason as in
 * struct int_block. If the source asks hops for no queue, that word is missing.
 */
struct int_md_block {
	struct int_md_head head;
	__be32 node_id;
	__be16 ingress_port;
	__be16 egress_port;
	__be32 latency; /* all ones: the source does not know it */
	__be32 queue;   /* id 8, packets 24 */
	__be32 ts_high; /* ingress timestamp: ns since the Unix epoch */
	__be32 ts_low;
	__be32 sequence;
	__be16 tail1;
	__be16 tail2;
};

/* The end of that block. Without a queue, its first word is the latency. */
struct int_md_end {
	__be32 queue;
	__be32 ts_high;
	__be32 ts_low;
	__be32 sequence;
	__be16 tail1;
	__be16 tail2;
};

/*
 * INT v2.1 (MX) as hostint's source writes it there: shim, header, and domain-specific words that the source inserts for all
 * nodes. No hop changes any of them. It is as long as struct int_block, so whoever makes room for one, or takes one out,
 * can do so with the other.
 */
struct int_mx_block {
	__u8 type;       /* shim: type 3 (INT-MX) << 4 */
	__u8 length;     /* shim: words behind the shim */
	__be16 original; /* shim: the original DSCP */
	__u8 version;    /* header: version, D */
	__u8 reserved[3];
	__be16 bitmap;
	__be16 domain;
	__be16 ds_bitmap;
	__be16 ds_flags; /* enum int_mx_flag */
	__be32 sequence;
	__be32 node_id;
	__be16 ingress_port;
	__be16 egress_port;
	__be32 ingress_ts; /* low 32 bits of ns since the Unix epoch */
	__be16 tail1;      /* as in struct int_block */
	__be16 tail2;
};

enum int_mx_constant {
	INT_MX_BLOCK_LEN = 36,
	INT_MX_WORDS = 8,
	INT_MX_BITMAP = 0xdc00,    /* node id, ports, queue, ingress and egress timestamp */
	INT_MX_DS_BITMAP = 0x8f00, /* sequence number, node id, ports, ingress timestamp, tail */
	INT_MX_SAMPLE_SHIFT = 4,
	INT_MX_MOST_SAMPLE = 16, /* the greatest exponent */
};

enum int_mx_flag {
	INT_MX_FLOW_AGE = 0x000f, /* as INT_FLOW_AGE */
	INT_MX_SAMPLE = 0x01f0,   /* exponent n: hops and sink report the packets whose number is a multiple of 2^n */
	INT_MX_FLAG_UNKNOWN = 0xfe00, /* must be 0 */
};

enum int_md_constant {
	INT_MD_HEAD_LEN = 16,
	INT_MD_BLOCK_LEN = 48,
	INT_MD_BRIEF_LEN = 44,     /* of the block if entries have no queue */
	INT_MD_BLOCK_WORDS = 11,   /* of metadata header and metadata stack */
	INT_MD_AROUND_WORDS = 5,   /* of those, the words that are not of entries */
	INT_MD_DS_BITMAP = 0x9000, /* sequence number, tail */
	INT_MD_EXCEEDED = 0x06,    /* E and M, as GPE_EXCEEDED */
	INT_MD_TYPE = 0x10,        /* in the upper half of the byte; as in the next two */
	INT_DESTINATION_TYPE = 0x20,
	INT_MX_TYPE = 0x30,
	INT_MD_LEAST_WORDS = 3, /* of the metadata header */
	INT_MD_MOST_WORDS = 31, /* that a hop can push */
	INT_MD_VERSION = 0x20,
	INT_MD_FLAGS = 0x0e, /* D, E and M */
	INT_V1_SHIM = 1,     /* the type of INT v1.0, which has the whole byte */
};

/* Bits of the instruction bitmap of INT v2.1. Each asks for one word, those of INT_MD_LONG for two. */
enum int_md_instruction {
	INT_MD_NODE = 0x8000,
	INT_MD_PORTS = 0x4000, /* level 1 */
	INT_MD_LATENCY = 0x2000,
	INT_MD_QUEUE = 0x1000,
	INT_MD_INGRESS = 0x0800,
	INT_MD_EGRESS = 0x0400,
	INT_MD_LONG = 0x0e00, /* both times, and the ports of level 2 */
};

enum gpe_constant {
	GPE_PORT = 4790,
	GPE_BLOCK_LEN = 60,
	GPE_ROOM = 68,     /* outer UDP header and block */
	GPE_HEAD_LEN = 24, /* in front of the entries */
	GPE_VX_FLAGS = 0x0c,
	GPE_VX_INT = 0x82,
	GPE_TYPE = 0x10,
	GPE_WORDS = 12,
	GPE_AROUND_WORDS = 7, /* words of the shim's length that are not of entries */
	GPE_NEXT_IPV4 = 1,
	GPE_NEXT_IPV6 = 2,
	GPE_VERSION = 0x20,
	GPE_HOP_WORDS = 5,
	GPE_BITMAP = 0xd800, /* node id, ports, queue, ingress timestamp */
	GPE_PATH_WORDS = 6,
	GPE_PATH_BITMAP = 0xf800,    /* node id, ports, hop latency, queue, ingress timestamp */
	GPE_LATENCY_BITMAP = 0xe800, /* the same without the queue, in GPE_HOP_WORDS */
	GPE_EXCEEDED = 0x06,         /* E and M: a transit hop had no budget, or no room */
	GPE_DOMAIN = 0x4849,
	GPE_DS_BITMAP = 0xe000, /* sequence number, backlog, segments */
	GPE_MAX_SEGMENTS = 128,
};

enum gpe_flag {
	GPE_FLOW_AGE = 0x000f,     /* as INT_FLOW_AGE */
	GPE_FLAG_UNKNOWN = 0xfff0, /* must be 0 */
};

enum int_constant {
	INT_TYPE = 3,
	INT_BLOCK_LEN = 36,
	INT_HEAD_LEN = 12, /* shim and metadata header, in front of the entries */
	INT_BLOCK_WORDS = 9,
	INT_INS_COUNT = 4,
	INT_MAX_HOPS = 2,    /* as Host-INT says; without INT_FLAG_BUDGET it is no budget */
	INT_HOP_LEN = 16,    /* length of an entry */
	INT_EXCEEDED = 0x01, /* E: a transit hop had no budget */
	INT_NO_ROOM = 0x80,  /* M, in front of the instruction count: a transit hop had no room */
	INT_MAX_PUSHED = 8,  /* entries of transit hops that a sink reads */
	INT_BITMAP = 0xcc00, /* node id, ports, ingress and egress timestamp */
	UDP_LEN = 8,
	TCP_BASE_LEN = 20,
	EXTENSION_LEN = 44, /* extra UDP header + INT block */
};

enum int_flag {
	INT_FLAG_CHECKSUM = 0x80, /* the L4 checksum counts the tail as it is, not as zero */
	INT_FLAG_DSCP = 0x40,     /* dscp holds the original DSCP */
	INT_FLAG_BUDGET = 0x20,   /* max_hops is a budget: the sink reads the entries of transit hops */
	INT_FLAG_UNKNOWN = 0x10,  /* must be 0 */
	/*
	 * In the first FLOW_AGE_PACKETS packets of a flow the low 4 bits are its age, the time since its numbering
	 * began. Code n > 0 means less than 2^(n-1) * 2^24 ns; 0 means that the age is not stated.
	 */
	INT_FLOW_AGE = 0x0f,
	FLOW_AGE_SHIFT = 24,
	FLOW_AGE_PACKETS = 4096,
};

#endif
