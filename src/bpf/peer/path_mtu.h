/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Remembers a path MTU that leaves IPv6 no room for INT. The stack must not be told less than 1280 bytes. */
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

/* Returns false if the flow is not in the source's table. */
static __always_inline bool remember_path_mtu(struct __sk_buff *ctx, const struct quote *q, __u32 mtu)
{
	struct flow_key key = { .layers = q->original | vlans_of(ctx) << 8 };
	struct source_flow *f;

	__builtin_memcpy(key.saddr, q->ip.saddr, sizeof(key.saddr));
	__builtin_memcpy(key.daddr, q->ip.daddr, sizeof(key.daddr));
	/* This loads both ports. */
	if (q->ip.version != 6 || bpf_skb_load_bytes(ctx, q->original_l4, &key.sport, 4))
		return false;
	f = bpf_map_lookup_elem(&source_flows, &key);
	if (!f)
		return false;
	f->path_mtu = mtu;
	return true;
}

#endif
