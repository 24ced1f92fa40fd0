/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Cuts INT out at TC: the kernel moves the front, then the restored headers are stored over it. */
#ifndef HOSTINT_SINK_PULL_SKB_H
#define HOSTINT_SINK_PULL_SKB_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "packet/put_bytes.h"
#include "packet/vlan_aside.h"
#include "sink/restore.h"
#include "sink/tagged.h"

enum pulled {
	PULLED,
	NOT_PULLED, /* the packet was not changed */
	PULL_BROKE, /* the kernel refused after a first change */
};

static __always_inline bool store_restored(struct __sk_buff *ctx, struct tagged_packet *p, __u32 l3)
{
	__u32 base = fixed_ip_len(&p->at), options = options_len(&p->at), l4;

	if (put_bytes(ctx, l3, &p->base, base))
		return false;
	if (p->facts.encapsulation == ENCAP_VXLAN_GPE)
		return true;
	if (options >= MIN_OPTIONS_LEN && put_bytes(ctx, l3 + base, p->options, options))
		return false;
	if (!p->behind_l4)
		return true;
	l4 = l3 + base + options;
	return !(p->l4_len == UDP_LEN ? put_bytes(ctx, l4, &p->l4, UDP_LEN) : put_bytes(ctx, l4, &p->l4, TCP_BASE_LEN));
}

static __always_inline bool load_options(struct __sk_buff *ctx, struct tagged_packet *p)
{
	__u32 options = options_len(&p->at), named = p->at.protocol_at - p->at.l3 - IP6_LEN;

	if (options < MIN_OPTIONS_LEN || p->facts.encapsulation == ENCAP_VXLAN_GPE)
		return true;
	if (bpf_skb_load_bytes(ctx, p->at.l3 + fixed_ip_len(&p->at), p->options, options))
		return false;
	if (p->facts.encapsulation == ENCAP_EXTENSION_UDP && p->at.family == 6 && named < MAX_OPTIONS_LEN)
		p->options[named] = p->facts.key.layers;
	return true;
}

static __always_inline enum pulled pull_skb(struct __sk_buff *ctx, struct tagged_packet *p,
					    const struct sink_settings *set)
{
	bool gpe = p->facts.encapsulation == ENCAP_VXLAN_GPE, ioam = p->facts.encapsulation == ENCAP_IOAM;
	__u32 mode = gpe ? BPF_ADJ_ROOM_MAC : BPF_ADJ_ROOM_NET;
	__s32 len = int_len(p);
	struct vlan_aside aside = {};

	/* These are several packets in one, each with an INT block, that were merged on the path. */
	if (ctx->gso_size && !gpe && !ioam)
		return NOT_PULLED;
	if (!load_options(ctx, p) || !put_vlan_aside(ctx, p->at.vlan_tags, &aside))
		return NOT_PULLED;
	if (bpf_skb_adjust_room(ctx, -len, mode, ctx->gso_size ? BPF_F_ADJ_ROOM_FIXED_GSO : 0))
		return put_vlan_back(ctx, &aside) ? NOT_PULLED : PULL_BROKE;
	restore_headers(p, set);
	if (!store_restored(ctx, p, ETH_HLEN))
		return PULL_BROKE;
	return put_vlan_back(ctx, &aside) ? PULLED : PULL_BROKE;
}

#endif
