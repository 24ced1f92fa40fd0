/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when packets entered a queue. The one that enters an empty queue is in the queue's state, as nearly all are
 * where nothing waits; only those that find others waiting are written to a table.
 */
#ifndef HOSTINT_QUEUE_ENTERED_H
#define HOSTINT_QUEUE_ENTERED_H

#include "kernel/kernel.h"
#include "hostint/queue.h"
#include "queue/qdisc.h"

/* By the address of the packet. Those that the queue threw away make room for others. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, QUEUE_STAMPS);
	__type(key, __u64);
	__type(value, struct queue_stamp);
} queue_stamps SEC(".maps");

/* Runs behind the kernel's own count: a queue with one packet was empty before. */
static __always_inline void note_entry(struct queue_state *state, struct Qdisc *sch, __u64 skb, __u64 now)
{
	struct queue_stamp stamp = { .ns = now };

	if (!counts_by_cpu(sch) && sch->q.qlen < 2) {
		state->busy++;
		state->first = skb;
		state->first_ns = now;
		state->first_drops = sch->qstats.drops;
		return;
	}
	if (state->first == skb)
		state->first = 0;
	stamp.busy = state->busy;
	stamp.drops = sch->qstats.drops;
	bpf_map_update_elem(&queue_stamps, &skb, &stamp, BPF_ANY);
}

/* Returns when a packet that leaves entered, or 0 if that is not known. What the queue had dropped until then is noted. */
static __always_inline __u64 entered_at(struct queue_state *state, __u64 skb)
{
	const struct queue_stamp *stamp;
	__u64 ns = 0;

	if (state->first == skb) {
		state->first = 0;
		state->entry_drops = state->first_drops;
		return state->first_ns;
	}
	stamp = bpf_map_lookup_elem(&queue_stamps, &skb);
	if (!stamp)
		return 0;
	/* An older one is of a packet that the queue threw away, whose memory is another packet's now. */
	if (stamp->busy == state->busy) {
		ns = stamp->ns;
		state->entry_drops = stamp->drops;
	}
	bpf_map_delete_elem(&queue_stamps, &skb);
	return ns;
}

#endif
