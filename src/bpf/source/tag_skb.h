/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tags a packet at TC: the kernel makes room, then all headers are stored at once. */
#ifndef HOSTINT_SOURCE_TAG_SKB_H
#define HOSTINT_SOURCE_TAG_SKB_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "kernel/clock.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "packet/put_bytes.h"
#include "packet/vlan_aside.h"
#include "source/attachment.h"
#include "source/budget.h"
#include "source/counters.h"
#include "source/crossed.h"
#include "source/flow_numbers.h"
#include "source/full_sum.h"
#include "source/gpe_push.h"
#include "source/ioam_push.h"
#include "source/missed.h"
#include "source/outgoing.h"
#include "source/push.h"
#include "source/queue.h"
#include "source/tagged.h"
#include "source/v21_push.h"

static __always_inline __u64 room_flags(const struct outgoing_packet *p)
{
	__u64 flags = p->fixed_gso ? BPF_F_ADJ_ROOM_FIXED_GSO : 0;

	if (p->encapsulation != ENCAP_VXLAN_GPE)
		return flags;
	return flags | BPF_F_ADJ_ROOM_ENCAP_L4_UDP |
	       (p->at.family == 4 ? BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 : BPF_F_ADJ_ROOM_ENCAP_L3_IPV6);
}

static __always_inline __u32 room_mode(const struct outgoing_packet *p)
{
	return p->encapsulation == ENCAP_VXLAN_GPE ? BPF_ADJ_ROOM_MAC : BPF_ADJ_ROOM_NET;
}

/* Only the first store may be refused, before anything is written; it gives the packet its own copy of the headers. */
static __always_inline bool store_tagged(struct __sk_buff *ctx, struct outgoing_packet *p)
{
	__u32 base = fixed_ip_len(&p->at), options = options_len(&p->at), body;

	switch (p->encapsulation) {
	case ENCAP_VXLAN_GPE:
		body = GPE_ROOM + asking_room(ENCAP_VXLAN_GPE, budget(p));
		break;
	case ENCAP_EXTENSION_UDP:
		body = EXTENSION_LEN;
		break;
	case ENCAP_IOAM:
		body = IOAM_HEAD_LEN + ioam_room(budget(p));
		break;
	case ENCAP_INT_MD:
		body = (p->at.protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN) + source_room(p, ENCAP_INT_MD);
		break;
	default:
		body = (p->at.protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN) + INT_BLOCK_LEN;
	}
	if (options < MIN_OPTIONS_LEN || p->encapsulation == ENCAP_VXLAN_GPE)
		return !put_bytes(ctx, ETH_HLEN, out_ip(p), base + body);
	return !put_bytes(ctx, ETH_HLEN, out_ip(p), base) && !put_bytes(ctx, ETH_HLEN + base, p->options, options) &&
	       !put_bytes(ctx, ETH_HLEN + base + options, &p->out.udp, body);
}

/* Loads the options that bpf_skb_adjust_room leaves after the room and that must stand before it. */
static __always_inline bool load_headers(struct __sk_buff *ctx, struct outgoing_packet *p)
{
	__u32 base = fixed_ip_len(&p->at), options = options_len(&p->at),
	      named = p->at.protocol_at - p->at.l3 - IP6_LEN;

	if (options < MIN_OPTIONS_LEN || p->encapsulation == ENCAP_VXLAN_GPE)
		return true;
	if (bpf_skb_load_bytes(ctx, p->at.l3 + base, p->options, options))
		return false;
	if (p->encapsulation == ENCAP_EXTENSION_UDP && p->at.family == 6 && named < MAX_OPTIONS_LEN)
		p->options[named] = IPPROTO_UDP;
	return true;
}

/* Removes the room again if nothing could be written into it. If that fails, the packet is dropped. */
static __always_inline int undo(struct __sk_buff *ctx, const struct outgoing_packet *p, const struct vlan_aside *vlan)
{
	__s32 added = source_room(p, p->encapsulation);

	if (!bpf_skb_adjust_room(ctx, -added, room_mode(p), p->fixed_gso ? BPF_F_ADJ_ROOM_FIXED_GSO : 0) &&
	    put_vlan_back(ctx, vlan)) {
		count_missed(COUNT_SOURCE_UNDONE, p->segments, p->frame_len);
		return TCX_NEXT;
	}
	count_source(COUNT_SOURCE_DROPPED, 1, p->frame_len);
	return TCX_DROP;
}

static __always_inline int tag_skb(struct __sk_buff *ctx, const struct host_settings *host, struct outgoing_packet *p,
				   struct source_flow *f, bool locked)
{
	struct flow_number number;
	struct vlan_aside vlan = {};
	__u64 now;

	if (full_checksum && p->unfinished && !sum_segment(ctx)) {
		count_missed(COUNT_SOURCE_NO_CHECKSUM_STATE, 1, p->frame_len);
		return TCX_NEXT;
	}
	if (p->encapsulation == ENCAP_VXLAN_GPE || p->encapsulation == ENCAP_INT_MD)
		read_queue(ctx, p);
	if (!load_headers(ctx, p) || !put_vlan_aside(ctx, p->at.vlan_tags, &vlan)) {
		count_missed(COUNT_SOURCE_CANNOT_RESIZE, p->segments, p->frame_len);
		return TCX_NEXT;
	}
	if (bpf_skb_adjust_room(ctx, source_room(p, p->encapsulation), room_mode(p), room_flags(p))) {
		if (put_vlan_back(ctx, &vlan)) {
			count_missed(COUNT_SOURCE_CANNOT_RESIZE, p->segments, p->frame_len);
			return TCX_NEXT;
		}
		count_source(COUNT_SOURCE_DROPPED, 1, p->frame_len);
		return TCX_DROP;
	}
	/* A number is taken only once there is room, because the sink would miss a number that is not sent. */
	now = now_ns(host);
	next_numbers(f, p->segments, now, locked, &number);
	if (p->encapsulation == ENCAP_VXLAN_GPE) {
		fill_gpe_block(p, host->node_id, now, &number);
		push_gpe(p);
	} else if (is_ioam(p)) {
		fill_ioam(p, host->node_id, now, &number);
		push_ioam(p);
	} else if (p->encapsulation == ENCAP_EXTENSION_UDP) {
		fill_block(&p->out.udp.block, p, host->node_id, now, &number);
		push_extension(p);
	} else if (p->encapsulation == ENCAP_INT_MD && is_mx) {
		push_v21(p, host->node_id, now, &number, INT_MX_BLOCK_LEN);
	} else if (p->encapsulation == ENCAP_INT_MD && without_queue && budget(p)) {
		push_v21(p, host->node_id, now, &number, INT_MD_BRIEF_LEN);
	} else if (p->encapsulation == ENCAP_INT_MD) {
		push_v21(p, host->node_id, now, &number, INT_MD_BLOCK_LEN);
	} else {
		fill_block(p->at.protocol == IPPROTO_TCP ? &p->out.tcp.block : &p->out.udp.block, p, host->node_id, now,
			   &number);
		push_over_tcp_udp(p);
	}
	if (!store_tagged(ctx, p))
		return undo(ctx, p, &vlan);
	if (!put_vlan_back(ctx, &vlan)) {
		count_source(COUNT_SOURCE_DROPPED, 1, p->frame_len);
		return TCX_DROP;
	}
	count_tagged(p, f, ip_bytes(p, p->segments), locked);
	note_crossed(host, p, p->segments, now);
	if (p->segment_size)
		count_source(COUNT_SOURCE_ENCAPSULATED, 1, p->frame_len);
	return TCX_NEXT;
}

#endif
