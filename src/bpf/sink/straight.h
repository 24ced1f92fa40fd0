/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Accounts for nearly all tagged packets in one step: those of a known flow whose sender is allowed, with the next numbers
 * and no news. Everything is checked before anything changes; any other packet takes the general way (sink/account.h),
 * which finds all as it was. What is changed is what the general way would change.
 */
#ifndef HOSTINT_SINK_STRAIGHT_H
#define HOSTINT_SINK_STRAIGHT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/sink_flow.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "sink/arrival.h"
#include "sink/crossing.h"
#include "sink/fine_slots.h"
#include "sink/flow_table.h"
#include "sink/flow_update.h"
#include "sink/home_cpu.h"
#include "sink/minima.h"
#include "sink/permission.h"
#include "sink/tagged.h"
#include "sink/witness.h"

/* Says whether a report may be due once the packet is counted. */
static __always_inline bool brings_news(const struct sink_flow *f, const struct sink_settings *set,
					const struct arrival_facts *a)
{
	return is_news(f, set, a->now, 0, smoothed(f, a->latency_ns), a->wire_bytes);
}

/* Accounts for the packet in the scratch, which was read; returns false, and has changed nothing, if it is not that easy. */
static __always_inline bool account_straight(struct tagged_packet *p, const struct sink_settings *set, __u32 ifindex)
{
	const struct host_settings *host = get_host_settings();
	struct arrival_facts *a = &p->facts;
	struct sink_flow *f;

	if (!host)
		return false;
	f = bpf_map_lookup_elem(&sink_flows, &a->key);
	if (!f || !find_permission(f, p, false))
		return false;
	a->now = now_ns(host);
	a->latency_ns = kernel_latency(a);
	a->ifindex = ifindex;
	a->home_cpu = this_home_cpu();
	a->path = 0;
	if (may_be_minimum(a) || brings_news(f, set, a) || is_younger(f, a) || !take_in_order(f, set, a))
		return false;
	count_latency(f, a->latency_ns, a->count);
	add_packet(f, a, false, false);
	if (p->had_budget) {
		p->bad_segment = 0;
		note_received(ifindex);
	}
	if (p->allowed_ns)
		remember_allowed(f, p->allowed_ns, p->allowed_serial);
	if (p->allowed_ns || is_telling_due(f))
		tell_flow_packets(f, false);
	return true;
}

#endif
