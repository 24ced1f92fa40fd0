/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds out whether the sink in front of a packet's destination is known to be alive, by its lease. */
#ifndef HOSTINT_LEASE_ASK_H
#define HOSTINT_LEASE_ASK_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "lease/pairs.h"
#include "source/counters.h"
#include "source/outgoing.h"
#include "watch/list.h"

/*
 * Finds until when the packet in the scratch may be tagged, and leaves that, or 0, there. The daemon sees from
 * wanted_ns that the lease is needed; a new pair makes it ask the sink for a lease.
 */
__noinline int look_up_lease(void)
{
	struct outgoing_packet *p = outgoing();
	struct source_lease *lease, wanted = {};
	__u64 now = coarse_ns();

	if (!p)
		return 0;
	p->leased_ns = 0;
	lease = bpf_map_lookup_elem(&source_leases, &p->key);
	if (lease) {
		p->leased_ns = lease->until_ns;
		lease->wanted_ns = now;
		return 0;
	}
	wanted.wanted_ns = now;
	if (bpf_map_update_elem(&source_leases, &p->key, &wanted, BPF_NOEXIST))
		count_source(COUNT_SOURCE_LEASE_FULL, 1, 0);
	return 0;
}

/* f is the flow's record, if there is one; it remembers the lease. */
static __always_inline bool is_leased(struct outgoing_packet *p, struct source_flow *f)
{
	__u64 now;

	if (p->watching.watched == WATCHED_STATIC)
		return true;
	now = coarse_ns();
	if (f && now < f->leased_ns)
		return true;
	look_up_lease();
	if (f)
		f->leased_ns = p->leased_ns;
	return now < p->leased_ns;
}

#endif
