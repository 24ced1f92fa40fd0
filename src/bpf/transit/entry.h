/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the transit hop's own entry: what the packet's instruction bitmap asks for, all ones where it is unknown. */
#ifndef HOSTINT_TRANSIT_ENTRY_H
#define HOSTINT_TRANSIT_ENTRY_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "kernel/features.h"
#include "transit/arrivals.h"
#include "transit/passing.h"

/* Returns queue 0 and the packets in the root queue, which are 0 for qdiscs that count on each CPU separately. */
static __always_inline __be32 queue_word(struct __sk_buff *ctx)
{
	struct sk_buff *skb;

	if (!have_kernel_ctx)
		return UNKNOWN_WORD;
	skb = bpf_cast_to_kern_ctx(ctx);
	return bpf_htonl(skb->dev->qdisc->q.qlen & 0xffffff);
}

static __always_inline __be32 ports_word(struct __sk_buff *ctx)
{
	return bpf_htonl((ctx->ingress_ifindex & 0xffff) << 16 | (ctx->ifindex & 0xffff));
}

static __always_inline void fill_gpe_entry(struct __sk_buff *ctx, struct passing_packet *p, __u64 arrived, __u64 now)
{
	__be32 *entry = p->entry, high = arrived ? bpf_htonl(arrived >> 32) : UNKNOWN_WORD;
	__be32 low = arrived ? bpf_htonl((__u32)arrived) : UNKNOWN_WORD;
	__be32 latency = arrived ? bpf_htonl((__u32)(now - arrived)) : UNKNOWN_WORD;

	if (p->entry_len == GPE_PATH_WORDS * 4) {
		entry[2] = latency;
		entry[3] = queue_word(ctx);
		entry[4] = high;
		entry[5] = low;
	} else {
		entry[2] = p->had_budget ? latency : queue_word(ctx);
		entry[3] = high;
		entry[4] = low;
		entry[5] = 0;
	}
}

static __always_inline void add_word(struct passing_packet *p, __be32 word)
{
	p->entry[p->filled++ & 0x1f] = word;
}

/* What this host does not know, and what it does not understand, is all ones. */
static __always_inline void fill_md_entry(struct __sk_buff *ctx, const struct host_settings *host,
					  struct passing_packet *p, __u64 arrived, __u64 now)
{
	__builtin_memset(p->entry, 0xff, sizeof(p->entry));
	p->filled = 0;
	if (p->bitmap & INT_MD_NODE)
		add_word(p, bpf_htonl(host->node_id));
	if (p->bitmap & INT_MD_PORTS)
		add_word(p, ports_word(ctx));
	if (p->bitmap & INT_MD_LATENCY)
		add_word(p, arrived ? bpf_htonl((__u32)(now - arrived)) : UNKNOWN_WORD);
	if (p->bitmap & INT_MD_QUEUE)
		add_word(p, queue_word(ctx));
	if (p->bitmap & INT_MD_INGRESS) {
		add_word(p, arrived ? bpf_htonl(arrived >> 32) : UNKNOWN_WORD);
		add_word(p, arrived ? bpf_htonl((__u32)arrived) : UNKNOWN_WORD);
	}
	if (p->bitmap & INT_MD_EGRESS) {
		add_word(p, bpf_htonl(now >> 32));
		add_word(p, bpf_htonl((__u32)now));
	}
}

/* In INT v0.5 and vxlan-gpe. */
static __always_inline void fill_own_entry(struct __sk_buff *ctx, const struct host_settings *host,
					   struct passing_packet *p)
{
	__u64 now = p->left_ns, arrived = arrival_of(p, now);

	p->is_arrival_known = !!arrived;
	p->entry[0] = bpf_htonl(host->node_id);
	p->entry[1] = ports_word(ctx);
	if (p->is_gpe) {
		fill_gpe_entry(ctx, p, arrived, now);
		return;
	}
	p->entry[2] = arrived ? bpf_htonl((__u32)arrived) : UNKNOWN_WORD;
	p->entry[3] = bpf_htonl((__u32)now);
	p->entry[4] = p->entry[5] = 0;
}

static __always_inline void fill_entry(struct __sk_buff *ctx, const struct host_settings *host,
				       struct passing_packet *p)
{
	__u64 now = p->left_ns, arrived;

	if (!p->is_md) {
		fill_own_entry(ctx, host, p);
		return;
	}
	arrived = p->is_unnumbered ? claim_arrival(p, now) : arrival_of(p, now);
	p->is_arrival_known = !!arrived;
	fill_md_entry(ctx, host, p, arrived, now);
}

#endif
