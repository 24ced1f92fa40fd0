/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when packets arrived, by what tells each from all others, so that routing, bridging and address translation
 * between the hooks do not matter. A packet whose slot another one took meanwhile has no known arrival.
 */
#ifndef HOSTINT_TRANSIT_ARRIVALS_H
#define HOSTINT_TRANSIT_ARRIVALS_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "transit/attachment.h"
#include "transit/passing.h"

#define ARRIVAL_NS ((1ULL << 40) - 1) /* the bits of a word that hold the time; those above tell packets apart */
#define ARRIVAL_LIFE_NS 4000000000ULL /* less than the 2^32 ns that an entry can express */

/* All CPUs share the words. Each is read and written at once. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRANSIT_ARRIVALS);
	__type(key, __u32);
	__type(value, __u64);
} transit_arrivals SEC(".maps");

static __always_inline volatile __u64 *arrival_slot(const struct passing_packet *p)
{
	__u32 index = (__u32)p->identity & (arrival_slots - 1);

	return bpf_map_lookup_elem(&transit_arrivals, &index);
}

static __always_inline void remember_arrival(const struct passing_packet *p, __u64 now)
{
	volatile __u64 *slot = arrival_slot(p);

	if (slot)
		*slot = (p->identity & ~ARRIVAL_NS) | (now & ARRIVAL_NS);
}

/* Returns when the packet arrived, or 0 if that is not known. */
static __always_inline __u64 arrival_of(const struct passing_packet *p, __u64 now)
{
	volatile __u64 *slot = arrival_slot(p);
	__u64 word, arrived;

	if (!slot)
		return 0;
	word = *slot;
	if ((word ^ p->identity) & ~ARRIVAL_NS)
		return 0;
	arrived = (now & ~ARRIVAL_NS) | (word & ARRIVAL_NS);
	/* The clock's upper bits changed meanwhile. A clock that was set back looks the same, and then the age is too great. */
	if (arrived > now)
		arrived -= ARRIVAL_NS + 1;
	return now - arrived < ARRIVAL_LIFE_NS ? arrived : 0;
}

#endif
