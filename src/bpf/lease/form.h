/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the form of a packet's flow: that of its record, or the one that its lease lets it have (lease/settle.h). */
#ifndef HOSTINT_LEASE_FORM_H
#define HOSTINT_LEASE_FORM_H

#include "kernel/kernel.h"
#include "kernel/ordered.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease_table.h"
#include "hostint/source_flow.h"
#include "kernel/clock.h"
#include "lease/pairs.h"
#include "lease/telling.h"
#include "lease/settle.h"
#include "source/attachment.h"
#include "source/budget.h"
#include "source/counters.h"
#include "source/flow_begin.h"
#include "source/flow_table.h"
#include "source/missed.h"
#include "source/outgoing.h"
#include "watch/list.h"

enum {
	LOOK_AGAIN_NS = 250000000, /* a flow looks at its lease at least this often */
};

static __always_inline void note_unseen_turn(const struct outgoing_packet *p, struct source_lease *lease)
{
	lease->unseen_turns |= 1U << (p->now_ns >> LEASE_TURN_SHIFT & (LEASE_TURNS - 1));
}

/* Notes that a packet in options was tagged that the sink counts at once. */
__noinline int note_unseen(void)
{
	struct outgoing_packet *p = outgoing();
	struct source_lease *lease;

	if (!p)
		return 0;
	lease = bpf_map_lookup_elem(&source_leases, &p->key);
	if (lease)
		note_unseen_turn(p, lease);
	return 0;
}

/*
 * Notes that a packet is tagged that the sink counts at once. Flows look at such a lease often, so that it shows soon. Whether
 * a packet has room for options is not known yet.
 */
static __always_inline void note_look(struct outgoing_packet *p, struct source_lease *lease)
{
	__u64 unseen_ns = lease->vouched_ns - (LEASE_VOUCH_NS - LEASE_TOLD_NS);

	if (!is_own_form(p->form))
		return;
	if (lease->vouched_ns && p->now_ns < unseen_ns) {
		if (p->leased_ns > unseen_ns)
			p->leased_ns = unseen_ns;
		return;
	}
	if (p->form == ENCAP_OPTIONS)
		p->is_unseen = true;
	else
		note_unseen_turn(p, lease);
	if (p->leased_ns > p->now_ns + (1U << LEASE_TURN_SHIFT))
		p->leased_ns = p->now_ns + (1U << LEASE_TURN_SHIFT);
}

/* A pair's entry before anything is known. */
static const struct source_lease no_lease;

/*
 * Looks up the lease of the packet in the scratch, and leaves there which form the flow has from now on, and until
 * when. The daemon sees from wanted_ns that the lease is needed; a new pair makes it ask the sink for a lease.
 */
__noinline int settle_form(void)
{
	struct outgoing_packet *p = outgoing();
	struct source_lease *lease;

	if (!p)
		return 0;
	p->leased_ns = 0;
	p->reason = COUNT_SOURCE_MAX;
	lease = bpf_map_lookup_elem(&source_leases, &p->key);
	if (!lease) {
		if (bpf_map_update_elem(&source_leases, &p->key, &no_lease, BPF_NOEXIST))
			count_source(COUNT_SOURCE_LEASE_FULL, 1, 0);
		lease = bpf_map_lookup_elem(&source_leases, &p->key);
		if (lease)
			lease->wanted_ns = p->now_ns;
		settle_without_lease(p);
		return 0;
	}
	lease->wanted_ns = p->now_ns;
	p->longest = lease->longest;
	p->stack = most_entries(lease);
	if (p->untold)
		add_packets_at(lease->tagged, p->told_as, p->untold);
	if (p->now_ns >= lease->until_ns) {
		settle_without_lease(p);
		return 0;
	}
	p->leased_ns = p->now_ns + LOOK_AGAIN_NS;
	if (p->leased_ns > lease->until_ns)
		p->leased_ns = lease->until_ns;
	settle_with_lease(p, lease->ways, lease->proved_ns, lease->asked_shift);
	note_look(p, lease);
	return 0;
}

/* The form changes; a SYN has begun another connection if the flow begins. */
static __always_inline void resettle(const struct host_settings *host, const struct outgoing_packet *p,
				     struct source_flow *f, bool begins)
{
	bool was_untagged = f->form == FLOW_UNTAGGED && !f->created_ns;

	/* What went to a static destination is in no lease's counts. */
	if (!is_own_form(f->form) && is_own_form(p->form))
		f->told = f->sequence;
	/* The flow did not follow its data meanwhile. */
	if (is_tcp(p) && f->form == FLOW_UNTAGGED && p->form == ENCAP_IOAM)
		f->tcp_end = bpf_ntohl(p->l4.tcp.seq);

	if (begins) {
		begin_flow(p, f);
	} else {
		f->form = p->form;
		f->left = p->left;
		f->longest = p->longest;
		f->stack = p->stack;
	}
	f->leased_ns = p->leased_ns;
	f->leases_serial = p->leases_serial;
	if (p->form == FLOW_UNTAGGED) {
		f->open = 0;
		f->last_ns = now_ns(host);
	} else if (was_untagged && p->form != FLOW_UNDECIDED) {
		count_source(COUNT_SOURCE_FLOW_NEW, 1, 0);
	}
}

/* Remembers a flow that stays untagged. Without room for it, it is settled anew at each packet. */
static __always_inline bool add_untagged(const struct outgoing_packet *p, __u64 now, bool counted)
{
	struct source_flow begun = {};

	begin_flow(p, &begun);
	begun.last_ns = now;
	begun.counted = counted;
	return !bpf_map_update_elem(&source_flows, &p->key, &begun, BPF_NOEXIST);
}

static __always_inline __u32 reason_of(const struct outgoing_packet *p, const struct source_flow *f)
{
	if (p->reason != COUNT_SOURCE_MAX)
		return p->reason;
	switch (p->left) {
	case LEFT_BEGAN_BEFORE:
		return COUNT_SOURCE_BEGAN_BEFORE_LEASE;
	case LEFT_GUARD:
		return COUNT_SOURCE_GUARDED;
	case LEFT_NO_WAY:
		/* Was it tagged before? */
		return f && f->created_ns ? COUNT_SOURCE_LEFT : COUNT_SOURCE_UNPROVED;
	default:
		return COUNT_SOURCE_LEFT;
	}
}

/* Counts a packet that stays untagged because of its flow's form or lease. */
static __always_inline void count_formless(const struct host_settings *host, const struct outgoing_packet *p,
					   struct source_flow *f)
{
	__u32 reason = reason_of(p, f);
	bool before = reason == COUNT_SOURCE_BEGAN_BEFORE_LEASE;

	count_missed(reason, p->segments > 1 ? p->segments : 1, p->frame_len);
	if (!f) {
		before = p->form == FLOW_UNTAGGED && add_untagged(p, now_ns(host), before) && before;
	} else if (before) {
		before = !f->counted;
		f->counted = 1;
	}
	if (before)
		count_source(COUNT_SOURCE_FLOW_BEGAN_BEFORE_LEASE, 1, 0);
}

/*
 * Says whether superpackets of UDP reach the sink segment by segment. A sink that strips one whole leaves it marked as
 * tunnelled, and the kernel, which has to split it for the socket then, looks for the outer headers, finds none and
 * drops it. Nothing is known of static destinations, which are the user's decision.
 */
static __always_inline bool gets_segments(const struct outgoing_packet *p)
{
	const struct source_lease *lease;

	if (p->watching.watched == WATCHED_STATIC)
		return true;
	lease = bpf_map_lookup_elem(&source_leases, &p->key);
	return lease && lease->segments;
}

/* Finds the flow's form; f is its record, if there is one. Returns false if the packet stays untagged. */
static __always_inline bool find_form(const struct host_settings *host, struct outgoing_packet *p,
				      struct source_flow *f, bool locked)
{
	bool begins;

	p->reason = COUNT_SOURCE_MAX;
	p->leased_ns = 0;
	p->longest = 0;
	p->stack = 0;
	p->left = LEFT_NOT;
	p->begins = false;
	p->is_unseen = false;
	if (p->watching.watched == WATCHED_STATIC) {
		p->form = FLOW_MIXED;
		if (f && !f->form)
			f->form = FLOW_MIXED;
		/* Whoever takes INT-MD out reads stacks, but perhaps not of the items that the user wants. */
		if (encapsulation == ENCAP_INT_MD && !without_queue)
			p->stack = max_hops + 1;
		return true;
	}
	p->now_ns = coarse_ns();
	/* The SYN of a connection is repeated with the same sequence number, that of the next connection has another. */
	begins = !f || !f->form || (is_tcp(p) && p->l4.tcp.flags & TCP_SYN && bpf_ntohl(p->l4.tcp.seq) != f->repeated);
	p->begins = begins;
	p->form = begins ? FLOW_UNDECIDED : f->form;
	if (!begins) {
		p->left = f->left;
		p->stack = f->stack;
		if (p->now_ns < f->leased_ns && f->leases_serial == leases_serial() && !is_lease_behind(f))
			return p->form != FLOW_UNTAGGED;
	}
	p->untold = 0;
	if (f)
		take_untold(p, f, locked);
	p->leases_serial = leases_serial();
	/* What changes from here on changes the serial, too. */
	if (locked)
		barrier();
	else
		ordered_fence(&p->fence);
	settle_form();
	if (f)
		resettle(host, p, f, begins);
	return p->leased_ns && p->form != FLOW_UNTAGGED && p->form != FLOW_UNDECIDED;
}

#endif
