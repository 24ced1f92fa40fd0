/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when packets left the hop's program for the queue of an interface. The driver gets them from there: the time
 * between is the wait.
 */
#ifndef HOSTINT_TRANSIT_DEPARTURES_H
#define HOSTINT_TRANSIT_DEPARTURES_H

#include "kernel/kernel.h"
#include "hostint/transit.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRANSIT_ARRIVALS);
	__type(key, __u32);
	__type(value, __u64);
} transit_departures SEC(".maps");

/* A packet that leaves by a bridge and then by its port departs from both. */
static __always_inline __u64 departure_identity(__u64 identity, __u32 ifindex)
{
	return identity ^ ifindex * 0x9e3779b97f4a7c15ULL;
}

#endif
