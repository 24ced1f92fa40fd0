/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tells a packet that a guest or container of this host gave back from one that is on its way through the host. */
#ifndef HOSTINT_TRANSIT_CAME_BACK_H
#define HOSTINT_TRANSIT_CAME_BACK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "transit/arrivals.h"
#include "transit/passing.h"

/* Leaves the low 32 bits of the time at which the packet departed by its newest entry. Returns false if that is unknown. */
static __always_inline bool departed_before(struct __sk_buff *ctx, const struct passing_packet *p, __u32 *departed)
{
	__u32 at = p->at.l4 + p->l4_len + p->head_len;
	__be32 entry[GPE_PATH_WORDS];

	if (p->entry_len == INT_HOP_LEN) {
		if (bpf_skb_load_bytes(ctx, at, entry, INT_HOP_LEN))
			return false;
		*departed = bpf_ntohl(entry[3]);
		return entry[3] != UNKNOWN_WORD;
	}
	/* The time of arrival, which stands last, and what it took. */
	if (p->entry_len == GPE_HOP_WORDS * 4 && p->had_budget) {
		if (bpf_skb_load_bytes(ctx, at, entry, GPE_HOP_WORDS * 4))
			return false;
		*departed = bpf_ntohl(entry[4]) + bpf_ntohl(entry[2]);
		return entry[2] != UNKNOWN_WORD;
	}
	if (p->entry_len != sizeof(entry) || bpf_skb_load_bytes(ctx, at, entry, sizeof(entry)))
		return false;
	*departed = bpf_ntohl(entry[5]) + bpf_ntohl(entry[2]);
	return entry[2] != UNKNOWN_WORD;
}

/*
 * The newest entry is this host's. The packet came back if it arrived after it departed by that entry; between a bridge and
 * its port, say, it only departs again.
 */
static __always_inline bool came_back_to(struct __sk_buff *ctx, const struct passing_packet *p, __u64 now)
{
	__u64 arrived;
	__u32 departed;

	if (p->is_unnumbered || p->source_node == p->newest_node)
		return false;
	arrived = arrival_of(p, now);
	return arrived && departed_before(ctx, p, &departed) && (__s32)((__u32)arrived - departed) > 0;
}

#endif
