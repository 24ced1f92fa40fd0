/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers a path MTU that the stack is not told: one that leaves IPv6 no room for INT, as the stack must not be told less
 * than 1280 bytes, and that of datagrams in options, which go without INT if they do not fit.
 */
#ifndef HOSTINT_PEER_PATH_MTU_H
#define HOSTINT_PEER_PATH_MTU_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "packet/headers.h"
#include "peer/quote.h"
#include "source/flow_table.h"

/* Returns the ids of the VLAN tag in the metadata and of the first one in the frame. */
static __always_inline __u32 vlans_of(struct __sk_buff *ctx)
{
	__u32 vlans = ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0;
	struct vlan_tag tag;
	__be16 type;

	if (bpf_skb_load_bytes(ctx, __builtin_offsetof(struct ethhdr, h_proto), &type, sizeof(type)) ||
	    !is_vlan(type) || bpf_skb_load_bytes(ctx, ETH_HLEN, &tag, sizeof(tag)))
		return vlans;
	return vlans << 12 | (bpf_ntohs(tag.tci) & 0xfff);
}

/* Keys have IPv4 in the form of IPv6. */
static __always_inline void put_address(__be32 *to, const __be32 *from, __u8 version)
{
	__builtin_memcpy(to, from, 16);
	if (version == 4) {
		to[3] = from[0];
		to[2] = bpf_htonl(0xffff);
		to[0] = 0;
	}
}

/* Returns false if the flow is not in the source's table. */
static __always_inline bool remember_path_mtu(struct __sk_buff *ctx, const struct quote *q, __u32 mtu)
{
	struct flow_key key = { .layers = q->original | vlans_of(ctx) << 8 };
	struct source_flow *f;

	put_address(key.saddr, q->ip.saddr, q->ip.version);
	put_address(key.daddr, q->ip.daddr, q->ip.version);
	/* This loads both ports. */
	if ((q->ip.version != 6 && !q->behind) || bpf_skb_load_bytes(ctx, q->original_l4, &key.sport, 4))
		return false;
	f = bpf_map_lookup_elem(&source_flows, &key);
	if (!f)
		return false;
	f->path_mtu = mtu;
	return true;
}

#endif
