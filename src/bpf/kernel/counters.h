/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts packets and frame bytes by reason, in a per-CPU map. */
#ifndef HOSTINT_KERNEL_COUNTERS_H
#define HOSTINT_KERNEL_COUNTERS_H

#include "kernel/kernel.h"
#include "hostint/count.h"

static __always_inline void count_in(void *map, __u32 reason, __u64 packets, __u64 bytes)
{
	struct counter *c = bpf_map_lookup_elem(map, &reason);

	if (!c)
		return;
	c->packets += packets;
	c->bytes += bytes;
}

#endif
