/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts latencies in a flow's slots: those of its home CPU not one by one, as struct sink_flow says. */
#ifndef HOSTINT_SINK_RECENT_H
#define HOSTINT_SINK_RECENT_H

#include "kernel/kernel.h"
#include "hostint/fine_slots.h"
#include "hostint/sink_flow.h"
#include "sink/fine_slots.h"
#include "sink/flow_table.h"
#include "sink/home_cpu.h"
#include "sink/latency.h"
#include "sink/tagged.h"

enum {
	RECENT_SLOT = (1 << RECENT_SLOT_BITS) - 1,
};

_Static_assert(FINE_SLOTS <= 1 << RECENT_SLOT_BITS, "a recent latency has room for its slot");
_Static_assert(MOST_RECENT_PACKETS == (1 << (16 - RECENT_SLOT_BITS)) - 1, "a recent latency has room for its packets");
_Static_assert(__builtin_offsetof(struct sink_flow, recent_count) % 8 == 0, "count and turn are read at once");

/* An atomic addition waits for its cache line, a load does not: so all lines are on their way before the first is needed. */
static __always_inline void fetch_slots(const struct sink_flow *f, struct fine_slots *fine)
{
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < RECENT_LATENCIES; i++) {
		__u32 slot = f->recent[i] & RECENT_SLOT;

		if (slot < FINE_SLOTS)
			sum += *(volatile __u32 *)&fine->count[slot];
	}
	barrier_var(sum);
}

/* An addition that returns the old value keeps the order of what stands around it, on every machine. */
static __always_inline void begin_next_turn(struct sink_flow *f)
{
	__u32 turn = __sync_fetch_and_add(&f->recent_turn, 1);

	barrier_var(turn);
}

static __always_inline void count_recent_fine(struct sink_flow *f, struct fine_slots *fine)
{
#pragma unroll
	for (int i = 0; i < RECENT_LATENCIES; i++) {
		__u32 recent = f->recent[i], slot = recent & RECENT_SLOT;

		f->recent[i] = 0;
		if (slot < FINE_SLOTS)
			__sync_fetch_and_add(&fine->count[slot], recent >> RECENT_SLOT_BITS);
	}
}

static __always_inline void count_recent_coarse(struct sink_flow *f)
{
#pragma unroll
	for (int i = 0; i < RECENT_LATENCIES; i++) {
		__u32 recent = f->recent[i], slot = slot_of_fine(recent & RECENT_SLOT);

		f->recent[i] = 0;
		__sync_fetch_and_add(&f->histogram[slot & (HISTOGRAM_SLOTS - 1)], recent >> RECENT_SLOT_BITS);
	}
}

/* Counts the recent latencies of the flow in the scratch, whose home CPU this is. */
__noinline int count_recent(void)
{
	struct tagged_packet *p = tagged();
	struct sink_flow *f = p ? bpf_map_lookup_elem(&sink_flows, &p->facts.key) : NULL;
	struct fine_slots *fine;

	if (!have_home_cpus)
		return 0;
	/* If the record was removed, another one may have its key by now. */
	if (!f || !is_home_cpu(f, p->facts.home_cpu) || f->recent_count < RECENT_LATENCIES)
		return 0;
	fine = fine_slots_of(f);
	begin_next_turn(f);
	if (fine) {
		fetch_slots(f, fine);
		count_recent_fine(f, fine);
	} else {
		count_recent_coarse(f);
	}
	f->recent_count = 0;
	begin_next_turn(f);
	return 0;
}

/* The flow is that of the packet in the scratch. Must not be called under the lock, because it calls the kernel. */
static __always_inline void count_latency(struct sink_flow *f, const struct arrival_facts *a)
{
	__u32 slot = fine_slot(a->latency_ns);
	__u32 at = f->recent_count;

	if (!is_home_cpu(f, a->home_cpu) || a->count > MOST_RECENT_PACKETS || at >= RECENT_LATENCIES) {
		count_in_slot(f, fine_slots_of(f), slot, a->count);
		return;
	}
	f->recent[at] = slot | a->count << RECENT_SLOT_BITS;
	f->recent_count = at + 1;
	if (at + 1 == RECENT_LATENCIES)
		count_recent();
}

#endif
