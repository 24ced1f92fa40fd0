/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes INT in options out of the packet, so that no one behind this host gets it: what is behind a datagram is cut off, and
 * the option of a TCP segment becomes no-operations, so that the segment keeps its length.
 */
#ifndef HOSTINT_SINK_TRIM_H
#define HOSTINT_SINK_TRIM_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "packet/checksum.h"
#include "packet/checksum_state.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "sink/option_read.h"
#include "sink/pull_skb.h"
#include "sink/restore.h"
#include "sink/tagged.h"

enum {
	TCP_NOP = 1,
	NOP_WORDS = INT_OPTION_LEN / 2,
};

static __always_inline void fill_nops(struct int_option *option)
{
	__builtin_memset(option, TCP_NOP, sizeof(*option));
}

/*
 * Says whether a checksum may be unfinished: it holds the sum of the pseudo header, which one in 65,536 finished ones equals.
 * Programs at XDP do not see which it is. The source counted in the length of what it put behind a datagram.
 */
static __always_inline bool may_be_unfinished(const struct tagged_packet *p, __u16 check)
{
	return csum_zero(check) == csum_zero(csum_fold(pseudo_words(p, p->at.ip_len - (p->at.l4 - p->at.l3))));
}

/* A TCP checksum that may be unfinished stays, and so does the option. */
static __always_inline bool trim_segment_xdp(void *data, void *end, struct tagged_packet *p)
{
	struct int_option *option = (void *)option_of(data, end, p);
	struct tcphdr *tcp = at_offset(data, p->at.l4);
	__u64 sum;

	if (!option || (void *)(tcp + 1) > end)
		return false;
	if (may_be_unfinished(p, tcp->check))
		return true;
	sum = (__u64)tcp->check + csum_words(option, sizeof(*option));
	fill_nops(option);
	tcp->check = csum_tcp(csum_fold(sum + csum_neg(csum_fold((__u64)NOP_WORDS * (TCP_NOP << 8 | TCP_NOP)))));
	return true;
}

/* If the kernel does not cut, what is left is padding behind the IP packet. */
static __always_inline bool trim_datagram_xdp(struct xdp_md *ctx, struct tagged_packet *p)
{
	if (p->l4.udp.check && may_be_unfinished(p, p->l4.udp.check))
		return true;
	restore_ip(p, p->at.tos, p->orig_len);
	if (!store_ip((void *)(long)ctx->data, (void *)(long)ctx->data_end, p->at.l3, p->at.family, &p->base))
		return false;
	bpf_xdp_adjust_tail(ctx, (int)(p->at.l3 + p->orig_len) - (int)p->frame_len);
	return true;
}

/* Returns false if the packet stays as it is. */
static __always_inline bool trim_xdp(struct xdp_md *ctx, struct tagged_packet *p)
{
	if (p->at.protocol == IPPROTO_TCP)
		return trim_segment_xdp((void *)(long)ctx->data, (void *)(long)ctx->data_end, p);
	return trim_datagram_xdp(ctx, p);
}

/* The kernel's function leaves unfinished checksums alone. All segments of a superpacket have the headers of the first one. */
static __always_inline enum pulled trim_segment_skb(struct __sk_buff *ctx, struct tagged_packet *p)
{
	__u32 at = p->at.l4 + (p->l4.tcp.doff >> 4) * 4 - INT_OPTION_LEN;
	struct int_option option, nops;
	__s64 sum;

	fill_nops(&nops);
	if (bpf_skb_load_bytes(ctx, at, &option, sizeof(option)))
		return NOT_PULLED;
	sum = bpf_csum_diff((__be32 *)(void *)&option, sizeof(option), (__be32 *)(void *)&nops, sizeof(nops), 0);
	if (bpf_skb_store_bytes(ctx, at, &nops, sizeof(nops), 0))
		return NOT_PULLED;
	return bpf_l4_csum_replace(ctx, p->at.l4 + __builtin_offsetof(struct tcphdr, check), 0, sum, 0) ? PULL_BROKE :
													  PULLED;
}

/*
 * Sets what is cut off to 0 and takes its length out of the checksum, which whoever finishes it adds up to the end of the
 * packet or of the frame.
 */
static __always_inline bool clear_behind(struct __sk_buff *ctx, const struct tagged_packet *p)
{
	__u16 begun = csum_fold((__u64)p->l4.udp.check + csum_neg(bpf_htons(int_len(p))));
	struct datagram_option none = {};

	return !put_bytes(ctx, p->at.l3 + p->at.ip_len - sizeof(none), &none, sizeof(none)) &&
	       !put_bytes(ctx, p->at.l4 + __builtin_offsetof(struct udphdr, check), &begun, sizeof(begun));
}

/*
 * What is behind the IP packet then is padding, which IP cuts off: it keeps a sum over the packet that the network card told
 * (CHECKSUM_COMPLETE), where the helper that shortens a frame gives it up.
 */
static __always_inline enum pulled trim_datagram_skb(struct __sk_buff *ctx, struct tagged_packet *p)
{
	enum checksum_state state = p->l4.udp.check ? checksum_state(ctx, &p->at) : CHECKSUM_FINISHED;

	if (state == CHECKSUM_UNREADABLE)
		return PULLED;
	restore_ip(p, p->at.tos, p->orig_len);
	if (put_bytes(ctx, p->at.l3, &p->base, fixed_ip_len(&p->at)))
		return NOT_PULLED;
	return state == CHECKSUM_FINISHED || clear_behind(ctx, p) ? PULLED : PULL_BROKE;
}

static __always_inline enum pulled trim_skb(struct __sk_buff *ctx, struct tagged_packet *p)
{
	return p->at.protocol == IPPROTO_TCP ? trim_segment_skb(ctx, p) : trim_datagram_skb(ctx, p);
}

#endif
