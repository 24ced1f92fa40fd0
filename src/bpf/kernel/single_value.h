/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads maps that hold a single value: settings, totals, and the packet that a program is working on.
 *
 * That packet is kept in a per-CPU map, the program's scratch, because of the verifier. A function that is neither
 * static nor inlined is verified once, for any state it may be called in, instead of once for each way that leads to
 * it; the programs are made of such steps. But a step may take only the context and integers, and must return an
 * integer. So each step finds the packet in the scratch, leaves its result there, and returns 0 if nothing else is to
 * be said. The stack would not do for a second reason: the verifier remembers every constant that is stored there, and
 * would follow the rest of the program once for each combination of them.
 */
#ifndef HOSTINT_KERNEL_SINGLE_VALUE_H
#define HOSTINT_KERNEL_SINGLE_VALUE_H

#include "kernel/kernel.h"

static __always_inline void *single_value(void *map)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(map, &zero);
}

#endif
