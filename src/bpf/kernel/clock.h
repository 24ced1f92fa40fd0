/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the clocks that source and sink use. */
#ifndef HOSTINT_KERNEL_CLOCK_H
#define HOSTINT_KERNEL_CLOCK_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/features.h"

/* Only tests set this: time stands still, at clock_offset_ns, so that two programs see the same one. */
const volatile bool clock_stands = false;

/* Returns the time for leases, by a monotonic clock. It is a few ms coarse, and cheap. */
static __always_inline __u64 coarse_ns(void)
{
	if (clock_stands)
		return 1;
	return have_coarse_clock ? bpf_ktime_get_coarse_ns() : bpf_ktime_get_ns();
}

/* Returns ns since the Unix epoch. No other step costs as much, so it is called once per packet. */
static __always_inline __u64 now_ns(const struct host_settings *host)
{
	__u64 clock;

	if (clock_stands)
		return host->clock_offset_ns;
	clock = have_tai_clock ? bpf_ktime_get_tai_ns() : bpf_ktime_get_ns();
	return clock + host->clock_offset_ns;
}

#endif
