/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink keeps this about packets that it strips without measuring them. */
#ifndef HOSTINT_UNMEASURED_H
#define HOSTINT_UNMEASURED_H

enum unmeasured_limit {
	UNMEASURED_FLOWS = 16384, /* flows told apart, with reasons, so that their classes are known */
	UNMEASURED_NODES = 4096,  /* source nodes, with reasons, that count the packets of all other flows */
	UNMEASURED_FLOW_WORDS = 10,
};

struct unmeasured_key {
	__u32 flow[UNMEASURED_FLOW_WORDS]; /* a struct flow_key; all zeros: any flow of the source node */
	__u32 source_node;
	__u32 reason; /* enum sink_counter */
};

struct unmeasured_counts {
	__u64 packets; /* a superpacket counts as its segments */
	__u64 bytes;   /* as in struct missed_counts */
};

#endif
