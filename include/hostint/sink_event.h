/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink's program tells its daemon of packets, losses and gaps by these events. */
#ifndef HOSTINT_SINK_EVENT_H
#define HOSTINT_SINK_EVENT_H

enum event_kind {
	EVENT_LATENCY = 1,
	EVENT_LOSS = 2,
	EVENT_GAP = 3,  /* numbers began to be missing: the daemon sweeps the flow after the loss timeout */
	EVENT_PATH = 4, /* a latency_event of a packet with transit hops, and their entries */
};

enum event_reason {
	REASON_NEW_FLOW = 1,
	REASON_BUCKET = 2,
	REASON_PERIOD = 4,
	REASON_PATH = 8,    /* the packet took other transit hops than the last one that was reported */
	REASON_SAMPLE = 16, /* INT-MX: transit hops report this packet, too */
};

struct latency_event {
	__u32 kind;
	__u8 reasons;
	__u8 encapsulation;
	__u8 l4_len; /* bytes used in l4, 8 or 20; IPv6: 0, the packet is not quoted */
	__u8 bucket;
	struct flow_key key;
	__u64 now_ns;
	__s32 latency_ns;
	__u32 ifindex;
	__u32 source_node;
	__u32 sequence;
	__u32 ingress_ts; /* low 32 bits of ns since the Unix epoch */
	__u32 egress_ts;
	__u16 ingress_port;
	__u16 egress_port;
	__u32 queue_packets; /* in the root queue of the source's interface */
	__u32 queue_bytes;
	__u8 ip[20]; /* IPv4 header as received; vxlan-gpe: the inner one */
	__u8 l4[20]; /* UDP or TCP header as received; extension-udp, vxlan-gpe: the inner one */
	__u8 has_queue;
	__u8 by_nic; /* 1: now_ns is the network card's time */
	__u16 zero;
};

struct path_event {
	struct latency_event latency; /* its kind is EVENT_PATH */
	__u8 hops;
	__u8 hop_words; /* of each entry */
	__u8 zero[6];
	__be32 entries[MAX_HOPS][MAX_HOP_WORDS]; /* newest first, as they were on the wire */
};

struct loss_event {
	__u32 kind;
	__u32 ifindex;
	struct flow_key key;
	__u64 hole_ns; /* arrival of the packet before the first lost one */
	__u32 first;   /* first sequence number lost */
	__u32 count;
	__u32 source_node;
	__u16 source_port;
	__u16 zero;
};

struct gap_event {
	__u32 kind;
	__u32 zero;
	struct flow_key key;
};

#endif
