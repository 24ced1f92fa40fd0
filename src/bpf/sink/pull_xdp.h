/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Cuts INT out at XDP: the bytes before it move up to those after it. */
#ifndef HOSTINT_SINK_PULL_XDP_H
#define HOSTINT_SINK_PULL_XDP_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/restore.h"
#include "sink/tagged.h"

/* len is a constant. The last word moves first, so each lands where everything has moved already. */
static __always_inline bool move_front(void *data, void *end, __u32 by, const __u32 len)
{
	void *to = data + by;
	__u32 at = len;

	barrier_var(to);
	if (data + len > end || to + len > end)
		return false;
#pragma unroll
	for (int i = 0; i < (MAX_L4 + TCP_BASE_LEN) / 8 && at >= 8; i++) {
		at -= 8;
		*(__u64 *)(to + at) = *(__u64 *)(data + at);
	}
	if (at >= 4) {
		at -= 4;
		*(__u32 *)(to + at) = *(__u32 *)(data + at);
	}
	*(__u16 *)to = *(__u16 *)data;
	return true;
}

/* Moves any length, word by word. The verifier walks it once for all lengths. */
__noinline int move_any_front(struct xdp_md *ctx, __u32 by, __u32 len)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end, *begin = data + (by & 0x3ff);
	__u32 at = len;

	barrier_var(begin);
	/* An Ethernet header has 14 bytes, every other one a multiple of 4. */
	for (__u32 i = 0; i < (MAX_L4 + TCP_BASE_LEN) / 4; i++) {
		void *from, *to;

		if (at < 6)
			break;
		at = (at - 4) & 0xff;
		from = data + at;
		to = begin + at;
		barrier_var(to);
		if (from + 4 > end || to + 4 > end)
			return false;
		*(__u32 *)to = *(__u32 *)from;
	}
	if (data + 2 > end || begin + 2 > end)
		return false;
	*(__u16 *)begin = *(__u16 *)data;
	return true;
}

/* Writes the restored headers over the received ones; in vxlan-gpe over the original IP header, after the block. */
static __always_inline bool write_headers(void *data, void *end, const struct tagged_packet *p)
{
	__u32 l3 = p->facts.encapsulation == ENCAP_VXLAN_GPE ? p->inner.l3 : p->at.l3;
	void *l4 = at_offset(data, p->at.l4);

	if (!store_ip(data, end, l3, p->at.family, &p->base))
		return false;
	if (p->facts.encapsulation == ENCAP_EXTENSION_UDP && p->at.family == 6 && p->at.options_len) {
		__u8 *protocol = at_offset(data, p->at.protocol_at);

		if ((void *)(protocol + 1) > end)
			return false;
		*protocol = p->facts.key.layers;
	}
	if (!p->behind_l4)
		return true;
	if (p->l4_len == UDP_LEN) {
		if (l4 + UDP_LEN > end)
			return false;
		*(struct udphdr *)l4 = p->l4.udp;
	} else {
		if (l4 + TCP_BASE_LEN > end)
			return false;
		*(struct tcphdr *)l4 = p->l4.tcp;
	}
	return true;
}

/* Every check comes first, so that nothing is written unless everything can be. */
static __always_inline bool pull_xdp(struct xdp_md *ctx, struct tagged_packet *p, const struct sink_settings *set)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 by = int_len(p), front = p->at.l4 & 0xff;
	bool moved;

	if (p->behind_l4)
		front += p->l4_len == UDP_LEN ? UDP_LEN : TCP_BASE_LEN;
	else if (p->facts.encapsulation == ENCAP_VXLAN_GPE)
		front = p->at.l3 & 0xff;
	else if (p->facts.encapsulation == ENCAP_IOAM)
		front = (p->at.l3 & 0xff) + IP6_LEN;
	/* The kernel refuses to leave less than an Ethernet header, which this check rules out. */
	if (data + by + front > end)
		return false;
	restore_headers(p, set);
	if (!write_headers(data, end, p))
		return false;
	switch (front) {
	case ETH_HLEN:
		moved = move_front(data, end, by, ETH_HLEN);
		break;
	case ETH_HLEN + IP4_LEN:
		moved = move_front(data, end, by, ETH_HLEN + IP4_LEN);
		break;
	case ETH_HLEN + IP4_LEN + UDP_LEN:
		moved = move_front(data, end, by, ETH_HLEN + IP4_LEN + UDP_LEN);
		break;
	case ETH_HLEN + IP4_LEN + TCP_BASE_LEN:
		moved = move_front(data, end, by, ETH_HLEN + IP4_LEN + TCP_BASE_LEN);
		break;
	default:
		moved = move_any_front(ctx, by, front);
	}
	return moved && !bpf_xdp_adjust_head(ctx, by);
}

#endif
