/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Measures a tagged packet, and reads it to its end where that is needed to know what its checksum proves. */
#ifndef HOSTINT_SINK_MEASURE_H
#define HOSTINT_SINK_MEASURE_H

#include "kernel/kernel.h"
#include "sink/account.h"
#include "sink/crossing.h"
#include "sink/pushers.h"
#include "sink/tagged.h"
#include "sink/whole_sum.h"

__noinline int add_chunks_xdp(struct xdp_md *ctx)
{
	struct tagged_packet *p = tagged();

	return p && add_chunks((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
}

__noinline int add_last_xdp(struct xdp_md *ctx)
{
	struct tagged_packet *p = tagged();

	return p && add_last((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
}

/* Merged packets are not stripped, so they are not added up either. */
__noinline int add_chunks_skb(struct __sk_buff *ctx)
{
	struct tagged_packet *p = tagged();

	return p && !ctx->gso_size && !bpf_skb_pull_data(ctx, ctx->len) &&
	       add_chunks((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
}

__noinline int add_last_skb(struct __sk_buff *ctx)
{
	struct tagged_packet *p = tagged();

	return p && add_last((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
}

static __always_inline bool add_up(void *ctx, struct tagged_packet *p, bool xdp)
{
	if (xdp ? !add_chunks_xdp(ctx) || !add_last_xdp(ctx) : !add_chunks_skb(ctx) || !add_last_skb(ctx))
		return false;
	find_leftovers(p);
	return true;
}

/*
 * Accounts for the packet, learns from its hops' entries, and verifies its checksum if its number is doubtful. Nothing is
 * learned from senders that are not allowed to tag packets. Returns as account().
 */
static __always_inline __u32 measure(void *ctx, __u32 ifindex, struct tagged_packet *p, bool xdp, bool locked)
{
	__u32 reasons, known;

	if (p->had_budget)
		note_received(ifindex);
	reasons = locked ? account_locked(ifindex) : account(ifindex);
	if (p->hops && !(reasons & ACCOUNT_NOT_ALLOWED)) {
		known = recall_pushers(p);
		if (known != PUSHERS_KNOWN && add_up(ctx, p, xdp))
			learn_pushers(p, known);
	}
	if (!(reasons & ACCOUNT_DOUBTED))
		return reasons;
	prove_number(p, add_up(ctx, p, xdp));
	return locked ? account_locked(ifindex) : account(ifindex);
}

#endif
