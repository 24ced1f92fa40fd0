/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts tagged packets by pair and class, many at a time: a packet pays for a look at its flow's record. */
#ifndef HOSTINT_SOURCE_TAGGED_H
#define HOSTINT_SOURCE_TAGGED_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/source_flow.h"
#include "source/counters.h"
#include "source/missed.h"
#include "source/outgoing.h"

enum {
	MOST_UNCOUNTED = 64, /* packets of a flow, whenever it pauses or ends */
};

/*
 * Says whether the packets since the last time are to be added. Each of a flow's first 32 packets is, so that short
 * flows lack none, and the last one of a connection brings what is left.
 */
static __always_inline bool is_count_due(const struct outgoing_packet *p, const struct source_flow *f)
{
	__u32 to = f->counted_to, more = f->sequence - to;

	return more > to >> 5 || more > MOST_UNCOUNTED || (is_tcp(p) && p->l4.tcp.flags & (TCP_FIN | TCP_RST));
}

/* Takes the packets since the last time, and their bytes; another CPU may do so, too. */
static __always_inline __u32 take_uncounted(struct source_flow *f, bool locked, __u32 *bytes)
{
	__u32 to, sequence;

	if (locked) {
		bpf_spin_lock(&f->lock);
		to = f->counted_to;
		sequence = f->sequence;
		if ((__s32)(sequence - to) > 0) {
			f->counted_to = sequence;
			*bytes = f->uncounted_bytes;
			__sync_fetch_and_sub(&f->uncounted_bytes, *bytes);
		}
		bpf_spin_unlock(&f->lock);
	} else {
		to = f->counted_to;
		sequence = f->sequence;
		if ((__s32)(sequence - to) > 0 && __sync_val_compare_and_swap(&f->counted_to, to, sequence) != to)
			return 0;
		if ((__s32)(sequence - to) > 0)
			*bytes = __sync_lock_test_and_set(&f->uncounted_bytes, 0);
	}
	return (__s32)(sequence - to) > 0 ? sequence - to : 0;
}

/* Adds packets of the flow of the packet in the scratch. */
__noinline int add_tagged(__u32 packets, __u32 bytes)
{
	struct outgoing_packet *p = outgoing();

	if (p)
		add_to_pair(p, COUNT_SOURCE_TAGGED, packets, bytes);
	return 0;
}

/* Counts a packet that is tagged, and has its number. bytes is what ip_bytes() says of it. */
static __always_inline void count_tagged(const struct outgoing_packet *p, struct source_flow *f, __u32 bytes,
					 bool locked)
{
	__u32 packets, uncounted = 0;

	count_source(COUNT_SOURCE_TAGGED, p->segments, p->frame_len);
	if (p->segments > 1)
		count_source(COUNT_SOURCE_MERGED, p->segments - 1, 0);
	__sync_fetch_and_add(&f->uncounted_bytes, bytes);
	if (!is_count_due(p, f))
		return;
	packets = take_uncounted(f, locked, &uncounted);
	if (packets)
		add_tagged(packets, uncounted);
}

#endif
