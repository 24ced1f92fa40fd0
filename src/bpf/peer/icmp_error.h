/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Changes ICMP errors about tagged packets to errors about the packets that the local stack sent. */
#ifndef HOSTINT_PEER_ICMP_ERROR_H
#define HOSTINT_PEER_ICMP_ERROR_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"
#include "peer/counters.h"
#include "peer/path_mtu.h"
#include "peer/quote.h"

struct icmp_error {
	__u8 type;
	__u8 code;
	__sum16 check;
	__be32 mtu; /* in errors that have one; ICMPv4: in the low half */
};

enum {
	ICMP_UNREACHABLE = 3,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETER_PROBLEM = 12,
	ICMP_CODE_PROTOCOL = 2,
	ICMP_CODE_PORT = 3,
	ICMP_CODE_TOO_BIG = 4,
	ICMP_CODE_NET_PROHIBITED = 9,
	ICMP_CODE_HOST_PROHIBITED = 10,
	ICMP_CODE_PROHIBITED = 13,
	ICMP6_UNREACHABLE = 1,
	ICMP6_TOO_BIG = 2,
	ICMP6_PARAMETER_PROBLEM = 4,
	ICMP6_CODE_PROHIBITED = 1,
	ICMP6_CODE_PORT = 4,
	LEAST_MTU_IPV4 = 68,
	LEAST_MTU_IPV6 = 1280,
};

static __always_inline bool is_error(const struct icmp_error *e, __u8 version)
{
	if (version == 4)
		return e->type == ICMP_UNREACHABLE || e->type == ICMP_TIME_EXCEEDED ||
		       e->type == ICMP_PARAMETER_PROBLEM;
	return e->type >= ICMP6_UNREACHABLE && e->type <= ICMP6_PARAMETER_PROBLEM;
}

static __always_inline bool is_too_big(const struct icmp_error *e, __u8 version)
{
	if (version == 4)
		return e->type == ICMP_UNREACHABLE && e->code == ICMP_CODE_TOO_BIG;
	return e->type == ICMP6_TOO_BIG;
}

/*
 * Says whether a host or a firewall refuses the packet for its protocol or port. If those are the tunnel's, the original
 * may well be welcome.
 */
static __always_inline bool is_refusal(const struct icmp_error *e, __u8 version)
{
	if (version == 6)
		return e->type == ICMP6_UNREACHABLE && (e->code == ICMP6_CODE_PROHIBITED || e->code == ICMP6_CODE_PORT);
	if (e->type != ICMP_UNREACHABLE)
		return false;
	return e->code == ICMP_CODE_PROTOCOL || e->code == ICMP_CODE_PORT || e->code == ICMP_CODE_NET_PROHIBITED ||
	       e->code == ICMP_CODE_HOST_PROHIBITED || e->code == ICMP_CODE_PROHIBITED;
}

/* Overwrites an even number of bytes at an even offset of the message, and adds the difference to sum. */
static __always_inline void overwrite(struct __sk_buff *ctx, __u32 at, const void *old, const void *new, int len,
				      __u64 *sum)
{
	bpf_skb_store_bytes(ctx, at, new, len, 0);
	*sum += csum_neg(csum_fold(csum_words(old, len))) + csum_words(new, len);
}

/* The MTU is not below `by`, so in ICMPv4 the half above it does not change. */
static __always_inline void reduce_mtu(struct __sk_buff *ctx, __u32 at, __be32 old, __u32 by, __u64 *sum)
{
	__be32 new = bpf_htonl(bpf_ntohl(old) - by);

	overwrite(ctx, at + __builtin_offsetof(struct icmp_error, mtu), &old, &new, sizeof(new), sum);
}

static __always_inline void restore_protocol(struct __sk_buff *ctx, const struct quote *q, __u64 *sum)
{
	__u32 word_at = q->ip.protocol_at & ~1, check_at = q->ip.start + __builtin_offsetof(struct iphdr, check);
	__u8 old[2] __attribute__((aligned(2))), new[2] __attribute__((aligned(2)));
	__u64 header_sum = 0;
	__sum16 check, old_check;

	if (bpf_skb_load_bytes(ctx, word_at, old, sizeof(old)))
		return;
	new[0] = q->ip.protocol_at & 1 ? old[0] : q->original;
	new[1] = q->ip.protocol_at & 1 ? q->original : old[1];
	overwrite(ctx, word_at, old, new, sizeof(new), &header_sum);
	*sum += header_sum;
	if (q->ip.version == 6 || bpf_skb_load_bytes(ctx, check_at, &old_check, sizeof(old_check)))
		return;
	check = csum_neg(csum_fold(csum_neg(old_check) + header_sum));
	overwrite(ctx, check_at, &old_check, &check, sizeof(check), sum);
}

static __always_inline void restore_l4(struct __sk_buff *ctx, const struct quote *q, __u64 *sum)
{
	__be16 old[QUOTED_L4_LEN / 2], new[QUOTED_L4_LEN / 2];

	if (!bpf_skb_load_bytes(ctx, q->ip.l4, old, sizeof(old)) &&
	    !bpf_skb_load_bytes(ctx, q->original_l4, new, sizeof(new)))
		overwrite(ctx, q->ip.l4, old, new, sizeof(new), sum);
}

static __always_inline void translate(struct __sk_buff *ctx, __u32 icmp_at, const struct icmp_error *e,
				      const struct quote *q)
{
	bool too_big = is_too_big(e, q->ip.version), moved = q->original_l4 != q->ip.l4;
	__u32 mtu = q->ip.version == 4 ? bpf_ntohl(e->mtu) & 0xffff : bpf_ntohl(e->mtu);
	__u32 least = q->ip.version == 4 ? LEAST_MTU_IPV4 : LEAST_MTU_IPV6;
	__u32 reduced_by = q->added_len;
	__u64 sum = 0;

	/* What fits without INT is to go on as it is. */
	if (too_big && q->behind)
		remember_path_mtu(ctx, q, mtu);
	if (q->behind || (!too_big && !moved))
		return;
	/* No socket here has the tunnel's port. If the refusal lasts, the flow goes untagged, and meets its own errors. */
	if (moved && is_refusal(e, q->ip.version)) {
		count_peer(COUNT_PEER_ICMP_REFUSED, ctx->len);
		return;
	}
	if (too_big && mtu < least + q->added_len) {
		if (mtu < least || !remember_path_mtu(ctx, q, mtu)) {
			count_peer(COUNT_PEER_ICMP_MTU_TOO_SMALL, ctx->len);
			return;
		}
		reduced_by = mtu - least;
	}
	/* This makes all bytes that are written below writable, so that all of them are written or none. */
	if (bpf_skb_pull_data(ctx, q->ip.l4 + QUOTED_L4_LEN)) {
		count_peer(COUNT_PEER_CANNOT_WRITE, ctx->len);
		return;
	}
	if (too_big)
		reduce_mtu(ctx, icmp_at, e->mtu, reduced_by, &sum);
	if (moved) {
		restore_protocol(ctx, q, &sum);
		restore_l4(ctx, q, &sum);
	}
	bpf_l4_csum_replace(ctx, icmp_at + __builtin_offsetof(struct icmp_error, check), 0, csum_fold(sum), 0);
	count_peer(COUNT_PEER_ICMP_TRANSLATED, ctx->len);
}

static __always_inline void translate_error(struct __sk_buff *ctx, const struct ip_headers *ip)
{
	__u32 end = ip->end < ctx->len ? ip->end : ctx->len;
	struct icmp_error error;
	struct quote quote;

	if (bpf_skb_load_bytes(ctx, ip->l4, &error, sizeof(error)) || !is_error(&error, ip->version))
		return;
	switch (read_quote(ctx, ip->l4 + sizeof(error), end, ip->version, &quote)) {
	case QUOTE_TAGGED:
		translate(ctx, ip->l4, &error, &quote);
		break;
	case QUOTE_TOO_SHORT:
		count_peer(COUNT_PEER_ICMP_TOO_SHORT, ctx->len);
		break;
	case QUOTE_FOREIGN:
		break;
	}
}

#endif
