/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The program that sees dropped packets and the user half exchange these settings, counts, records and events. */
#ifndef HOSTINT_DROP_H
#define HOSTINT_DROP_H

enum drop_limit {
	DROP_SUBSYSTEMS = 8,           /* of the kernel, each with reasons of its own; 0 is the kernel's core */
	DROP_REASONS = 256,            /* of a subsystem */
	DROP_REASON_SLOTS = 2048,      /* DROP_SUBSYSTEMS * DROP_REASONS */
	DROP_IGNORED_WORDS = 32,       /* DROP_REASON_SLOTS bits */
	DROP_PLACES = 4096,            /* of which counts are kept */
	DROP_AGE_UNKNOWN = 4294967295, /* the packet did not say when it set out */
};

/* A reason's slot is its subsystem * DROP_REASONS + its number there. Reasons beyond the limits have slot 0. */
struct drop_settings {
	__u64 ignored[DROP_IGNORED_WORDS]; /* a bit for each slot: packets are counted, and no flow is reported */
	__u64 ignored_groups[DROP_IGNORED_WORDS]; /* the same, of packets to multicast and broadcast addresses */
	__u64 ignored_acks[DROP_IGNORED_WORDS];   /* the same, of TCP segments without data, SYN or RST */
	__u64 ignored_copies[DROP_IGNORED_WORDS]; /* the same, of ICMP packets: sockets get copies of those */
	__u64 new_flow_interval_ns;               /* as in token_rate, for each CPU */
	__u64 new_flow_burst_ns;
	__u32 netns; /* inode of the network namespace whose drops count; 0: all */
	__be16 extension_port;
	__u8 tos_value; /* DSCP mark of over-tcp-udp at its place in the ToS byte */
	__u8 tos_mask;
	__u32 tunnels; /* a bit for each kind whose packets are known by the flow inside */
	__u32 zero;
};

/* Packets are skbs: a superpacket is one, and has several segments. Bytes are those of IP packets. */
struct drop_count {
	__u64 packets;
	__u64 segments;
	__u64 bytes;
};

/* Where in the kernel, and on which interface, packets were dropped. */
struct drop_place_key {
	__u64 place; /* address of the code */
	__u32 reason;
	__u32 ifindex;
	__u32 netns;
	__u32 tagged; /* 1: the packets have INT */
	__u32 source_node;
	__u32 ignored; /* 1: the packets are no loss */
};

enum drop_flow_flag {
	DROP_SUPERPACKET = 1, /* one of the packets had several segments */
};

enum drop_event_kind {
	EVENT_DROP = 17,
};

/* Each enumerator is the index of a per-CPU counter. */
enum drop_counter {
	COUNT_DROP_IGNORED,      /* for a reason that is not reported */
	COUNT_DROP_NO_FLOW,      /* not IP, or headers that cannot be read */
	COUNT_DROP_FLOW_LIMITED, /* of new flows beyond the limit */
	COUNT_DROP_PLACES_FULL,  /* no room for the place's count */
	COUNT_DROP_EVENT_LOST,   /* the ring was full */
	COUNT_DROP_MAX,
};

#endif
