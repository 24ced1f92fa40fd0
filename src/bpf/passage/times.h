/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts the times of all packets by passage. Each CPU counts by itself, so the counts are exact. */
#ifndef HOSTINT_PASSAGE_TIMES_H
#define HOSTINT_PASSAGE_TIMES_H

#include "kernel/kernel.h"
#include "hostint/fine_slots.h"
#include "hostint/passage.h"
#include "passage/settings.h"
#include "kernel/single_value.h"
#include "sink/latency.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, HOP_PASSAGES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hop_passage);
	__type(value, struct hop_times);
} hop_times SEC(".maps");

/* The first packet of a passage inserts this record, whose counts are 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_times);
} hop_times_new SEC(".maps");

static __always_inline struct hop_times *find_times(const struct hop_passage *key)
{
	struct hop_times *times = bpf_map_lookup_elem(&hop_times, key), *none;

	if (times)
		return times;
	none = single_value(&hop_times_new);
	if (none)
		bpf_map_update_elem(&hop_times, key, none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&hop_times, key);
}

static __always_inline void count_time(const struct hop_passage *key, __u32 ns, __u32 packets, __u32 bytes)
{
	struct hop_times *times = find_times(key);
	__u32 slot;

	_Static_assert(HOP_SLOTS == FINE_SLOTS, "times are counted as those of flows");
	if (!times) {
		count_hop(COUNT_HOP_TIMES_FULL, packets, bytes);
		return;
	}
	if (!times->packets || ns < times->min_ns)
		times->min_ns = ns;
	if (ns > times->max_ns)
		times->max_ns = ns;
	times->packets += packets;
	times->sum_ns += (__u64)ns * packets;
	slot = fine_slot(ns);
	if (slot < HOP_SLOTS)
		times->count[slot] += packets;
}

#endif
