/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts for each lease the packets that were tagged, by encapsulation. The daemon compares that with what the sink
 * counts, so the counts must not lag behind, even if a flow pauses or ends.
 */
#ifndef HOSTINT_LEASE_TELLING_H
#define HOSTINT_LEASE_TELLING_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "hostint/source_flow.h"
#include "int/slots.h"
#include "lease/pairs.h"
#include "source/outgoing.h"

/* At most one packet in 32 of a flow is untold, whenever it pauses or ends. The sink has the same rule. */
static __always_inline bool is_lease_behind(const struct source_flow *f)
{
	__s32 untold = f->sequence - f->told;

	return is_own_form(f->form) && untold > 0 && (__u32)untold > f->told >> 5;
}

/* Takes the packets that were tagged since the lease was told about them; another CPU may do so at the same time. */
static __always_inline void take_untold(struct outgoing_packet *p, struct source_flow *f, bool locked)
{
	__u32 told, sequence;

	p->untold = 0;
	if (!is_own_form(f->form))
		return;
	p->told_as = lease_slot(f->form, p->at.protocol);
	if (locked) {
		bpf_spin_lock(&f->lock);
		told = f->told;
		sequence = f->sequence;
		if ((__s32)(sequence - told) > 0)
			f->told = sequence;
		bpf_spin_unlock(&f->lock);
	} else {
		told = f->told;
		sequence = f->sequence;
		if ((__s32)(sequence - told) > 0 && __sync_val_compare_and_swap(&f->told, told, sequence) != told)
			return;
	}
	if ((__s32)(sequence - told) > 0)
		p->untold = sequence - told;
}

/* Adds the first packet of a flow to the counts of its lease: most flows of some protocols have no other. */
__noinline int tell_first(void)
{
	struct outgoing_packet *p = outgoing();
	struct source_lease *lease;

	if (!p)
		return 0;
	lease = bpf_map_lookup_elem(&source_leases, &p->key);
	if (lease)
		add_packets_at(lease->tagged, lease_slot(p->form, p->at.protocol), p->segments);
	return 0;
}

#endif
