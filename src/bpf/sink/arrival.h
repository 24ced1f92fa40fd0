/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares the facts that the sink learns from one packet, and the changes in its flow's record. */
#ifndef HOSTINT_SINK_ARRIVAL_H
#define HOSTINT_SINK_ARRIVAL_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "sink/sequence.h"

/* These facts are learned from one tagged packet. */
struct arrival_facts {
	struct flow_key key;
	__u64 now;
	__u64 watched_ns; /* a record that begins now belongs to a flow of which no packet since then was left out */
	__u32 sequence;   /* of the first segment */
	__u32 count;      /* number of segments */
	__u32 source_node;
	__u32 ingress_ts;
	__u32 ifindex;
	__s32 latency_ns;
	__u32 bytes;      /* of the IP packets as they were sent */
	__u32 wire_bytes; /* of the IP packet as it arrived */
	__u16 source_port;
	__u16 path; /* hash of the nodes and ports of its transit hops; 0: there are none */
	__u8 encapsulation;
	__u8 age_code;
	__u16 home_cpu;  /* of a flow that begins on this CPU */
	bool is_sampled; /* only of int-md: transit hops report this packet, so the sink does, too */
};

/* These losses were taken from a record to be reported. */
struct loss_news {
	__u64 hole_ns;
	__u32 first;
	__u32 count;
	__u32 source_node;
	__u32 ifindex;
	__u16 source_port;
};

/* These changes by one arrival, or by a sweep, are counted or reported. */
struct flow_news {
	struct loss_news loss;
	__u64 lost; /* numbers that were declared lost */
	struct arrival arrival;
	__u8 reasons;
	__u8 bucket;
	bool gap; /* a loss period began */
	bool added;
};

#endif
