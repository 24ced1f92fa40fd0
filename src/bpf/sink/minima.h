/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the quickest packets of each source node. A packet that is no new minimum costs a look at the old one. */
#ifndef HOSTINT_SINK_MINIMA_TABLE_H
#define HOSTINT_SINK_MINIMA_TABLE_H

#include "kernel/kernel.h"
#include "hostint/sink_minima.h"
#include "sink/arrival.h"
#include "sink/tagged.h"

/* Of two nodes with one place, the second is not measured while packets of the first arrive. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MINIMA_NODES);
	__type(key, __u32);
	__type(value, struct sink_minima);
} sink_minima SEC(".maps");

static __always_inline struct sink_minima *minima_of(__u32 source_node)
{
	_Static_assert(sizeof(struct sink_minima) == 64, "a node's minima fill a cache line");
	_Static_assert(MINIMA_NODES == 1 << MINIMA_BITS, "each place is used");
	__u32 place = (source_node * 0x9e3779b9U) >> (32 - MINIMA_BITS);

	return bpf_map_lookup_elem(&sink_minima, &place);
}

/* The latency by the kernel's clock: a card's stamp may be too early. */
static __always_inline __s32 kernel_latency(const struct arrival_facts *a)
{
	return (__u32)a->now - a->ingress_ts;
}

static __always_inline bool is_same_window(__u64 one_ns, __u64 other_ns)
{
	return one_ns >> MINIMA_SHIFT == other_ns >> MINIMA_SHIFT;
}

/* Says whether all sub-windows are over and gone, so that another node may have the place. */
static __always_inline bool is_abandoned(const struct sink_minima *m, __u64 now)
{
	__u64 newest = 0;

#pragma unroll
	for (int i = 0; i < MINIMA_WINDOWS; i++)
		newest = m->arrived_ns[i] > newest ? m->arrived_ns[i] : newest;
	/* A clock that was set back must not keep a place for ever. */
	return newest > now || now - newest > (__u64)MINIMA_WINDOWS << MINIMA_SHIFT;
}

/* Notes the packet in the scratch, which seems to be quicker than those before it in its sub-window. */
__noinline int take_minimum(void)
{
	struct tagged_packet *p = tagged();
	struct sink_minima *m;
	__u32 window;

	if (!p)
		return 0;
	m = minima_of(p->facts.source_node);
	if (!m || (m->source_node != p->facts.source_node && !is_abandoned(m, p->facts.now)))
		return 0;
	window = (p->facts.now >> MINIMA_SHIFT) & (MINIMA_WINDOWS - 1);
	bpf_spin_lock(&m->lock);
	if (m->source_node != p->facts.source_node) {
		m->source_node = p->facts.source_node;
		__builtin_memset(m->arrived_ns, 0, sizeof(m->arrived_ns));
	}
	if (!is_same_window(m->arrived_ns[window], p->facts.now) || kernel_latency(&p->facts) < m->latency_ns[window]) {
		m->latency_ns[window] = kernel_latency(&p->facts);
		m->arrived_ns[window] = p->facts.now;
	}
	bpf_spin_unlock(&m->lock);
	return 0;
}

/* Says whether a packet may be quicker than those before it. Without the lock nothing here is certain. */
static __always_inline bool may_be_minimum(const struct arrival_facts *a)
{
	const struct sink_minima *m = minima_of(a->source_node);
	__u32 window = (a->now >> MINIMA_SHIFT) & (MINIMA_WINDOWS - 1);

	return m && (m->source_node != a->source_node || kernel_latency(a) < m->latency_ns[window] ||
		     !is_same_window(m->arrived_ns[window], a->now));
}

#endif
