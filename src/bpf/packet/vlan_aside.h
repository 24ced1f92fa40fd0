/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes VLAN tags out of the frame while bpf_skb_adjust_room changes it, because that function expects IP directly
 * after the Ethernet header. The outer tag is remembered; an inner one moves into the packet's metadata.
 */
#ifndef HOSTINT_PACKET_VLAN_ASIDE_H
#define HOSTINT_PACKET_VLAN_ASIDE_H

#include "kernel/kernel.h"
#include "packet/headers.h"

struct vlan_aside {
	__u16 proto; /* 0: no tag */
	__u16 tci;
};

/* in_frame is the number of tags in the frame; with the one in the metadata there are at most 2. */
static __always_inline bool put_vlan_aside(struct __sk_buff *ctx, __u32 in_frame, struct vlan_aside *aside)
{
	if (!in_frame)
		return true;
	if (!ctx->vlan_present) {
		struct {
			struct ethhdr eth;
			__be16 tci;
		} __attribute__((packed)) head;

		if (bpf_skb_load_bytes(ctx, 0, &head, sizeof(head)))
			return false;
		aside->proto = head.eth.h_proto;
		aside->tci = bpf_ntohs(head.tci);
	} else {
		aside->proto = ctx->vlan_proto;
		aside->tci = ctx->vlan_tci;
	}
	/* The kernel pops the outer tag; the next one moves from the frame into the metadata. */
	return !bpf_skb_vlan_pop(ctx);
}

static __always_inline bool put_vlan_back(struct __sk_buff *ctx, const struct vlan_aside *aside)
{
	return !aside->proto || !bpf_skb_vlan_push(ctx, aside->proto, aside->tci);
}

#endif
