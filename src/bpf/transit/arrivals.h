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

#endif
