/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts the tagged packets that transit hops may push onto, or report, as these count them. */
#ifndef HOSTINT_SOURCE_CROSSED_H
#define HOSTINT_SOURCE_CROSSED_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "int/crossings.h"
#include "int/mark.h"
#include "source/budget.h"
#include "source/outgoing.h"

static __always_inline void note_crossed(const struct host_settings *host, const struct outgoing_packet *p,
					 __u32 packets, __u64 now)
{
	if (budget(p) || (is_mx && p->encapsulation == ENCAP_INT_MD))
		count_crossing(host->node_id, dest_tag(p->key.daddr), p->ifindex,
			       crossing_of(CROSSING_TAGGED, p->at.ttl, packets), block_of(now, now));
}

#endif
