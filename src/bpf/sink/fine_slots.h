/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Holds the fine latency slots of flows. A flow takes free ones when it begins, and the daemon gives them back some time
 * after it removed the flow. A flow that finds none counts in its record, in powers of two. The daemon adds chunks of
 * slots as flows need them.
 */
#ifndef HOSTINT_SINK_FINE_SLOTS_H
#define HOSTINT_SINK_FINE_SLOTS_H

#include "kernel/kernel.h"
#include "hostint/fine_slots.h"
#include "hostint/sink_flow.h"
#include "sink/latency.h"

struct fine_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FINE_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct fine_slots));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 32);
	__type(key, __u32);
	__array(values, struct fine_chunk);
} sink_fine_slots SEC(".maps");

/* Indices of slots that are all 0 and belong to no flow. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 16384);
	__type(value, __u32);
} sink_fine_free SEC(".maps");

/* Returns the index of free slots plus 1; 0: there are none. */
static __always_inline __u32 take_fine_slots(void)
{
	__u32 index;

	return bpf_map_pop_elem(&sink_fine_free, &index) ? 0 : index + 1;
}

/* Gives back slots in which nothing was counted. */
static __always_inline void return_fine_slots(__u32 taken)
{
	__u32 index = taken - 1;

	if (taken)
		bpf_map_push_elem(&sink_fine_free, &index, BPF_ANY);
}

static __always_inline struct fine_slots *fine_slots_of(const struct sink_flow *f)
{
	__u32 index = f->fine_slots - 1, number = index / FINE_CHUNK, place = index % FINE_CHUNK;
	void *chunk = f->fine_slots ? bpf_map_lookup_elem(&sink_fine_slots, &number) : NULL;

	return chunk ? bpf_map_lookup_elem(chunk, &place) : NULL;
}

/* Must not be called under the lock, because it calls the kernel. */
static __always_inline void count_latency(struct sink_flow *f, __s32 latency_ns, __u32 packets)
{
	struct fine_slots *fine = fine_slots_of(f);
	__u32 slot;

	if (!fine) {
		__sync_fetch_and_add(&f->histogram[histogram_slot(latency_ns)], packets);
		return;
	}
	slot = fine_slot(latency_ns);
	if (slot < FINE_SLOTS)
		__sync_fetch_and_add(&fine->count[slot], packets);
}

#endif
