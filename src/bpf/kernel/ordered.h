/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Atomics that order what is before them and behind them, on every processor: their result is used. An atomic whose
 * result is not used, and barrier(), order nothing on arm64. Kernels before 5.12 have none that gives a result.
 */
#ifndef HOSTINT_KERNEL_ORDERED_H
#define HOSTINT_KERNEL_ORDERED_H

#include "kernel/kernel.h"

static __always_inline void ordered_or(__u32 *word, __u32 bits)
{
	__u32 before = __sync_fetch_and_or(word, bits);

	barrier_var(before);
}

static __always_inline void ordered_add(__u32 *word, __u32 number)
{
	__u32 before = __sync_fetch_and_add(word, number);

	barrier_var(before);
}

static __always_inline void ordered_and(__u32 *word, __u32 bits)
{
	__u32 before = __sync_fetch_and_and(word, bits);

	barrier_var(before);
}

/*
 * The serial of a table grows by 1 after the table was changed, and is read before the table is: whoever knows the new
 * number knows the new table. `locked` says that the kernel is one of those without order.
 */
static __always_inline void advance_serial(__u32 *serial, bool locked)
{
	if (serial && locked)
		__sync_fetch_and_add(serial, 1);
	else if (serial)
		ordered_add(serial, 1);
}

/* Orders what is before it and behind it. The word is one that no other CPU uses. */
static __always_inline void ordered_fence(__u32 *own)
{
	ordered_or(own, 0);
}

#endif
