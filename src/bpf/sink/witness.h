/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts for each source what arrived of its tagged packets, in its grant. A source compares that with what it sent, so
 * counts must not lag behind: not by much at any time, and not at all when a short flow ends.
 */
#ifndef HOSTINT_SINK_WITNESS_H
#define HOSTINT_SINK_WITNESS_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "hostint/sink_flow.h"
#include "sink/flow_table.h"
#include "sink/grants.h"
#include "sink/home_cpu.h"
#include "sink/tagged.h"

/* Packets of allowed prefixes have no grant, and are not counted. */
static __always_inline void tell_stripped(const __be32 *saddr, __u8 encapsulation, __u32 packets)
{
	struct sink_grant *grant = bpf_map_lookup_elem(&sink_grants, saddr);
	__u32 at = encapsulation == ENCAP_INT_MD ? 0 : encapsulation - 1;

	if (grant && at < LEASE_ENCAPSULATIONS)
		__sync_fetch_and_add(&grant->stripped[at], packets);
}

/* Tells that the packet in the scratch is stripped, although it is in no flow's record. */
__noinline int tell_untracked(void)
{
	struct tagged_packet *p = tagged();

	if (p)
		tell_stripped(p->facts.key.saddr, p->facts.encapsulation, p->facts.count);
	return 0;
}

/* Tells how many packets of the flow in the scratch were lost; less than none if some arrived after all. */
__noinline int tell_lost(__s32 lost)
{
	struct tagged_packet *p = tagged();
	struct sink_grant *grant;

	if (!p)
		return 0;
	grant = bpf_map_lookup_elem(&sink_grants, p->facts.key.saddr);
	if (grant)
		__sync_fetch_and_add(&grant->lost, (__s64)lost);
	return 0;
}

/* At most one packet in 32 of a flow is untold, whenever the flow ends. */
static __always_inline bool is_telling_due(const struct sink_flow *f)
{
	return (__u32)all_packets(f) - f->told_packets > f->told_packets >> 5;
}

/* Tells those packets of the flow in the scratch that were not told yet. */
__noinline int tell_flow_packets(void)
{
	struct tagged_packet *p = tagged();
	__u32 packets, untold;
	struct sink_flow *f;

	if (!p)
		return 0;
	f = bpf_map_lookup_elem(&sink_flows, &p->facts.key);
	if (!f)
		return 0;
	/* Each packet is told by one CPU only. */
	bpf_spin_lock(&f->lock);
	packets = all_packets(f);
	untold = packets - f->told_packets;
	f->told_packets = packets;
	bpf_spin_unlock(&f->lock);
	tell_stripped(p->facts.key.saddr, f->encapsulation & ~FLOW_HAD_HOPS, untold);
	return 0;
}

#endif
