/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes nearly all packets with INT of hostint's own through a hook in one step: those with the usual headers, and with
 * nothing to be said of them but that they passed. The functions that read, judge and count them are those of the general
 * way, but the packet is a variable here, so that the compiler knows where each header is. Everything is checked before
 * anything changes; any other packet takes the general way, which finds all as it was.
 */
#ifndef HOSTINT_TRANSIT_STRAIGHT_H
#define HOSTINT_TRANSIT_STRAIGHT_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "kernel/clock.h"
#include "kernel/features.h"
#include "kernel/host_settings.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "transit/attachment.h"
#include "transit/crossed.h"
#include "transit/entry.h"
#include "transit/find.h"
#include "transit/passing.h"
#include "transit/room.h"
#include "transit/straight_push.h"

/* Finds the headers of a packet without VLAN tags in the frame, IP options, extension headers and fragments. */
static __always_inline bool find_usual_layout(void *data, void *end, struct layout *at, const __u8 family)
{
	if (family == 4) {
		const struct iphdr *ip = data + ETH_HLEN;

		if ((void *)(ip + 1) > end || ip->version_ihl != 0x45 || is_fragment(ip->frag_off) ||
		    find_ipv4(data, end, ETH_HLEN, at) != LAYOUT_FOUND)
			return false;
	} else {
		const struct ipv6hdr *ip = data + ETH_HLEN;

		if ((void *)(ip + 1) > end || !is_l4(ip->nexthdr) || find_ipv6(data, end, ETH_HLEN, at) != LAYOUT_FOUND)
			return false;
	}
	at->l4 = ETH_HLEN + (family == 4 ? IP4_LEN : IP6_LEN);
	at->options_len = 0;
	at->fragment = 0;
	at->later_fragment = 0;
	at->vlan_tags = 0;
	return true;
}

/* Says whether the packet is in an encapsulation of hostint's own, and leaves there whether that is vxlan-gpe. */
static __always_inline bool is_own_encapsulation(struct passing_packet *p, __be16 dest)
{
	bool is_udp = p->at.protocol == IPPROTO_UDP, by_port;

	if (announces_md(p, dest, &by_port) || (is_udp && carriers & CARRIER_GENEVE && dest == bpf_htons(GENEVE_PORT)))
		return false;
	p->is_gpe = is_udp && carriers & CARRIER_VXLAN_GPE && dest == bpf_htons(GPE_PORT);
	return p->is_gpe || (carriers & CARRIER_HOST_INT &&
			     ((p->at.tos & tos_mask) == tos_value || (is_udp && dest == extension_port)));
}

static __always_inline bool find_usual(struct __sk_buff *ctx, struct passing_packet *p, const __u8 family)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct udphdr *udp = data + ETH_HLEN + (family == 4 ? IP4_LEN : IP6_LEN);

	p->frame_len = ctx->len;
	p->is_unnumbered = false;
	p->is_md = false;
	p->is_mx = false;
	return find_usual_layout(data, end, &p->at, family) && (void *)(udp + 1) <= end &&
	       p->at.ip_len <= p->frame_len - ETH_HLEN && is_own_encapsulation(p, udp->dest);
}

static __always_inline bool arrive_usual(struct __sk_buff *ctx, const struct host_settings *host, const __u8 family)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct passing_packet p;

	if (!find_usual(ctx, &p, family) ||
	    (p.is_gpe ? find_gpe(data, end, &p) : find_block(data, end, &p)) != TRANSIT_FOUND)
		return false;
	note_ingress(ctx, host, &p);
	return true;
}

static __always_inline __be16 ethertype_of(struct __sk_buff *ctx)
{
	const struct ethhdr *eth = (void *)(long)ctx->data;

	return (void *)(eth + 1) > (void *)(long)ctx->data_end ? 0 : eth->h_proto;
}

/* Returns 0, and has changed nothing, if the packet is to take the general way. */
__noinline int arrive_straight(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	__be16 type = ethertype_of(ctx);

	if (!host)
		return 0;
	if (type == bpf_htons(ETH_P_IP))
		return arrive_usual(ctx, host, 4);
	return type == bpf_htons(ETH_P_IPV6) && arrive_usual(ctx, host, 6);
}

/* Says whether the packet gets an entry. Its INT was found. */
static __always_inline bool gets_entry(struct __sk_buff *ctx, const struct host_settings *host,
				       const struct passing_packet *p)
{
	return p->newest_node != bpf_htonl(host->node_id) && p->had_budget && p->budget && has_room(ctx, p);
}

static __always_inline void prepare_entry(struct __sk_buff *ctx, const struct host_settings *host,
					  struct passing_packet *p)
{
	p->left_ns = now_ns(host);
	note_crossing(ctx, host, p, CROSSING_DEPARTED, p->left_ns);
	fill_own_entry(ctx, host, p);
	remember_departure(ctx, p);
}

static __always_inline int leave_usual(struct __sk_buff *ctx, const struct host_settings *host, const __u8 family)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct passing_packet p;

	if (!find_usual(ctx, &p, family))
		return NOT_STRAIGHT;
	if (p.is_gpe) {
		if (find_gpe(data, end, &p) != TRANSIT_FOUND || p.entry_len != GPE_PATH_WORDS * 4 ||
		    !gets_entry(ctx, host, &p))
			return NOT_STRAIGHT;
		prepare_entry(ctx, host, &p);
		return push_usual(ctx, &p, family, UDP_LEN, GPE_HEAD_LEN);
	}
	if (find_block(data, end, &p) != TRANSIT_FOUND || !gets_entry(ctx, host, &p))
		return NOT_STRAIGHT;
	prepare_entry(ctx, host, &p);
	return p.at.protocol == IPPROTO_UDP ? push_usual(ctx, &p, family, UDP_LEN, INT_HEAD_LEN) :
					      push_usual(ctx, &p, family, TCP_BASE_LEN, INT_HEAD_LEN);
}

/* Returns a verdict, or NOT_STRAIGHT. */
__noinline int leave_straight(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	__be16 type = ethertype_of(ctx);

	if (!host || only_allowed || ctx->gso_size)
		return NOT_STRAIGHT;
	if (type == bpf_htons(ETH_P_IP))
		return leave_usual(ctx, host, 4);
	return type == bpf_htons(ETH_P_IPV6) ? leave_usual(ctx, host, 6) : NOT_STRAIGHT;
}

#endif
