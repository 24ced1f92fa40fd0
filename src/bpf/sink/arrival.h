/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the sink learned from one packet, and what that changed. */
#ifndef HOSTINT_SINK_ARRIVAL_H
#define HOSTINT_SINK_ARRIVAL_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "sink/sequence.h"

/* What the sink learned from one tagged packet. */
struct arrival_facts {
	struct flow_key key;
	__u64 now;
	__u32 sequence; /* of the first segment, */
	__u32 count;    /* of so many */
	__u32 source_node;
	__u32 ingress_ts;
	__u32 ifindex;
	__s32 latency_ns;
	__u32 bytes;      /* of IP packets as sent */
	__u32 wire_bytes; /* of the IP packet as it came */
	__u16 source_port;
	__u8 encapsulation;
	__u8 age_code;
};

/* Losses taken out of a record to be reported. */
struct loss_news {
	__u64 hole_ns;
	__u32 first;
	__u32 count;
	__u32 source_node;
	__u32 ifindex;
	__u16 source_port;
};

/* What one arrival, or a sweep, changed that somebody wants to know. */
struct flow_news {
	struct loss_news loss;
	__u64 lost; /* numbers declared lost just now */
	struct arrival arrival;
	__u8 reasons;
	__u8 bucket;
	bool gap; /* a loss period began */
	bool added;
};

#endif
