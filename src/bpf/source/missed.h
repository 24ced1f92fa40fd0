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

static __always_inline struct missed_counts *find_missed(struct outgoing_packet *p)
{
	const struct watch_node *verdict = bpf_map_lookup_elem(&watch_nodes, &p->watching.node);
	struct missed_key *pair = &p->pair;
	struct missed_counts *found;

	__builtin_memcpy(pair->saddr, p->key.saddr, sizeof(pair->saddr));
	__builtin_memcpy(pair->daddr, p->key.daddr, sizeof(pair->daddr));
	pair->class = verdict && verdict->test == WATCH_VERDICT ? verdict->other : 0;
	found = bpf_map_lookup_elem(&source_missed, pair);
	if (found)
		return found;
	if (bpf_map_update_elem(&source_missed, pair, &none_missed, BPF_NOEXIST)) {
		/* Another CPU was faster, or there is no room. */
		found = bpf_map_lookup_elem(&source_missed, pair);
		if (found)
			return found;
		__builtin_memset(pair, 0, sizeof(*pair));
	}
	return bpf_map_lookup_elem(&source_missed, pair);
}

/*
 * The bytes of the packet as flows count them, at the sink too: of the IP packet without INT, with the headers of each
 * segment.
 */
static __always_inline __u64 ip_bytes(const struct outgoing_packet *p, __u32 segments)
{
	if (segments <= 1)
		return p->at.ip_len;
	/* A superpacket may be longer than its IP header can state. */
	return p->frame_len - p->at.l3 + (segments - 1) * (p->at.l4 - p->at.l3 + p->l4_header_len);
}

static __always_inline void add_to_pair(struct outgoing_packet *p, __u32 reason, __u32 packets, __u64 bytes)
{
	struct missed_counts *missed = find_missed(p);

	/* The verifier forgets what was checked before the look-up. */
	barrier_var(reason);
	if (!missed || reason >= MISSED_REASONS)
		return;
	__sync_fetch_and_add(&missed->packets[reason], packets);
	__sync_fetch_and_add(&missed->bytes[reason], bytes);
}

/* Adds the packet in the scratch, whose rule is known, and which stays untagged. */
__noinline int add_missed(__u32 reason, __u32 packets)
{
	struct outgoing_packet *p = outgoing();

	if (p)
		add_to_pair(p, reason, packets, ip_bytes(p, packets));
	return 0;
}

/* Counts a watched packet that stays untagged. */
static __always_inline void count_missed(enum source_counter reason, __u32 packets, __u64 bytes)
{
	count_source(reason, packets, bytes);
	add_missed(reason, packets);
}

#endif
