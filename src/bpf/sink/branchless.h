/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compares without branches. The verifier may follow n branches in a row in 2^n ways; the barriers keep the compiler
 * from turning these comparisons into branches again.
 */
#ifndef HOSTINT_SINK_BRANCHLESS_H
#define HOSTINT_SINK_BRANCHLESS_H

#include "kernel/kernel.h"

/* Returns 1 if a < b. Their difference must fit into 64 bits. */
static __always_inline __u32 less(__s64 a, __s64 b)
{
	__u64 difference = a - b;

	barrier_var(difference);
	return difference >> 63;
}

/* Returns all ones if any bit is set, else 0. */
static __always_inline __u64 any(__u64 bits)
{
	__u64 sign = bits | -bits;

	barrier_var(sign);
	return -(sign >> 63);
}

/* The mask is all ones, or 0. */
static __always_inline __u64 choose(__u64 mask, __u64 yes, __u64 no)
{
	barrier_var(mask);
	return (yes & mask) | (no & ~mask);
}

#endif
