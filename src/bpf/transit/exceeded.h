/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Says in a packet that a transit hop had no budget (E) or no room (M): in INT-MD, and where hostint's sink knows what hops
 * write.
 */
#ifndef HOSTINT_TRANSIT_EXCEEDED_H
#define HOSTINT_TRANSIT_EXCEEDED_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "transit/passing.h"

enum {
	INT_EXCEEDED_AT = 4, /* offset of E and M in the block of INT v0.5, in one word of 16 bits */
	MD_EXCEEDED_AT = 4,
	GPE_EXCEEDED_AT = 12,
	GPE_NO_BUDGET = 0x04, /* as in INT-MD */
	GPE_NO_ROOM = 0x02,
};

static __always_inline __u32 check_at(const struct passing_packet *p)
{
	return p->at.protocol == IPPROTO_TCP ? __builtin_offsetof(struct tcphdr, check) :
					       __builtin_offsetof(struct udphdr, check);
}

/* Returns the L4 checksum of a packet to which words of this sum were added; without checksum it stays without. */
static __always_inline __u16 check_with(const struct passing_packet *p, __u16 check, __u64 added)
{
	if (p->at.protocol == IPPROTO_UDP && !check)
		return 0;
	check = csum_fold((__u64)check + csum_neg(csum_fold(added)));
	return p->at.protocol == IPPROTO_TCP ? csum_tcp(check) : csum_udp(check);
}

static __always_inline __u32 exceeded_at(const struct passing_packet *p)
{
	if (p->is_md)
		return MD_EXCEEDED_AT;
	return p->is_gpe ? GPE_EXCEEDED_AT : INT_EXCEEDED_AT;
}

/*
 * Sets bits of the 16-bit word with E and M. The first store makes the headers before it writable, too, so the second
 * one is not refused.
 */
static __always_inline void set_bits(struct __sk_buff *ctx, const struct passing_packet *p, __be16 bits)
{
	__u32 word_at = p->at.l4 + p->l4_len + exceeded_at(p);
	__u16 old, now, check;

	if ((!p->had_budget && !p->is_md) || bpf_skb_load_bytes(ctx, word_at, &old, sizeof(old)) ||
	    bpf_skb_load_bytes(ctx, p->at.l4 + check_at(p), &check, sizeof(check)))
		return;
	now = old | bits;
	if (now == old || put_bytes(ctx, word_at, &now, sizeof(now)))
		return;
	check = check_with(p, check, (__u64)csum_neg(old) + now);
	put_bytes(ctx, p->at.l4 + check_at(p), &check, sizeof(check));
}

static __always_inline void say_no_budget(struct __sk_buff *ctx, const struct passing_packet *p)
{
	set_bits(ctx, p, bpf_htons((p->is_gpe || p->is_md ? GPE_NO_BUDGET : INT_EXCEEDED) << 8));
}

static __always_inline void say_no_room(struct __sk_buff *ctx, const struct passing_packet *p)
{
	set_bits(ctx, p, p->is_gpe || p->is_md ? bpf_htons(GPE_NO_ROOM << 8) : bpf_htons(INT_NO_ROOM));
}

#endif
