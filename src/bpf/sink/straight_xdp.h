/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The straight way at XDP: the restored headers are written once, where they are to be. */
#ifndef HOSTINT_SINK_STRAIGHT_XDP_H
#define HOSTINT_SINK_STRAIGHT_XDP_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/headers.h"
#include "sink/settings.h"
#include "sink/straight.h"
#include "sink/straight_read.h"
#include "sink/straight_restore.h"
#include "sink/tagged.h"

/* What became of the packet. */
enum straight {
	STRAIGHT_NOT,     /* nothing changed: it takes the general way */
	STRAIGHT_DONE,    /* it is accounted for, and stripped */
	STRAIGHT_NO_ROOM, /* it is accounted for, and the kernel refused to resize it */
	STRAIGHT_BROKE,   /* the same, after a first change */
};

/* The Ethernet header moves up by this; it does not reach the place where it comes from. */
static __always_inline void move_ethernet(void *data, void *to)
{
	*(__u64 *)to = *(__u64 *)data;
	*(__u32 *)(to + 8) = *(__u32 *)(data + 8);
	*(__u16 *)(to + 12) = *(__u16 *)(data + 12);
}

static __always_inline void write_words(void *at, const struct straight_words *from, const __u32 words)
{
#pragma unroll
	for (__u32 i = 0; i < words; i++)
		*(__u32 *)(at + 4 * i) = from->word[i];
}

static __always_inline bool pull_over(void *data, void *end, const __u8 family, const bool tcp)
{
	const __u32 words = (family == 4 ? IP4_WORDS : IP6_WORDS) + (tcp ? TCP_BASE_LEN : UDP_LEN) / 4;
	struct straight_words restored;

	if (data + ETH_HLEN + words * 4 + INT_BLOCK_LEN > end)
		return false;
	restore_over_words(data, &restored, family, tcp);
	write_words(data + INT_BLOCK_LEN + ETH_HLEN, &restored, words);
	move_ethernet(data, data + INT_BLOCK_LEN);
	return true;
}

static __always_inline bool pull_extension(void *data, void *end, __u8 protocol, const __u8 family)
{
	const __u32 words = family == 4 ? IP4_WORDS : IP6_WORDS;
	struct straight_words restored;

	if (data + ETH_HLEN + words * 4 + EXTENSION_LEN > end)
		return false;
	restore_extension_words(data, &restored, protocol, family);
	write_words(data + EXTENSION_LEN + ETH_HLEN, &restored, words);
	move_ethernet(data, data + EXTENSION_LEN);
	return true;
}

static __always_inline bool pull_gpe(void *data, void *end, __u32 by, const __u8 family)
{
	const __u32 words = family == 4 ? IP4_WORDS : IP6_WORDS;
	struct straight_words restored;
	void *to = data + (by & 0x7f), *inner;

	barrier_var(to);
	inner = to + ETH_HLEN;
	if (data + ETH_HLEN + words * 4 > end || inner + words * 4 > end)
		return false;
	restore_gpe_words(data, inner, &restored, family);
	write_words(inner, &restored, words);
	move_ethernet(data, to);
	return true;
}

/* Writes the headers, and returns by how much the packet becomes shorter; 0: it cannot. */
static __always_inline __u32 pull_straight(void *data, void *end, const struct tagged_packet *p, const __u8 family)
{
	const bool tcp = p->l4_len == TCP_BASE_LEN;
	__u32 by;

	switch (p->facts.encapsulation) {
	case ENCAP_OVER_TCP_UDP:
		return (tcp ? pull_over(data, end, family, true) : pull_over(data, end, family, false)) ?
			       INT_BLOCK_LEN :
			       0;
	case ENCAP_EXTENSION_UDP:
		return pull_extension(data, end, p->facts.key.layers, family) ? EXTENSION_LEN : 0;
	default:
		by = (family == 4 ? IP4_LEN : IP6_LEN) + GPE_ROOM + p->grown;
		return pull_gpe(data, end, by, family) ? by : 0;
	}
}

/* Returns enum straight. The frame's length is in the scratch. */
__noinline int straight_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();
	void *data, *end;
	__u32 by;

	if (!set || !p || !read_straight((void *)(long)ctx->data, (void *)(long)ctx->data_end, set, p) ||
	    !account_straight(p, set, ctx->ingress_ifindex))
		return STRAIGHT_NOT;
	/* When they are read anew, the verifier forgets which of the headers was read before. */
	barrier();
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	by = p->at.family == 4 ? pull_straight(data, end, p, 4) : pull_straight(data, end, p, 6);
	return by && !bpf_xdp_adjust_head(ctx, by) ? STRAIGHT_DONE : STRAIGHT_NO_ROOM;
}

#endif
