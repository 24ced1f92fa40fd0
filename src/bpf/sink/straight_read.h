/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads a tagged packet for the straight way: without VLAN tags, options, extension headers and fragments, and with INT just
 * as a source writes it, onto which no transit hop pushed. What is not so is left to sink/read.h, without a count.
 */
#ifndef HOSTINT_SINK_STRAIGHT_READ_H
#define HOSTINT_SINK_STRAIGHT_READ_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "hostint/wire.h"
#include "packet/headers.h"
#include "sink/gpe_read.h"
#include "sink/straight_bytes.h"
#include "sink/tagged.h"

/* The fields of the outer headers, which are read once. */
struct straight_headers {
	void *l4;
	__u32 ip_len;
	__u32 header_len; /* of the IP header */
	__u16 id;
	__u8 protocol;
	__u8 tos;
};

static __always_inline __u32 l4_len_of(const struct tcphdr *tcp)
{
	return (tcp->doff >> 4) * 4;
}

/* Takes what the block says, whose first eight bytes were checked. */
static __always_inline bool take_straight_block(const struct int_block *b, struct tagged_packet *p)
{
	if (*(const __be32 *)&b->bitmap != bpf_htonl(INT_BITMAP << 16) || !b->max_hops)
		return false;
	p->had_budget = !!(b->flags & INT_FLAG_BUDGET);
	p->grown = 0;
	p->facts.age_code = b->flags & INT_FLOW_AGE;
	p->facts.source_node = bpf_ntohl(b->node_id);
	p->facts.source_port = bpf_ntohs(b->egress_port);
	p->facts.ingress_ts = bpf_ntohl(b->ingress_ts);
	p->facts.sequence = bpf_ntohl(b->sequence);
	p->facts.count = 1;
	return true;
}

static __always_inline bool read_straight_over(const struct straight_headers *h, void *end, struct tagged_packet *p,
					       const bool tcp)
{
	const __u32 l4_len = tcp ? TCP_BASE_LEN : UDP_LEN;
	struct int_block *b = h->l4 + l4_len;
	struct udphdr *udp = h->l4;
	__u32 want = UDP_LEN;

	if ((void *)(b + 1) > end || !is_straight_block(b, true))
		return false;
	if (tcp)
		want = l4_len_of(h->l4);
	else if (h->ip_len != h->header_len + bpf_ntohs(udp->len))
		return false;
	if (want < l4_len || h->ip_len < h->header_len + want + INT_BLOCK_LEN || !take_straight_block(b, p))
		return false;
	p->facts.key.layers = h->protocol;
	p->facts.key.sport = udp->source;
	p->facts.key.dport = udp->dest;
	p->facts.encapsulation = ENCAP_OVER_TCP_UDP;
	p->facts.bytes = h->ip_len - INT_BLOCK_LEN;
	p->l4_len = l4_len;
	return true;
}

static __always_inline bool read_straight_extension(const struct straight_headers *h, void *end,
						    struct tagged_packet *p)
{
	struct {
		struct udphdr udp;
		struct int_block block;
		struct udphdr inner; /* or TCP, whose ports have the same place */
	} *head = h->l4;
	__u8 protocol;
	__u32 l4_len;

	if ((void *)(head + 1) > end || !is_straight_block(&head->block, false))
		return false;
	protocol = *(__u8 *)&head->block.tail1;
	l4_len = protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN;
	if (!is_l4(protocol) || h->ip_len != h->header_len + bpf_ntohs(head->udp.len) ||
	    h->ip_len < h->header_len + EXTENSION_LEN + l4_len || !take_straight_block(&head->block, p))
		return false;
	/* It may be a probe. */
	if (head->inner.dest == bpf_htons(GPE_PORT))
		return false;
	if (protocol == IPPROTO_TCP && (void *)&head->inner + TCP_BASE_LEN > end)
		return false;
	p->facts.key.layers = protocol;
	p->facts.key.sport = head->inner.source;
	p->facts.key.dport = head->inner.dest;
	p->facts.encapsulation = ENCAP_EXTENSION_UDP;
	p->facts.bytes = h->ip_len - EXTENSION_LEN;
	return true;
}

/* Reads the original packet's IP header. Its addresses must be those of the outer one. */
static __always_inline bool read_straight_inner(void *data, void *inner, void *end, struct straight_headers *in,
						const __u8 family)
{
	if (family == 4) {
		const struct iphdr *ip = inner, *outer = data + ETH_HLEN;

		in->l4 = inner + IP4_LEN;
		in->header_len = IP4_LEN;
		if (in->l4 + UDP_LEN > end)
			return false;
		in->ip_len = bpf_ntohs(ip->tot_len);
		in->protocol = ip->protocol;
		return ip->version_ihl == 0x45 && !is_fragment(ip->frag_off) && ip->saddr == outer->saddr &&
		       ip->daddr == outer->daddr;
	}
	const struct ipv6hdr *ip = inner, *outer = data + ETH_HLEN;

	in->l4 = inner + IP6_LEN;
	in->header_len = IP6_LEN;
	if (in->l4 + UDP_LEN > end)
		return false;
	in->ip_len = bpf_ntohs(ip->payload_len) + IP6_LEN;
	in->protocol = ip->nexthdr;
	return bpf_ntohl(ip->version_class_flow) >> 28 == 6 &&
	       same_addresses(ip->saddr, ip->daddr, outer->saddr, outer->daddr);
}

static __always_inline bool read_straight_gpe(void *data, const struct straight_headers *h, void *end,
					      struct tagged_packet *p, const __u8 family)
{
	const __u8 next = family == 4 ? GPE_NEXT_IPV4 : GPE_NEXT_IPV6;
	struct udphdr *outer = h->l4, *udp;
	struct gpe_block *b = (void *)(outer + 1), *entry = b;
	struct straight_headers in;
	__u32 more = 0, headers, payload;
	__be32 seq = 0;

	if ((void *)(b + 1) > end ||
	    !are_bytes(b, BYTES_FROM(gpe_block, vx_flags, .vx_flags = 0xff, .vx_next = 0xff),
		       BYTES_FROM(gpe_block, vx_flags, .vx_flags = GPE_VX_FLAGS, .vx_next = GPE_VX_INT)))
		return false;
	if (is_straight_gpe_shim(b, next, true))
		more = (GPE_PATH_WORDS - GPE_HOP_WORDS) * 4;
	else if (!is_straight_gpe_shim(b, next, false))
		return false;
	if (!are_straight_gpe_items(b, !!more) || bpf_ntohs(outer->len) != h->ip_len - h->header_len)
		return false;
	/* As in sink/gpe_read.h, what stands behind the latency is read from b. */
	b = (void *)b + more;
	barrier_var(b);
	if ((void *)(b + 1) > end || !read_straight_inner(data, b + 1, end, &in, family))
		return false;
	if (in.ip_len != h->ip_len - h->header_len - GPE_ROOM - more || !is_l4(in.protocol))
		return false;
	udp = in.l4;
	headers = in.header_len + UDP_LEN;
	if (in.protocol == IPPROTO_TCP) {
		const struct tcphdr *tcp = in.l4;

		if ((void *)(tcp + 1) > end)
			return false;
		headers = in.header_len + l4_len_of(tcp);
		seq = tcp->seq;
	} else if (udp->dest == bpf_htons(GPE_PORT)) {
		return false;
	}
	if (in.ip_len < headers)
		return false;
	payload = in.ip_len - headers;
	p->facts.sequence = bpf_ntohl(b->sequence);
	if (!has_known_segments(p, payload, superpacket_of(b, in.protocol, seq, h->id)))
		return false;
	p->had_budget = !!more;
	p->grown = more;
	p->facts.age_code = bpf_ntohs(entry->ds_flags) & GPE_FLOW_AGE;
	p->facts.source_node = bpf_ntohl(entry->node_id);
	p->facts.source_port = bpf_ntohs(entry->egress_port);
	p->facts.ingress_ts = bpf_ntohl(b->ts_low);
	p->facts.key.layers = in.protocol;
	p->facts.key.sport = udp->source;
	p->facts.key.dport = udp->dest;
	p->facts.encapsulation = ENCAP_VXLAN_GPE;
	p->facts.bytes = in.ip_len + (p->facts.count - 1) * headers;
	return true;
}

static __always_inline bool read_straight_family(void *data, void *end, const struct sink_settings *set,
						 struct tagged_packet *p, const __u8 family)
{
	struct straight_headers h = { .header_len = family == 4 ? IP4_LEN : IP6_LEN };
	struct udphdr *udp = data + ETH_HLEN + h.header_len;

	if ((void *)(udp + 1) > end)
		return false;
	h.l4 = udp;
	if (family == 4) {
		const struct iphdr *ip = data + ETH_HLEN;

		if (ip->version_ihl != 0x45 || is_fragment(ip->frag_off))
			return false;
		h.ip_len = bpf_ntohs(ip->tot_len);
		h.protocol = ip->protocol;
		h.tos = ip->tos;
		p->at.ttl = ip->ttl;
		h.id = bpf_ntohs(ip->id);
		map_addresses(ip, p->facts.key.saddr, p->facts.key.daddr);
	} else {
		const struct ipv6hdr *ip = data + ETH_HLEN;

		if (bpf_ntohl(ip->version_class_flow) >> 28 != 6)
			return false;
		h.ip_len = bpf_ntohs(ip->payload_len) + IP6_LEN;
		h.protocol = ip->nexthdr;
		h.tos = ipv6_class(ip);
		p->at.ttl = ip->hop_limit;
		h.id = 0;
		__builtin_memcpy(p->facts.key.saddr, ip->saddr, sizeof(ip->saddr));
		__builtin_memcpy(p->facts.key.daddr, ip->daddr, sizeof(ip->daddr));
	}
	if (h.ip_len > 0xffff || h.ip_len > p->frame_len - ETH_HLEN)
		return false;
	p->at.family = family;
	p->facts.wire_bytes = h.ip_len;
	if (h.protocol == IPPROTO_UDP && set->flags & SINK_EXTENSION_UDP && udp->dest == set->extension_port)
		return read_straight_extension(&h, end, p);
	if (h.protocol == IPPROTO_UDP && udp->dest == bpf_htons(GPE_PORT))
		return set->flags & SINK_VXLAN_GPE && read_straight_gpe(data, &h, end, p, family);
	if (udp->dest == bpf_htons(LEASE_STRAY_PORT) || !(set->flags & SINK_OVER_TCP_UDP) ||
	    (h.tos & set->tos_mask) != set->tos_value)
		return false;
	if (h.protocol == IPPROTO_TCP)
		return read_straight_over(&h, end, p, true);
	return h.protocol == IPPROTO_UDP && read_straight_over(&h, end, p, false);
}

/* Fills in the facts of the packet. Its frame_len is known. */
static __always_inline bool read_straight(void *data, void *end, const struct sink_settings *set,
					  struct tagged_packet *p)
{
	struct ethhdr *eth = data;

	if ((void *)(eth + 1) > end || set->flags & SINK_DROP_TAGGED)
		return false;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return read_straight_family(data, end, set, p, 4);
	return eth->h_proto == bpf_htons(ETH_P_IPV6) && read_straight_family(data, end, set, p, 6);
}

#endif
