/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses how a watched packet is tagged, or leaves it if it would be too long with INT. */
#ifndef HOSTINT_SOURCE_PLAN_H
#define HOSTINT_SOURCE_PLAN_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "hostint/source_flow.h"
#include "int/room.h"
#include "kernel/device_mtu.h"
#include "packet/headers.h"
#include "source/attachment.h"
#include "source/budget.h"
#include "source/look.h"
#include "source/missed.h"
#include "source/outgoing.h"

enum tag_plan {
	PLAN_LEAVE, /* counted */
	PLAN_TAG,
	PLAN_STAGE,
};

/* Says whether the packet fits with the added bytes, here and in every router on the path. */
static __always_inline enum source_look check_size(const struct outgoing_packet *p, __u32 added, __u32 mtu)
{
	__u32 len = p->at.ip_len + added;

	if (len > mtu)
		return leave_packet(p, COUNT_SOURCE_TOO_LONG);
	/* A router that fragments a tagged packet would separate INT from the rest. */
	if (!p->at.dont_fragment && len > SHORTEST_MTU)
		return leave_packet(p, COUNT_SOURCE_MAY_FRAGMENT);
	return SOURCE_WATCHED;
}

/* The route may say that the path is narrower than the interface, and probes were no longer than that. */
static __always_inline __u32 path_limit(const struct outgoing_packet *p, const struct source_flow *f, __u32 mtu)
{
	__u32 longest = f ? f->longest : p->longest;

	if (f && f->path_mtu && f->path_mtu < mtu)
		mtu = f->path_mtu;
	return longest && longest < mtu ? longest : mtu;
}

/* The segments of a packet that goes as it is. Of a superpacket that a guest sent, the kernel does not know the number yet. */
static __always_inline __u32 whole_segments(struct __sk_buff *ctx, const struct outgoing_packet *p)
{
	__u32 size = ctx->gso_size, segments = ctx->gso_segs;

	if (size && !segments)
		segments = (p->frame_len - p->at.l4 - p->l4_header_len + size - 1) / size;
	return segments > 1 ? segments : 1;
}

static __always_inline enum tag_plan leave_superpacket(struct __sk_buff *ctx, const struct outgoing_packet *p)
{
	count_missed(COUNT_SOURCE_SUPERPACKET, whole_segments(ctx, p), p->frame_len);
	return PLAN_LEAVE;
}

/* UDP segments are identified by the outer header's id, and devices finish their checksums. */
static __always_inline bool may_tunnel_datagrams(const struct outgoing_packet *p)
{
	return superpackets == SUPER_ENCAP_ALL && p->at.family == 4 && p->at.dont_fragment && p->unfinished &&
	       p->sink_gets_segments;
}

/*
 * Each segment of a superpacket in ioam has a copy of its options. A flow may leave ioam for a packet, so one that does not
 * fit goes untagged.
 */
static __always_inline enum tag_plan plan_ioam_superpacket(struct __sk_buff *ctx, struct outgoing_packet *p, __u32 mtu)
{
	__u32 headers = IP6_LEN + p->l4_header_len, room = source_room(p, ENCAP_IOAM), size = ctx->gso_size;
	__u32 segments = (p->at.ip_len - headers + size - 1) / size;

	if (!ioam_superpackets || superpackets == SUPER_SKIP || !is_tcp(p) || p->at.options_len ||
	    headers + size + room > mtu || p->at.ip_len + room > 0xffff || !segments || segments > GPE_MAX_SEGMENTS)
		return leave_superpacket(ctx, p);
	p->fixed_gso = true;
	p->segment_size = size;
	p->segments = segments;
	p->encapsulation = ENCAP_IOAM;
	return PLAN_TAG;
}

/*
 * Encapsulates a superpacket as a whole. Where its segments would not fit any more the kernel makes them shorter, but
 * only for TCP, whose segment boundaries mean nothing; UDP datagrams must keep theirs.
 */
static __always_inline enum tag_plan plan_superpacket(struct __sk_buff *ctx, struct outgoing_packet *p,
						      struct source_flow *f, __u32 mtu)
{
	__u32 headers = p->at.l4 - p->at.l3 + p->l4_header_len, added = source_room(p, ENCAP_VXLAN_GPE);
	__u32 room = path_room(p, ENCAP_VXLAN_GPE);
	__u32 payload = p->at.ip_len - headers, size = ctx->gso_size;
	bool tcp = p->at.protocol == IPPROTO_TCP;

	if (encapsulation == ENCAP_IOAM && p->form == ENCAP_IOAM)
		return plan_ioam_superpacket(ctx, p, mtu);
	if (superpackets == SUPER_STAGE)
		return PLAN_STAGE;
	if (superpackets == SUPER_SKIP || full_checksum || p->at.options_len)
		return leave_superpacket(ctx, p);
	if (p->form != FLOW_MIXED && p->form != ENCAP_VXLAN_GPE) {
		/* Half of a connection in another form would not pass a firewall that follows connections. */
		if (tcp && f) {
			f->form = FLOW_UNTAGGED;
			f->left = LEFT_SUPERPACKET;
			f->open = 0;
		}
		return leave_superpacket(ctx, p);
	}
	if (!tcp && !may_tunnel_datagrams(p))
		return leave_superpacket(ctx, p);
	/* If the kernel makes them shorter, there is room for INT, but not for transit hops, which then push nothing. */
	p->fixed_gso = headers + size + room <= mtu;
	if (!p->fixed_gso) {
		if (!tcp || size < SHORTEST_MTU + added)
			return leave_superpacket(ctx, p);
		size -= added;
	}
	p->segment_size = size;
	p->segments = size ? (payload + size - 1) / size : 0;
	if (!p->segments || p->segments > GPE_MAX_SEGMENTS || p->at.ip_len + room > 0xffff || !p->at.dont_fragment)
		return leave_superpacket(ctx, p);
	p->encapsulation = ENCAP_VXLAN_GPE;
	return PLAN_TAG;
}

/* After a superpacket, all packets of a flow of mixed form go in vxlan-gpe, so that they take one path. */
static __always_inline __u32 mixed_encapsulation(const struct outgoing_packet *p, const struct source_flow *f)
{
	if (f && f->superpacket && superpackets != SUPER_SKIP && superpackets != SUPER_STAGE && !p->at.options_len)
		return ENCAP_VXLAN_GPE;
	return chooses_form() ? ENCAP_OVER_TCP_UDP : encapsulation;
}

static __always_inline enum tag_plan plan(struct __sk_buff *ctx, struct outgoing_packet *p, struct source_flow *f)
{
	__u32 mtu = path_limit(p, f, skb_mtu(ctx, redirect_ifindex));

	p->segments = 1;
	p->segment_size = 0;
	p->fixed_gso = false;
	if (ctx->gso_size)
		return plan_superpacket(ctx, p, f, mtu);
	if (superpackets == SUPER_STAGE && f && f->superpacket && p->form != ENCAP_IOAM)
		return PLAN_STAGE;
	p->encapsulation = p->form == FLOW_MIXED ? mixed_encapsulation(p, f) : p->form;
	/* Routers must see options, which vxlan-gpe would hide, and one hop-by-hop header has to stand in front of all. */
	if ((p->encapsulation == ENCAP_VXLAN_GPE || is_ioam(p)) && p->at.options_len) {
		count_missed(COUNT_SOURCE_IP_OPTIONS, 1, p->frame_len);
		return PLAN_LEAVE;
	}
	return check_size(p, path_room(p, p->encapsulation), mtu) == SOURCE_WATCHED ? PLAN_TAG : PLAN_LEAVE;
}

#endif
