/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Takes tokens from buckets. */
#ifndef HOSTINT_KERNEL_TOKEN_H
#define HOSTINT_KERNEL_TOKEN_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

/* CPUs that run at the same time may take one token too many, which does no harm. */
static __always_inline bool take_token(__u64 *full_ns, const struct token_rate *rate, __u64 now)
{
	__u64 full = *(volatile __u64 *)full_ns;

	if (!rate->interval_ns)
		return true;
	/* If the clock was set back by more than a bucket holds, the bucket is taken for full. */
	if (full < now || full > now + 2 * rate->burst_ns)
		full = now;
	if (full + rate->interval_ns > now + rate->burst_ns)
		return false;
	*(volatile __u64 *)full_ns = full + rate->interval_ns;
	return true;
}

#endif
