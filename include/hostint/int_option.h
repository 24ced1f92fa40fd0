/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * In tcp-option, INT stands in an option of the connection's own segments (RFC 9293, section 3.1), of the kind for
 * experiments and with an identifier (RFC 6994). The sender's stack makes room for it and the source fills it in. What
 * cuts a superpacket copies it into each segment. Hosts that do not know it skip it. Fields are big-endian.
 */
#ifndef HOSTINT_INT_OPTION_H
#define HOSTINT_INT_OPTION_H

struct int_option {
	__u8 kind;
	__u8 length;
	__be16 id;
	__u8 flags;      /* enum int_option_constant */
	__u8 reserved;   /* 0 */
	__be16 size;     /* data of each segment but the last */
	__be32 sequence; /* number of the first segment */
	__be32 time;     /* low 32 bits of ns since the Unix epoch */
	__be32 base;     /* TCP sequence number of the first segment */
	__be32 node_id;  /* of the source */
};

enum int_option_constant {
	INT_OPTION_LEN = 24,
	INT_OPTION_KIND = 253,      /* RFC 3692-style experiment 1 (RFC 4727) */
	INT_OPTION_ID = 0x4849,     /* the first half of "HINT" */
	INT_OPTION_FILLED = 0x80,   /* in flags; without it this is room that no source has filled in */
	INT_OPTION_FLOW_AGE = 0x0f, /* in flags: code of the flow's age, as in enum gpe_flag */
	INT_OPTION_SEGMENTS = 128,  /* most segments of a superpacket */
};

/*
 * The room for INT in a socket's segments. The source's program at TC wants it, when it sees a segment of a flow in
 * tcp-option; the sender's stack makes it. Times are of the coarse monotonic clock.
 */
struct option_room {
	__u64 wanted_ns; /* room is wanted until then */
	__u64 pause_ns;  /* after a retransmission timeout, no room is made until then */
	__u32 asked;     /* TCP sequence number behind the first data that went with an option since the last pause */
	__u8 is_on;      /* segments are cut so that they have room */
	__u8 has_asked;  /* 1: asked is set */
	__u8 failures;   /* pauses in a row before which no data with an option was acknowledged */
	__u8 is_off;     /* 1: segments with an option came to nothing: no room any more */
};

#endif
