/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers the times at which packets passed a hook, by what tells each from all others, so that routing, bridging and
 * address translation behind it do not matter. A packet whose slot another one took meanwhile has no known time.
 */
#ifndef HOSTINT_TRANSIT_REMEMBERED_H
#define HOSTINT_TRANSIT_REMEMBERED_H

#include "kernel/kernel.h"
#include "hostint/transit.h"

#define REMEMBERED_NS ((1ULL << 40) - 1) /* the bits of a word that hold the time; those above tell packets apart */
#define REMEMBERED_LIFE_NS 4000000000ULL /* less than the 2^32 ns that an entry can express */

const volatile __u32 arrival_slots = TRANSIT_ARRIVALS; /* a power of two */

/* What the source wrote stays the same on the whole path; `more` tells the segments of a superpacket from each other. */
static __always_inline __u64 identity_of(__be32 node, __be32 time, __be32 sequence, __be32 more)
{
	__u64 mixed = ((__u64)node << 32 | time) * 0x9e3779b97f4a7c15ULL;

	mixed ^= (__u64)sequence << 32 | more;
	mixed ^= mixed >> 29;
	mixed *= 0xbf58476d1ce4e5b9ULL;
	return mixed ^ mixed >> 32;
}

/* All CPUs share the words of such a map. Each is read and written at once. */
static __always_inline volatile __u64 *slot_of(void *map, __u64 identity)
{
	__u32 index = (__u32)identity & (arrival_slots - 1);

	return bpf_map_lookup_elem(map, &index);
}

static __always_inline void remember(void *map, __u64 identity, __u64 now)
{
	volatile __u64 *slot = slot_of(map, identity);

	if (slot)
		*slot = (identity & ~REMEMBERED_NS) | (now & REMEMBERED_NS);
}

/* The word of a packet that was sent. */
static __always_inline __u64 sent_word(__u64 identity)
{
	return identity & ~REMEMBERED_NS;
}

/* Returns the time in a word of a packet with this identity, or 0 if it is that of another one, or too old. */
static __always_inline __u64 remembered(__u64 word, __u64 identity, __u64 now)
{
	__u64 then;

	if ((word ^ identity) & ~REMEMBERED_NS)
		return 0;
	then = (now & ~REMEMBERED_NS) | (word & REMEMBERED_NS);
	/* The clock's upper bits changed meanwhile. A clock that was set back looks the same, and then the age is too great. */
	if (then > now)
		then -= REMEMBERED_NS + 1;
	return now - then < REMEMBERED_LIFE_NS ? then : 0;
}

#endif
