/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds in a packet that a driver gets what tells it from all others. It has left the hooks, so it is only read. */
#ifndef HOSTINT_TRANSIT_SENT_H
#define HOSTINT_TRANSIT_SENT_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "int/mark.h"
#include "int/mx_block.h"
#include "packet/headers.h"
#include "transit/remembered.h"

/* Offsets are from skb->head. */
struct sent_packet {
	unsigned char *head;
	__u32 end; /* of the linear data */
	__u32 l4;
	__u8 tos;
	__u8 ttl;
	__u8 protocol;
	bool had_budget;
	bool is_gpe;
	__be32 source_node;
	__be32 source_time;
	__be32 daddr[4];
	__u64 identity;
	__u32 behind; /* offset behind the block, and behind the inner IP header */
};

static __always_inline bool read_sent(const struct sent_packet *p, __u32 at, void *to, __u32 len)
{
	return at + len <= p->end && !bpf_probe_read_kernel(to, len, p->head + at);
}

/* Reads the IP header. Packets with IPv6 extension headers, and later fragments, are not followed. */
static __always_inline bool find_sent_l4(struct sent_packet *p, __be16 protocol, __u32 l3)
{
	if (protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr ip;

		if (!read_sent(p, l3, &ip, sizeof(ip)) || ip.version_ihl >> 4 != 4)
			return false;
		p->tos = ip.tos;
		p->ttl = ip.ttl;
		p->protocol = ip.protocol;
		p->daddr[2] = bpf_htonl(0xffff);
		p->daddr[3] = ip.daddr;
		p->l4 = l3 + (ip.version_ihl & 0xf) * 4;
	} else if (protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr ip;

		if (!read_sent(p, l3, &ip, sizeof(ip)))
			return false;
		p->tos = ipv6_class(&ip);
		p->ttl = ip.hop_limit;
		p->protocol = ip.nexthdr;
		__builtin_memcpy(p->daddr, ip.daddr, sizeof(p->daddr));
		p->l4 = l3 + sizeof(ip);
	} else {
		return false;
	}
	return p->protocol == IPPROTO_TCP || p->protocol == IPPROTO_UDP;
}

static __always_inline bool identify_sent_block(struct sent_packet *p)
{
	__u32 at = p->l4 + (p->protocol == IPPROTO_UDP ? UDP_LEN : TCP_BASE_LEN);
	struct int_block b;

	if (!read_sent(p, at, &b, INT_HEAD_LEN) || check_int_block(&b) != INT_VALID)
		return false;
	p->had_budget = b.flags & INT_FLAG_BUDGET;
	at += int_pushed(&b) * INT_HOP_LEN;
	if (!read_sent(p, at, &b, sizeof(b)))
		return false;
	p->behind = at + INT_BLOCK_LEN;
	p->source_node = b.node_id;
	p->source_time = b.ingress_ts;
	p->identity = identity_of(b.node_id, b.ingress_ts, b.sequence, 0);
	return true;
}

static __always_inline bool identify_sent_gpe(struct sent_packet *p)
{
	__u32 at = p->l4 + UDP_LEN, entry_len, stack_len, grown, inner;
	struct {
		__be32 ts_low;
		__be32 sequence;
	} source;
	__u64 head[(GPE_HEAD_LEN + 7) / 8];
	struct gpe_block *b = (void *)head;
	__be32 node, more;

	if (!read_sent(p, at, head, GPE_HEAD_LEN) || check_gpe_block(b) != INT_VALID)
		return false;
	entry_len = b->hop_words * 4;
	stack_len = gpe_stack_len(b);
	grown = stack_len - GPE_HOP_WORDS * 4;
	inner = at + GPE_BLOCK_LEN + grown + (b->next == GPE_NEXT_IPV4 ? IP4_LEN : IP6_LEN);
	if (!read_sent(p, at + GPE_HEAD_LEN + stack_len - entry_len, &node, sizeof(node)) ||
	    !read_sent(p, at + grown + __builtin_offsetof(struct gpe_block, ts_low), &source, sizeof(source)) ||
	    !read_sent(p, inner + 4, &more, sizeof(more)))
		return false;
	p->had_budget = asks_hops(b);
	p->is_gpe = true;
	p->behind = inner;
	p->source_node = node;
	p->source_time = source.ts_low;
	p->identity = identity_of(node, source.ts_low, source.sequence, more);
	return true;
}

static __always_inline bool identify_sent_mx(struct sent_packet *p)
{
	__u32 at = p->l4 + (p->protocol == IPPROTO_UDP ? UDP_LEN : TCP_BASE_LEN);
	struct int_mx_block b;

	if (!read_sent(p, at, &b, sizeof(b)) || check_mx_block(&b) != INT_VALID)
		return false;
	p->had_budget = true;
	p->behind = at + INT_MX_BLOCK_LEN;
	p->source_node = b.node_id;
	p->source_time = b.ingress_ts;
	p->identity = identity_of(b.node_id, b.ingress_ts, b.sequence, 0);
	return true;
}

/* Returns false for a packet that has no INT which a hop may have passed. */
static __always_inline bool find_sent(struct sk_buff *skb, struct sent_packet *p)
{
	__be16 dest;

	p->head = skb->head;
	p->end = skb->tail;
	if (!find_sent_l4(p, skb->protocol, skb->network_header) ||
	    !read_sent(p, p->l4 + __builtin_offsetof(struct udphdr, dest), &dest, sizeof(dest)))
		return false;
	if (p->protocol == IPPROTO_UDP && dest == bpf_htons(GPE_PORT))
		return identify_sent_gpe(p);
	if (has_md_mark(p->tos) && identify_sent_mx(p))
		return true;
	if ((p->tos & tos_mask) != tos_value && (p->protocol != IPPROTO_UDP || dest != extension_port))
		return false;
	return identify_sent_block(p);
}

#endif
