/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The packet that an ICMP error quotes: is it one that a source tagged, and what was it before? */
#ifndef HOSTINT_PEER_QUOTE_H
#define HOSTINT_PEER_QUOTE_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "int/mark.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"
#include "watch/places.h"

enum {
	QUOTED_L4_LEN = 8, /* what every router quotes of L4, and all that a stack looks at */
};

enum quote_kind {
	QUOTE_FOREIGN,
	QUOTE_TOO_SHORT,
	QUOTE_TAGGED,
};

struct quote {
	struct ip_headers ip; /* as quoted: those that INT was put behind */
	__u32 end;            /* of what is quoted */
	__u32 original_l4;    /* where the original's L4 header is, */
	__u8 original;        /* and its protocol */
	__u32 added_len;      /* bytes that INT added to the original */
};

static __always_inline bool same_address(const __be32 *a, const __be32 *b)
{
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]));
}

static __always_inline enum quote_kind read_quoted_extension(struct __sk_buff *ctx, struct quote *q)
{
	__u32 block_at = q->ip.l4 + UDP_LEN;
	struct int_block block;

	q->original_l4 = q->ip.l4 + EXTENSION_LEN;
	q->added_len = EXTENSION_LEN;
	if (q->original_l4 + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	if (bpf_skb_load_bytes(ctx, block_at, &block, sizeof(block)) || check_int_block(&block) != INT_VALID)
		return QUOTE_FOREIGN;
	q->original = *(__u8 *)&block.tail1;
	return q->original == IPPROTO_TCP || q->original == IPPROTO_UDP ? QUOTE_TAGGED : QUOTE_FOREIGN;
}

/* The original packet is there as a whole; its addresses are those of the outer header. */
static __always_inline enum quote_kind read_quoted_gpe(struct __sk_buff *ctx, struct quote *q)
{
	__u32 block_at = q->ip.l4 + UDP_LEN, original_at = block_at + GPE_BLOCK_LEN;
	__u32 least = q->ip.version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	struct ip_headers original;
	struct gpe_block block;

	if (original_at + least + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	if (bpf_skb_load_bytes(ctx, block_at, &block, sizeof(block)) || !is_gpe_block(&block))
		return QUOTE_FOREIGN;
	if (block.next != (q->ip.version == 4 ? GPE_NEXT_IPV4 : GPE_NEXT_IPV6) ||
	    !read_ip(ctx, original_at, q->ip.version, &original))
		return QUOTE_FOREIGN;
	if (!same_address(original.saddr, q->ip.saddr) || !same_address(original.daddr, q->ip.daddr))
		return QUOTE_FOREIGN;
	if (original.l4 + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	q->original_l4 = original.l4;
	q->original = original.protocol;
	q->added_len = original_at - q->ip.start;
	return QUOTE_TAGGED;
}

/* Ports and TCP's sequence number are at their place. A quote of these only is known by its mark. */
static __always_inline enum quote_kind read_quoted_over_tcp_udp(struct __sk_buff *ctx, struct quote *q)
{
	__u32 block_at = q->ip.l4 + (q->ip.protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN);
	struct int_block block;

	q->original_l4 = q->ip.l4;
	q->original = q->ip.protocol;
	q->added_len = INT_BLOCK_LEN;
	if (block_at + INT_BLOCK_LEN > q->end)
		return QUOTE_TAGGED;
	if (bpf_skb_load_bytes(ctx, block_at, &block, sizeof(block)) || check_int_block(&block) != INT_VALID)
		return QUOTE_FOREIGN;
	return QUOTE_TAGGED;
}

/* What stands from `at` to `end`, quoted in an error of this IP version. */
static __always_inline enum quote_kind read_quote(struct __sk_buff *ctx, __u32 at, __u32 end, __u8 version,
						  struct quote *q)
{
	struct udphdr l4; /* ports, if it is TCP */

	q->end = end;
	if (!read_ip(ctx, at, version, &q->ip))
		return QUOTE_FOREIGN;
	if (q->ip.protocol != IPPROTO_TCP && q->ip.protocol != IPPROTO_UDP)
		return QUOTE_FOREIGN;
	if (q->ip.l4 + QUOTED_L4_LEN > end || bpf_skb_load_bytes(ctx, q->ip.l4, &l4, sizeof(l4)))
		return QUOTE_FOREIGN;
	if (!(version == 4 ? may_watch4(q->ip.daddr[0]) : may_watch6(q->ip.daddr)))
		return QUOTE_FOREIGN;
	if (q->ip.protocol == IPPROTO_UDP && l4.dest == extension_port)
		return read_quoted_extension(ctx, q);
	if (q->ip.protocol == IPPROTO_UDP && l4.dest == bpf_htons(GPE_PORT))
		return read_quoted_gpe(ctx, q);
	if ((q->ip.tos & tos_mask) == tos_value)
		return read_quoted_over_tcp_udp(ctx, q);
	return QUOTE_FOREIGN;
}

#endif
