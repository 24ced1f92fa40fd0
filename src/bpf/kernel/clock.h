/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The clocks that source and sink read. */
#ifndef HOSTINT_KERNEL_CLOCK_H
#define HOSTINT_KERNEL_CLOCK_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/features.h"

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
