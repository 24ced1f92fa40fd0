/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The straight way at TC: the kernel moves the front, then all restored headers are stored over it at once. */
#ifndef HOSTINT_SINK_STRAIGHT_SKB_H
#define HOSTINT_SINK_STRAIGHT_SKB_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "sink/settings.h"
#include "sink/straight.h"
#include "sink/straight_read.h"
#include "sink/straight_restore.h"
#include "sink/straight_xdp.h"
#include "sink/tagged.h"

/*
 * All headers are stored afterwards, so it does not matter which of them the kernel moves. Some CPUs are slow at copying
 * bytes over a short distance, so it moves few; but it moves IPv6, which is longer than that distance, in another way,
 * which is quick.
 */
static __always_inline __u32 cheapest_room(const __u8 family)
{
	return family == 4 ? BPF_ADJ_ROOM_MAC : BPF_ADJ_ROOM_NET;
}

/* The headers are computed before the room goes, because no pointer into the packet is good after it. */
static __always_inline enum straight shrink(struct __sk_buff *ctx, __u32 by, __u32 mode, __u64 flags,
					    const struct straight_words *restored, const __u32 words)
{
	if (bpf_skb_adjust_room(ctx, -(__s32)by, mode, flags))
		return STRAIGHT_NO_ROOM;
	return put_bytes(ctx, ETH_HLEN, restored, words * 4) ? STRAIGHT_BROKE : STRAIGHT_DONE;
}

static __always_inline enum straight shrink_over(struct __sk_buff *ctx, void *data, void *end, const __u8 family,
						 const bool tcp)
{
	const __u32 words = (family == 4 ? IP4_WORDS : IP6_WORDS) + (tcp ? TCP_BASE_LEN : UDP_LEN) / 4;
	struct straight_words restored;

	if (data + ETH_HLEN + words * 4 + INT_BLOCK_LEN > end)
		return STRAIGHT_NO_ROOM;
	restore_over_words(data, &restored, family, tcp);
	return shrink(ctx, INT_BLOCK_LEN, cheapest_room(family), 0, &restored, words);
}

static __always_inline enum straight shrink_straight(struct __sk_buff *ctx, void *data, void *end,
						     const struct tagged_packet *p, const __u8 family)
{
	const __u32 words = family == 4 ? IP4_WORDS : IP6_WORDS;
	__u32 by = words * 4 + GPE_ROOM + (p->grown & 4);
	struct straight_words restored;
	void *inner;

	if (p->facts.encapsulation == ENCAP_OVER_TCP_UDP)
		return p->l4_len == TCP_BASE_LEN ? shrink_over(ctx, data, end, family, true) :
						   shrink_over(ctx, data, end, family, false);
	if (data + ETH_HLEN + words * 4 > end)
		return STRAIGHT_NO_ROOM;
	if (p->facts.encapsulation == ENCAP_EXTENSION_UDP) {
		restore_extension_words(data, &restored, p->facts.key.layers, family);
		return shrink(ctx, EXTENSION_LEN, cheapest_room(family), 0, &restored, words);
	}
	inner = data + by;
	barrier_var(inner);
	inner += ETH_HLEN;
	if (inner + words * 4 > end)
		return STRAIGHT_NO_ROOM;
	restore_gpe_words(data, inner, &restored, family);
	return shrink(ctx, by, BPF_ADJ_ROOM_MAC, ctx->gso_size ? BPF_F_ADJ_ROOM_FIXED_GSO : 0, &restored, words);
}

/* Returns enum straight. The frame's length is in the scratch. */
__noinline int straight_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();
	void *data, *end;

	if (!set || !p || ctx->vlan_present ||
	    !read_straight((void *)(long)ctx->data, (void *)(long)ctx->data_end, set, p))
		return STRAIGHT_NOT;
	/* These are several packets in one, each with an INT block, that were merged on the path. */
	if (ctx->gso_size && p->facts.encapsulation != ENCAP_VXLAN_GPE)
		return STRAIGHT_NOT;
	if (!account_straight(p, set, ctx->ifindex))
		return STRAIGHT_NOT;
	/* When they are read anew, the verifier forgets which of the headers was read before. */
	barrier();
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	return p->at.family == 4 ? shrink_straight(ctx, data, end, p, 4) : shrink_straight(ctx, data, end, p, 6);
}

#endif
