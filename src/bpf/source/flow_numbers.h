/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers the packets of a flow, beginning with 1. */
#ifndef HOSTINT_SOURCE_FLOW_NUMBERS_H
#define HOSTINT_SOURCE_FLOW_NUMBERS_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "hostint/source_flow.h"
#include "source/counters.h"
#include "source/flow_begin.h"
#include "source/flow_table.h"
#include "source/outgoing.h"

struct flow_number {
	__u32 sequence;
	__u8 age_code; /* 0: the age is not stated */
};

static __always_inline __u8 flow_age_code(__u64 age_ns)
{
	__u64 units = age_ns >> FLOW_AGE_SHIFT;
	__u8 code = 1;

	for (int i = 0; i < INT_FLOW_AGE; i++) {
		if (!units)
			return code;
		units >>= 1;
		code++;
	}
	return 0;
}

/* Returns NULL if the table is full. */
static __always_inline struct source_flow *add_source_flow(const struct outgoing_packet *p)
{
	struct source_flow begun = {};

	begin_flow(p, &begun);
	/* If another CPU was faster, its record is used. */
	if (!bpf_map_update_elem(&source_flows, &p->key, &begun, BPF_NOEXIST))
		count_source(COUNT_SOURCE_FLOW_NEW, 1, 0);
	return bpf_map_lookup_elem(&source_flows, &p->key);
}

/* Takes count numbers and fills in the first. locked is for kernels without fetching atomics (before 5.12). */
static __always_inline void next_numbers(struct source_flow *f, __u32 count, __u64 now, bool locked,
					 struct flow_number *number)
{
	__u64 created;

	if (locked) {
		bpf_spin_lock(&f->lock);
		number->sequence = f->sequence + 1;
		f->sequence += count;
		if (!f->created_ns) /* not whenever the number is 1: numbers wrap, but a flow begins once */
			f->created_ns = now;
		created = f->created_ns;
		bpf_spin_unlock(&f->lock);
	} else {
		number->sequence = __sync_fetch_and_add(&f->sequence, count) + 1;
		created = f->created_ns;
		if (!created)
			created = __sync_val_compare_and_swap(&f->created_ns, 0, now) ?: now;
	}
	f->last_ns = now;

	number->age_code = 0;
	if (number->sequence - 1 < FLOW_AGE_PACKETS && now >= created)
		number->age_code = flow_age_code(now - created);
}

#endif
