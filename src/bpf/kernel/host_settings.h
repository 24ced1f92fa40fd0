/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Settings that source and sink of a host share, and the clock that both stamp with. */
#ifndef HOSTINT_KERNEL_HOST_SETTINGS_H
#define HOSTINT_KERNEL_HOST_SETTINGS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/features.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct host_settings);
} host_settings SEC(".maps");

static __always_inline const struct host_settings *get_host_settings(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&host_settings, &zero);
}

/* For leases, which no step of the clock may prolong: a few ms coarse, and cheap. */
static __always_inline __u64 coarse_ns(void)
{
	return have_coarse_clock ? bpf_ktime_get_coarse_ns() : bpf_ktime_get_ns();
}

/* Nanoseconds since the Unix epoch. The dearest step: once per packet. */
static __always_inline __u64 now_ns(const struct host_settings *host)
{
	__u64 clock = have_tai_clock ? bpf_ktime_get_tai_ns() : bpf_ktime_get_ns();

	return clock + host->clock_offset_ns;
}

#endif
