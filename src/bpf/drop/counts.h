/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts dropped packets by reason and by place. Each CPU counts by itself, so the counts are exact under any load. */
#ifndef HOSTINT_DROP_COUNTS_H
#define HOSTINT_DROP_COUNTS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/drop.h"
#include "kernel/counters.h"
#include "drop/size.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct counter);
} drop_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DROP_REASON_SLOTS);
	__type(key, __u32);
	__type(value, struct drop_count);
} drop_reasons SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, DROP_PLACES);
	__type(key, struct drop_place_key);
	__type(value, struct drop_count);
} drop_places SEC(".maps");

static __always_inline void count_drop(enum drop_counter what, const struct drop_size *size)
{
	count_in(&drop_counters, what, 1, size->bytes);
}

static __always_inline void add_drop(struct drop_count *count, const struct drop_size *size)
{
	count->packets++;
	count->segments += size->segments;
	count->bytes += size->bytes;
}

static __always_inline void count_reason(__u32 slot, const struct drop_size *size)
{
	struct drop_count *count = bpf_map_lookup_elem(&drop_reasons, &slot);

	if (count)
		add_drop(count, size);
}

static __always_inline void count_place(const struct drop_place_key *key, const struct drop_size *size)
{
	struct drop_count *count = bpf_map_lookup_elem(&drop_places, key);

	if (!count) {
		struct drop_count none = {};

		bpf_map_update_elem(&drop_places, key, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&drop_places, key);
	}
	if (count)
		add_drop(count, size);
	else
		count_drop(COUNT_DROP_PLACES_FULL, size);
}

#endif
