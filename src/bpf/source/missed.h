/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts watched packets by pair and class; source/tagged.h adds those that are tagged. */
#ifndef HOSTINT_SOURCE_MISSED_H
#define HOSTINT_SOURCE_MISSED_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/missed.h"
#include "source/counters.h"
#include "source/outgoing.h"
#include "watch/list.h"

/* All CPUs share an entry. The user half removes those that are idle. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MISSED_PAIRS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct missed_key);
	__type(value, struct missed_counts);
} source_missed SEC(".maps");

/* The first counts of an entry. */
static const struct missed_counts none_missed;

static __always_inline struct missed_counts *find_missed(const struct outgoing_packet *p)
{
	const struct watch_node *verdict = bpf_map_lookup_elem(&watch_nodes, &p->watching.node);
	struct missed_counts *found;
	struct missed_key key;

	__builtin_memcpy(key.saddr, p->key.saddr, sizeof(key.saddr));
	__builtin_memcpy(key.daddr, p->key.daddr, sizeof(key.daddr));
	key.class = verdict && verdict->test == WATCH_VERDICT ? verdict->other : 0;
	found = bpf_map_lookup_elem(&source_missed, &key);
	if (found)
		return found;
	if (bpf_map_update_elem(&source_missed, &key, &none_missed, BPF_NOEXIST)) {
		/* Another CPU was faster, or there is no room. */
		found = bpf_map_lookup_elem(&source_missed, &key);
		if (found)
			return found;
		__builtin_memset(&key, 0, sizeof(key));
	}
	return bpf_map_lookup_elem(&source_missed, &key);
}

/* Adds the packet in the scratch, whose rule is known. */
__noinline int add_missed(__u32 reason, __u32 packets)
{
	const struct outgoing_packet *p = outgoing();
	struct missed_counts *missed;

	if (!p || reason >= MISSED_REASONS)
		return 0;
	missed = find_missed(p);
	if (missed)
		__sync_fetch_and_add(&missed->packets[reason], packets);
	return 0;
}

/* Counts a watched packet that stays untagged. */
static __always_inline void count_missed(enum source_counter reason, __u32 packets, __u64 bytes)
{
	count_source(reason, packets, bytes);
	add_missed(reason, packets);
}

#endif
