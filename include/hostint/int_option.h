/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * In options, INT stands in an option of the packet's own transport header, of the kind for experiments and with an
 * identifier. Hosts that do not know it skip it. Fields are big-endian.
 *
 * TCP (RFC 9293, section 3.1; RFC 6994): the sender's stack makes room for it and the source fills it in. What cuts a
 * superpacket copies it into each segment.
 *
 * UDP (RFC 9868): it stands behind the data, where the IP packet is longer than the UDP length says. A byte of 0 is in
 * front of it if the UDP length is odd.
 */
#ifndef HOSTINT_INT_OPTION_H
#define HOSTINT_INT_OPTION_H

struct int_option {
	__u8 kind;
	__u8 length;
	__be16 id;
	__u8 flags;      /* enum int_option_constant */
	__u8 reserved;   /* 0 */
	__be16 size;     /* data of each segment but the last, or of the datagram */
	__be32 sequence; /* number of the first segment, or of the datagram */
	__be32 time;     /* low 32 bits of ns since the Unix epoch */
	__be32 base;     /* TCP sequence number of the first segment; of datagrams 0 */
	__be32 node_id;  /* of the source */
};

/* The area of options behind a datagram's data. */
struct datagram_option {
	__be16 check; /* OCS: with it, the sum of the area and of its length is 0 */
	struct int_option option;
} __attribute__((packed, aligned(2)));

enum int_option_constant {
	INT_OPTION_LEN = 24,
	INT_OPTION_KIND = 253,      /* RFC 3692-style experiment 1 (RFC 4727) */
	INT_DATAGRAM_KIND = 127,    /* EXP (RFC 9868) */
	INT_DATAGRAM_LEN = 26,      /* of struct datagram_option */
	INT_OPTION_ID = 0x4849,     /* the first half of "HINT" */
	INT_OPTION_FILLED = 0x80,   /* in flags; without it this is room that no source has filled in */
	INT_OPTION_FLOW_AGE = 0x0f, /* in flags: code of the flow's age, as in enum gpe_flag */
	INT_OPTION_SEGMENTS = 128,  /* most segments of a superpacket */
};

/*
 * The room for INT in a socket's segments. The source's program at TC wants it, when it sees a segment of a flow in
 * options; the sender's stack makes it. Times are of the coarse monotonic clock.
 */
struct option_room {
	__u64 left_ns;   /* room was last left to another option at this time */
	__u64 wanted_ns; /* room is wanted until then */
	__u64 pause_ns;  /* after a retransmission timeout, no room is made until then */
	__u32 asked;     /* TCP sequence number behind the first data that went with an option since the last pause */
	__u8 is_on;      /* segments are cut so that they have room */
	__u8 has_asked;  /* 1: asked is set */
	__u8 failures;   /* pauses in a row before which no data with an option was acknowledged */
	__u8 is_off;     /* 1: segments with an option came to nothing: no room any more */
	__u8 is_proven;  /* 1: data with an option was acknowledged before some pause */
	__u8 turns;      /* looks at room that was wanted, by which it is left to another option now and then */
	__u8 is_tried;   /* 1: room was made for data after a rest, and is not wanted again yet */
	__u8 zero[5];
};

#endif
