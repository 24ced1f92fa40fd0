/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes INT in options out of the packet, so that no one behind this host gets it: what is behind a datagram is cut off, and
 * the option of a TCP segment becomes no-operations, so that the segment keeps its length.
 */
#ifndef HOSTINT_SINK_TRIM_H
#define HOSTINT_SINK_TRIM_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "kernel/device_mtu.h"
#include "packet/checksum.h"
#include "packet/checksum_state.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "sink/measure.h"
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

/* Says whether the packet is a superpacket: nothing that came by wire is. */
static __always_inline bool is_longer_than_wire(struct xdp_md *ctx, const struct tagged_packet *p)
{
	__u32 mtu = device_mtu(ctx, 0);

	return mtu && p->at.ip_len > mtu;
}

/*
 * Finds out at XDP, where nothing says so, whether a checksum is finished. One that is not holds the sum of the pseudo header,
 * for which the source counted in what it put behind a datagram; so do one in 65,536 finished ones, whose packets add up to 0.
 * An unfinished packet that adds up to 0, too, cannot be told from those.
 */
static __always_inline enum checksum_state checksum_state_xdp(struct xdp_md *ctx, struct tagged_packet *p, __u16 check)
{
	__u64 pseudo = pseudo_words(p, p->at.ip_len - (p->at.l4 - p->at.l3));

	if (csum_zero(check) != csum_zero(csum_fold(pseudo)))
		return CHECKSUM_FINISHED;
	if (!add_chunks_xdp(ctx) || !add_last_xdp(ctx))
		return is_longer_than_wire(ctx, p) ? CHECKSUM_UNFINISHED : CHECKSUM_UNREADABLE;
	return csum_zero(csum_fold(pseudo + p->rest_sum)) ? CHECKSUM_UNFINISHED : CHECKSUM_UNREADABLE;
}

static __always_inline bool trim_segment_xdp(struct xdp_md *ctx, struct tagged_packet *p)
{
	enum checksum_state state = checksum_state_xdp(ctx, p, p->l4.tcp.check);
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct int_option *option = (void *)option_of(data, end, p);
	struct tcphdr *tcp = at_offset(data, p->at.l4);
	__u64 sum;

	if (state == CHECKSUM_UNREADABLE)
		return true;
	if (!option || (void *)(tcp + 1) > end)
		return false;
	sum = (__u64)tcp->check + csum_words(option, sizeof(*option));
	fill_nops(option);
	if (state == CHECKSUM_FINISHED)
		tcp->check =
			csum_tcp(csum_fold(sum + csum_neg(csum_fold((__u64)NOP_WORDS * (TCP_NOP << 8 | TCP_NOP)))));
	return true;
}

/* Takes the length of what is cut off out of an unfinished checksum, which whoever finishes it adds up to the packet's end. */
static __always_inline __u16 begun_without(const struct tagged_packet *p)
{
	return csum_fold((__u64)p->l4.udp.check + csum_neg(bpf_htons(int_len(p))));
}

/* If the kernel does not cut, what is left is padding behind the IP packet. */
static __always_inline bool trim_datagram_xdp(struct xdp_md *ctx, struct tagged_packet *p)
{
	__u16 check = p->l4.udp.check;
	enum checksum_state state = check ? checksum_state_xdp(ctx, p, check) : CHECKSUM_FINISHED;
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct udphdr *udp = at_offset(data, p->at.l4);

	if (state == CHECKSUM_UNREADABLE)
		return true;
	restore_ip(p, p->at.tos, p->orig_len);
	if ((void *)(udp + 1) > end || !store_ip(data, end, p->at.l3, p->at.family, &p->base))
		return false;
	if (!bpf_xdp_adjust_tail(ctx, (int)(p->at.l3 + p->orig_len) - (int)p->frame_len) &&
	    state == CHECKSUM_UNFINISHED) {
		udp = at_offset((void *)(long)ctx->data, p->at.l4);
		if ((void *)(udp + 1) <= (void *)(long)ctx->data_end)
			udp->check = begun_without(p);
	}
	return true;
}

/* Returns false if the packet stays as it is. */
static __always_inline bool trim_xdp(struct xdp_md *ctx, struct tagged_packet *p)
{
	return p->at.protocol == IPPROTO_TCP ? trim_segment_xdp(ctx, p) : trim_datagram_xdp(ctx, p);
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

/* Sets what is cut off to 0, so that the sum to the packet's end and to the frame's is the same. */
static __always_inline bool clear_behind(struct __sk_buff *ctx, const struct tagged_packet *p)
{
	__u16 begun = begun_without(p);
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
