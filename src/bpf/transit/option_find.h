/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds TCP option 114 in segments with data, and what tells the segment from all others. */
#ifndef HOSTINT_TRANSIT_OPTION_FIND_H
#define HOSTINT_TRANSIT_OPTION_FIND_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/tcp.h"
#include "int/block.h"
#include "int/mark.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "packet/tcp_options.h"
#include "transit/attachment.h"
#include "transit/passing.h"
#include "transit/remembered.h"
#include "transit/verdicts.h"

enum {
	TIMESTAMPS_LEN = 12,
	TIMESTAMPS = 0x0101080a, /* their first bytes: two fillers, kind and length */
};

enum option_place {
	OPTION_NONE = -1,
	OPTION_BAD = -2,
};

/*
 * Recognises most packets without the option by a few instructions: those without options of TCP, or with timestamps alone.
 * Packets with VLAN tags, IP options or extension headers are left to the function that reads all headers.
 */
static __always_inline bool has_no_option(void *data, void *end)
{
	struct ethhdr *eth = data;
	struct tcphdr *tcp;
	__be32 *first;

	if (!(carriers & CARRIER_TCP_INT) || (void *)(eth + 1) > end)
		return true;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		tcp = (void *)(ip + 1);
		if ((void *)tcp > end || ip->version_ihl != 0x45)
			return false;
		if (ip->protocol != IPPROTO_TCP)
			return true;
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		tcp = (void *)(ip + 1);
		if ((void *)tcp > end)
			return false;
		if (ip->nexthdr != IPPROTO_TCP)
			return ip->nexthdr == IPPROTO_UDP || ip->nexthdr == IPPROTO_ICMPV6;
	} else {
		return !is_vlan(eth->h_proto);
	}
	first = (void *)(tcp + 1);
	if ((void *)first > end)
		return false;
	if (tcp->doff >> 4 == TCP_BASE_LEN / 4)
		return true;
	if (tcp->doff >> 4 != (TCP_BASE_LEN + TIMESTAMPS_LEN) / 4 || (void *)(first + 1) > end)
		return false;
	return *first == bpf_htonl(TIMESTAMPS);
}

/*
 * Returns the place of option 114 among the options, or an enum option_place. Where the walk is stays in the scratch: the
 * verifier then knows as little of it in each round, and does not follow the rest once for each place.
 */
static __always_inline int walk_options(struct passing_packet *p, __u32 len)
{
	p->option_at = 0;
	for (int i = 0; i < MOST_TCP_OPTIONS; i++) {
		__u32 at = *(volatile __u16 *)&p->option_at;
		__u8 kind = p->front[at & 63], size = p->front[(at + 1) & 63];

		/* Of a segment that is signed, nothing may change. Kernels sign in front of other options. */
		if (at >= len || kind == TCP_OPTION_END || signs_segment(kind))
			return OPTION_NONE;
		if (kind == TCP_OPTION_NOP) {
			p->option_at = at + 1;
			continue;
		}
		if (at + 1 >= len || size < 2 || at + size > len)
			return OPTION_BAD;
		if (kind == TCP_OPTION_KIND)
			return size == TCP_OPTION_LEN ? (int)at : OPTION_BAD;
		p->option_at = at + size;
	}
	return OPTION_NONE;
}

/* Linux puts it last: alone, or behind timestamps. */
static __always_inline int place_of_option(struct passing_packet *p, __u32 len)
{
	const __u8 *options = p->front;

	if (len == TCP_OPTION_LEN && options[0] == TCP_OPTION_KIND && options[1] == TCP_OPTION_LEN)
		return 0;
	if (len == TIMESTAMPS_LEN + TCP_OPTION_LEN && *(const __be32 *)options == bpf_htonl(TIMESTAMPS) &&
	    options[TIMESTAMPS_LEN] == TCP_OPTION_KIND && options[TIMESTAMPS_LEN + 1] == TCP_OPTION_LEN)
		return TIMESTAMPS_LEN;
	return walk_options(p, len);
}

/* Returns the bytes of options of a TCP header, which the verifier then knows to be in bounds. */
static __always_inline __u32 tcp_options_len(const struct tcphdr *tcp)
{
	__u32 len = (tcp->doff >> 4) * 4 - TCP_BASE_LEN;

	if (len > MOST_TCP_OPTIONS)
		len = 0;
	barrier_var(len);
	return len;
}

/* Returns the bytes of data, or a negative number if lengths do not fit. Superpackets may be longer than IP can state. */
static __always_inline __s32 data_len(struct __sk_buff *ctx, const struct passing_packet *p, const struct tcphdr *tcp)
{
	__u32 most = p->frame_len - p->at.l3, ip_len = ctx->gso_size ? most : p->at.ip_len;

	if (ip_len > most)
		return -1;
	return ip_len - (p->at.l4 - p->at.l3) - (tcp->doff >> 4) * 4;
}

static __always_inline enum transit_find find_among(struct __sk_buff *ctx, struct passing_packet *p)
{
	struct tcphdr tcp;
	__s32 data;
	__u32 len;
	int place;

	if (bpf_skb_load_bytes(ctx, p->at.l4, &tcp, sizeof(tcp)))
		return TRANSIT_NO_INT;
	if (tcp.flags & (TCP_SYN | TCP_RST))
		return TRANSIT_NO_INT;
	len = tcp_options_len(&tcp);
	if (len < TCP_OPTION_LEN || bpf_skb_load_bytes(ctx, p->at.l4 + TCP_BASE_LEN, p->front, len))
		return TRANSIT_NO_INT;
	/* INT of hostint's own lies between the header and its options. */
	if ((p->at.tos & tos_mask) == tos_value && check_int_block((void *)p->front) != INT_NOT_INT)
		return TRANSIT_NO_INT;
	place = place_of_option(p, len);
	if (place == OPTION_NONE)
		return TRANSIT_NO_INT;
	data = data_len(ctx, p, &tcp);
	if (place == OPTION_BAD || data < 0)
		return refuse_passing(p, COUNT_TRANSIT_OPTION_MALFORMED);
	if (!data)
		return refuse_passing(p, COUNT_TRANSIT_OPTION_NO_DATA);
	p->option_at = p->at.l4 + TCP_BASE_LEN + place;
	/* Routers and address translation leave these as they are. */
	p->identity = identity_of(tcp.seq, tcp.ack_seq, tcp.window, 0);
	return TRANSIT_FOUND;
}

__noinline int find_option(struct __sk_buff *ctx)
{
	struct passing_packet *p = passing();
	enum layout_verdict found;

	if (!p)
		return TRANSIT_NO_INT;
	p->frame_len = ctx->len;
	found = find_layout((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			    ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0, &p->at);
	if (found == LAYOUT_SHORT)
		return TRANSIT_SHORT;
	if (found != LAYOUT_FOUND || p->at.protocol != IPPROTO_TCP || p->at.later_fragment)
		return TRANSIT_NO_INT;
	return find_among(ctx, p);
}

/* The headers may lie in fragments of the skb; the second look comes after they are made readable. */
static __always_inline enum transit_find find_readable_option(struct __sk_buff *ctx)
{
	int found = find_option(ctx);

	if (found == TRANSIT_SHORT && !bpf_skb_pull_data(ctx, ctx->len < PULL_LEN ? ctx->len : PULL_LEN))
		found = find_option(ctx);
	return found == TRANSIT_SHORT ? TRANSIT_NO_INT : found;
}

/* True if the packet, in which INT was looked for, has none, and may have a request of option 114. */
static __always_inline bool may_have_option(const struct passing_packet *p, int found)
{
	if (!(carriers & CARRIER_TCP_INT))
		return false;
	return found == TRANSIT_NO_INT || (found == TRANSIT_REFUSED && (p->reason == COUNT_TRANSIT_FOREIGN_MARK ||
									p->reason == COUNT_TRANSIT_TRUNCATED));
}

#endif
