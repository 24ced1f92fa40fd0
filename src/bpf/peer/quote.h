/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds out whether an ICMP error quotes a packet that a source tagged, and where the original is in it. */
#ifndef HOSTINT_PEER_QUOTE_H
#define HOSTINT_PEER_QUOTE_H

#include "kernel/kernel.h"
#include "hostint/ioam.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "int/mark.h"
#include "int/md_block.h"
#include "int/mx_block.h"
#include "int/option.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"
#include "watch/places.h"

enum {
	QUOTED_L4_LEN = 8, /* bytes of L4 that every router quotes, and that a stack looks at */
};

enum quote_kind {
	QUOTE_FOREIGN,   /* not a packet that a source tagged */
	QUOTE_TOO_SHORT, /* the quote ends before the original's L4 header */
	QUOTE_TAGGED,
};

struct quote {
	struct ip_headers ip; /* as quoted, in front of INT */
	__u32 end;            /* end of the quote */
	__u32 original_l4;    /* offset of the original's L4 header */
	__u8 original;        /* protocol of the original's L4 header */
	__u32 added_len;      /* bytes that INT added to the original */
	bool behind;          /* they are behind a datagram's data, in options */
};

/* Returns how many hops behind the error may still push, for which the path needs room, too. */
static __always_inline __u32 hops_to_come(const struct int_block *block)
{
	__u32 left = block->flags & INT_FLAG_BUDGET ? block->max_hops - block->total_hops : 0;

	return left < max_hops ? left : max_hops;
}

static __always_inline enum quote_kind read_quoted_extension(struct __sk_buff *ctx, struct quote *q)
{
	__u32 block_at = q->ip.l4 + UDP_LEN;
	struct int_block block;

	if (block_at + INT_BLOCK_LEN + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	if (bpf_skb_load_bytes(ctx, block_at, &block, sizeof(block)) || check_int_block(&block) != INT_VALID)
		return QUOTE_FOREIGN;
	q->original_l4 = q->ip.l4 + EXTENSION_LEN + int_pushed(&block) * INT_HOP_LEN;
	q->added_len = EXTENSION_LEN + (int_pushed(&block) + hops_to_come(&block)) * INT_HOP_LEN;
	if (q->original_l4 + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	/* The first byte of the tail, behind all entries. */
	if (bpf_skb_load_bytes(ctx, q->original_l4 - 4, &q->original, sizeof(q->original)))
		return QUOTE_FOREIGN;
	return q->original == IPPROTO_TCP || q->original == IPPROTO_UDP ? QUOTE_TAGGED : QUOTE_FOREIGN;
}

/* The quote contains the original packet's headers, whose addresses are those of the outer header. */
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
	original_at += gpe_stack_len(&block) - GPE_HOP_WORDS * 4;
	if (original_at + least + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	if (block.next != (q->ip.version == 4 ? GPE_NEXT_IPV4 : GPE_NEXT_IPV6) ||
	    !read_ip(ctx, original_at, q->ip.version, &original))
		return QUOTE_FOREIGN;
	if (!same_addresses(original.saddr, original.daddr, q->ip.saddr, q->ip.daddr))
		return QUOTE_FOREIGN;
	if (original.l4 + QUOTED_L4_LEN > q->end)
		return QUOTE_TOO_SHORT;
	q->original_l4 = original.l4;
	q->original = original.protocol;
	q->added_len = original_at - q->ip.start;
	if (block.remaining_hops <= max_hops)
		q->added_len += block.remaining_hops * block.hop_words * 4;
	return QUOTE_TAGGED;
}

/* Ports and TCP's sequence number are at their usual place. A quote that ends after them is recognised by its mark. */
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
	q->added_len += (int_pushed(&block) + hops_to_come(&block)) * INT_HOP_LEN;
	return QUOTE_TAGGED;
}

/* Hop-by-hop options stand in front of the original's L4 header, where the stack skips them. */
static __always_inline bool has_quoted_ioam(struct __sk_buff *ctx, struct quote *q)
{
	struct {
		__u8 next;
		__u8 len; /* in units of 8 bytes, less one */
		__u8 pad[2];
		__u8 own_type;
		__u8 own_len;
		__be16 own_magic;
	} head;

	if (q->ip.version != 6 || q->ip.l4 - q->ip.start < IP6_LEN + IOAM_HEAD_LEN ||
	    bpf_skb_load_bytes(ctx, q->ip.start + IP6_LEN, &head, sizeof(head)))
		return false;
	q->original_l4 = q->ip.l4;
	q->original = q->ip.protocol;
	q->added_len = (head.len + 1) * 8;
	return head.own_type == IOAM_OWN_TYPE && head.own_magic == bpf_htons(IOAM_MAGIC);
}

/* Does the same for INT-MD and INT-MX. The headers of both have the same length. */
static __always_inline enum quote_kind read_quoted_md(struct __sk_buff *ctx, struct quote *q)
{
	__u32 head_at = q->ip.l4 + (q->ip.protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN), left;
	struct int_md_head head;

	q->original_l4 = q->ip.l4;
	q->original = q->ip.protocol;
	q->added_len = is_mx ? INT_MX_BLOCK_LEN : INT_MD_BLOCK_LEN;
	if (head_at + INT_MD_HEAD_LEN > q->end)
		return QUOTE_TAGGED;
	if (bpf_skb_load_bytes(ctx, head_at, &head, sizeof(head)))
		return QUOTE_FOREIGN;
	if (head.type == INT_MX_TYPE && check_mx_block((void *)&head) == INT_VALID) {
		q->added_len = INT_MX_BLOCK_LEN;
		return QUOTE_TAGGED;
	}
	if (check_md_block(&head) != INT_VALID)
		return QUOTE_FOREIGN;
	left = head.remaining_hops < max_hops ? head.remaining_hops : max_hops;
	q->added_len = 4 + (head.length + left * head.hop_words) * 4;
	return QUOTE_TAGGED;
}

/* The IP packet is longer than the datagram by as much as an option takes; the option itself is seldom quoted. */
static __always_inline bool has_quoted_option(struct quote *q, __be16 udp_len)
{
	__u32 len = bpf_ntohs(udp_len);

	q->original_l4 = q->ip.l4;
	q->original = q->ip.protocol;
	q->added_len = datagram_room(len);
	q->behind = q->ip.protocol == IPPROTO_UDP && len >= UDP_LEN && q->ip.end == q->ip.l4 + len + q->added_len;
	return q->behind;
}

/* Reads the quote from `at` to `end` in an error of this IP version. */
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
	if (!may_watch(q->ip.daddr, version))
		return QUOTE_FOREIGN;
	if (has_quoted_option(q, l4.len) || has_quoted_ioam(ctx, q))
		return QUOTE_TAGGED;
	if (q->ip.protocol == IPPROTO_UDP && l4.dest == extension_port)
		return read_quoted_extension(ctx, q);
	if (q->ip.protocol == IPPROTO_UDP && l4.dest == bpf_htons(GPE_PORT))
		return read_quoted_gpe(ctx, q);
	if (has_md_mark(q->ip.tos) && read_quoted_md(ctx, q) == QUOTE_TAGGED)
		return QUOTE_TAGGED;
	if ((q->ip.tos & tos_mask) == tos_value)
		return read_quoted_over_tcp_udp(ctx, q);
	return QUOTE_FOREIGN;
}

#endif
