/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the sink's flow table. */
#ifndef HOSTINT_SINK_FLOW_TABLE_H
#define HOSTINT_SINK_FLOW_TABLE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/sink_flow.h"
#include "sink/counters.h"
#include "sink/fine_slots.h"

_Static_assert(__builtin_offsetof(struct sink_flow, told_packets) <= 104, "the hottest fields are in two cache lines");
_Static_assert(__builtin_offsetof(struct sink_flow, gap_ns) == SINK_FLOW_HOT, "the hot part has 128 bytes");
_Static_assert(sizeof(struct sink_flow) == SINK_FLOW_SIZE, "all records lie alike in their cache lines");

/* All CPUs share a record. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct flow_key);
	__type(value, struct sink_flow);
} sink_flows SEC(".maps");

/* A flow's first packet inserts this record, which is all 0 but for the flow's slots. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct sink_flow));
} sink_flow_new SEC(".maps");

/*
 * Returns NULL if there is no room. The record has its slots from the start, because a flow that begins on several CPUs
 * at once counts all packets in the same ones.
 */
static __always_inline struct sink_flow *add_sink_flow(const struct flow_key *key, __u16 home_cpu)
{
	__u32 zero = 0;
	struct sink_flow *begin = bpf_map_lookup_elem(&sink_flow_new, &zero);

	if (!begin)
		return NULL;
	begin->fine_slots = take_fine_slots();
	begin->home_cpu = home_cpu;
	/* If another CPU was faster, its record is used. */
	if (bpf_map_update_elem(&sink_flows, key, begin, BPF_NOEXIST))
		return_fine_slots(begin->fine_slots);
	else if (!begin->fine_slots)
		count_sink(COUNT_SINK_FLOW_COARSE, 1, 0);
	return bpf_map_lookup_elem(&sink_flows, key);
}

#endif
