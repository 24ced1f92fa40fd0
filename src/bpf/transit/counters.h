/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts packets at a transit hop by reason. */
#ifndef HOSTINT_TRANSIT_COUNTERS_H
#define HOSTINT_TRANSIT_COUNTERS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "kernel/counters.h"

/* Each CPU has its own counters, so no atomics are needed. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct counter);
} transit_counters SEC(".maps");

static __always_inline void count_transit(enum transit_counter reason, __u64 packets, __u64 bytes)
{
	count_in(&transit_counters, reason, packets, bytes);
}

#endif
