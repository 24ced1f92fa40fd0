/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the settings of the programs that time packets, the interfaces, and the counters. */
#ifndef HOSTINT_PASSAGE_SETTINGS_H
#define HOSTINT_PASSAGE_SETTINGS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/passage.h"
#include "kernel/counters.h"
#include "kernel/single_value.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_settings);
} hop_settings SEC(".maps");

/* Interfaces whose packets are timed, each with its enum hop_device. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOP_DEVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} hop_devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct counter);
} hop_counters SEC(".maps");

static __always_inline const struct hop_settings *get_hop_settings(void)
{
	return single_value(&hop_settings);
}

/* Returns 0 for an interface whose packets are not timed. */
static __always_inline __u32 hop_device_of(__u32 ifindex)
{
	const __u32 *device = bpf_map_lookup_elem(&hop_devices, &ifindex);

	return device ? *device : 0;
}

static __always_inline void count_hop(enum hop_counter what, __u64 packets, __u64 bytes)
{
	count_in(&hop_counters, what, packets, bytes);
}

#endif
