/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Remembers when packets arrived. */
#ifndef HOSTINT_TRANSIT_ARRIVALS_H
#define HOSTINT_TRANSIT_ARRIVALS_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "transit/passing.h"
#include "transit/remembered.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRANSIT_ARRIVALS);
	__type(key, __u32);
	__type(value, __u64);
} transit_arrivals SEC(".maps");

static __always_inline void remember_arrival(const struct passing_packet *p, __u64 now)
{
	remember(&transit_arrivals, p->identity, now);
}

/* Returns when the packet arrived, or 0 if that is not known. */
static __always_inline __u64 arrival_of(const struct passing_packet *p, __u64 now)
{
	volatile __u64 *slot = slot_of(&transit_arrivals, p->identity);

	return slot ? remembered(*slot, p->identity, now) : 0;
}

/*
 * Remembers a packet that its source did not number. While one that is alike is in this host, too, neither time is known:
 * the place then has a time to come, which is none, and stays so until none was remembered for a while.
 */
static __always_inline void remember_alike(const struct passing_packet *p, __u64 now)
{
	volatile __u64 *slot = slot_of(&transit_arrivals, p->identity);
	__u64 word, age;

	if (!slot)
		return;
	word = *slot;
	age = (now - word) & REMEMBERED_NS;
	if (!((word ^ p->identity) & ~REMEMBERED_NS) &&
	    (age < REMEMBERED_LIFE_NS || REMEMBERED_NS - age < REMEMBERED_LIFE_NS))
		now += REMEMBERED_LIFE_NS;
	*slot = (p->identity & ~REMEMBERED_NS) | (now & REMEMBERED_NS);
}

/* As arrival_of; the next packet that is alike may take the place. */
static __always_inline __u64 claim_arrival(const struct passing_packet *p, __u64 now)
{
	volatile __u64 *slot = slot_of(&transit_arrivals, p->identity);
	__u64 arrived = slot ? remembered(*slot, p->identity, now) : 0;

	if (arrived)
		*slot = 0;
	return arrived;
}

#endif
