/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sink's own settings and counters. */
#ifndef HOSTINT_SINK_SETTINGS_H
#define HOSTINT_SINK_SETTINGS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "kernel/counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sink_settings);
} sink_settings SEC(".maps");

/* Per CPU: no atomics. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct counter);
} sink_counters SEC(".maps");

/* Written by the daemon only; here so that its counts outlive it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} daemon_counters SEC(".maps");

static __always_inline const struct sink_settings *get_sink_settings(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sink_settings, &zero);
}

static __always_inline void count_sink(enum sink_counter reason, __u64 packets, __u64 bytes)
{
	count_in(&sink_counters, reason, packets, bytes);
}

#endif
