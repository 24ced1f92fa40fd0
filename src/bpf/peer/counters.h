/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts packets that the peer program changed, or could not change. */
#ifndef HOSTINT_PEER_COUNTERS_H
#define HOSTINT_PEER_COUNTERS_H

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
} peer_counters SEC(".maps");

static __always_inline void count_peer(enum peer_counter reason, __u64 bytes)
{
	count_in(&peer_counters, reason, 1, bytes);
}

#endif
