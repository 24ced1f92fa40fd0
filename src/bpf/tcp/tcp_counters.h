/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts what happens to watched connections. */
#ifndef HOSTINT_TCP_COUNTERS_H
#define HOSTINT_TCP_COUNTERS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/tcp.h"
#include "kernel/counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct counter);
} tcp_counters SEC(".maps");

static __always_inline void count_tcp(enum tcp_counter what)
{
	count_in(&tcp_counters, what, 1, 0);
}

#endif
