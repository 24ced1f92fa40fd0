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
#include "int/slots.h"
#include "sink/grants.h"
#include "sink/home_cpu.h"
#include "sink/tagged.h"

/* Tells of packets that are stripped, of the sender and in the form of that in the scratch. Prefixes have no grant. */
__noinline int tell_stripped(__u32 packets)
{
	struct tagged_packet *p = tagged();
	struct sink_grant *grant;
	__u32 at;

	if (!p)
		return 0;
	grant = bpf_map_lookup_elem(&sink_grants, p->facts.key.saddr);
	at = lease_slot(p->facts.encapsulation, p->facts.key.layers);
	if (grant)
		add_packets_at(grant->stripped, at, packets);
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

/* Takes the packets that were not reported yet; each is reported by one CPU only. */
static __always_inline __u32 take_untold_packets(struct sink_flow *f, bool locked)
{
	__u32 packets, told;

	if (locked) {
		bpf_spin_lock(&f->lock);
		packets = all_packets(f);
		told = f->told_packets;
		f->told_packets = packets;
		bpf_spin_unlock(&f->lock);
		return packets - told;
	}
	/* If another CPU is faster, it may not have seen the last packets. */
	for (int i = 0; i < 4; i++) {
		told = *(volatile __u32 *)&f->told_packets;
		packets = all_packets(f);
		if ((__s32)(packets - told) <= 0)
			return 0;
		if (__sync_val_compare_and_swap(&f->told_packets, told, packets) == told)
			return packets - told;
	}
	return 0;
}

/* Reports those packets of the flow in the scratch that were not reported yet. */
static __always_inline void tell_flow_packets(struct sink_flow *f, bool locked)
{
	__u32 untold = take_untold_packets(f, locked);

	if (untold)
		tell_stripped(untold);
}

#endif
