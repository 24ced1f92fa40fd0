/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts the times of packets in a part of this host, by their source and an interface. */
#ifndef HOSTINT_TRANSIT_WAIT_TIMES_H
#define HOSTINT_TRANSIT_WAIT_TIMES_H

#include "kernel/kernel.h"
#include "hostint/fine_slots.h"
#include "hostint/transit.h"
#include "kernel/single_value.h"

#define MOST_WAIT_NS 0x7fffffffU /* the end of the last slot */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRANSIT_WAITS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct wait_key);
	__type(value, struct wait_times);
} transit_waits SEC(".maps");

/* The first packet inserts this record, whose counts are 0. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_times);
} transit_waits_new SEC(".maps");

static __always_inline struct wait_times *waits_of(const struct wait_key *key, __u64 now)
{
	struct wait_times *known = bpf_map_lookup_elem(&transit_waits, key), *begin;

	if (known)
		return known;
	begin = single_value(&transit_waits_new);
	if (!begin)
		return NULL;
	begin->first_ns = now;
	/* If another CPU was faster, its record is used. */
	bpf_map_update_elem(&transit_waits, key, begin, BPF_NOEXIST);
	return bpf_map_lookup_elem(&transit_waits, key);
}

/* Longer waits are none that the clock could tell. The slot is that of the wait. */
static __always_inline int count_wait(const struct wait_key *key, __u64 wait, __u32 slot, __u32 packets, __u64 now)
{
	struct wait_times *waits;

	_Static_assert(WAIT_SLOTS == FINE_SLOTS, "waits are counted in the slots of latencies");
	if (wait > MOST_WAIT_NS)
		return 0;
	waits = waits_of(key, now);
	if (!waits || slot >= WAIT_SLOTS)
		return 0;
	__sync_fetch_and_add(&waits->count[slot], packets);
	__sync_fetch_and_add(&waits->packets, packets);
	__sync_fetch_and_add(&waits->sum_ns, wait * packets);
	waits->last_ns = now;
	return 0;
}

#endif
