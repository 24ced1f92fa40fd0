/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says whether a packet has room for one more entry: it must fit into the MTU, and must not be fragmented later. */
#ifndef HOSTINT_TRANSIT_ROOM_H
#define HOSTINT_TRANSIT_ROOM_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/room.h"
#include "kernel/device_mtu.h"
#include "packet/headers.h"
#include "transit/passing.h"

enum {
	MOST_IP_LEN = 0xffff,
};

/* Returns the length of the longest IP packet on the wire; 0 if the headers of a superpacket cannot be read. */
static __always_inline __u32 longest_on_wire(struct __sk_buff *ctx, const struct passing_packet *p)
{
	__u32 l4_len = UDP_LEN;
	__u8 doff;

	if (!ctx->gso_size)
		return p->at.ip_len;
	if (p->inner_protocol == IPPROTO_TCP) {
		if (bpf_skb_load_bytes(ctx, p->inner_l4 + __builtin_offsetof(struct tcphdr, doff), &doff, sizeof(doff)))
			return 0;
		l4_len = (doff >> 4) * 4;
	}
	return p->inner_l4 - p->at.l3 + l4_len + ctx->gso_size;
}

static __always_inline bool has_room(struct __sk_buff *ctx, const struct passing_packet *p)
{
	__u32 longest = longest_on_wire(ctx, p), mtu = skb_mtu(ctx, 0);

	if (p->is_md && p->is_full)
		return false;
	if (!longest || p->at.ip_len + p->entry_len > MOST_IP_LEN)
		return false;
	if (!p->at.dont_fragment && mtu > SHORTEST_MTU)
		mtu = SHORTEST_MTU;
	return longest + p->entry_len <= mtu;
}

#endif
