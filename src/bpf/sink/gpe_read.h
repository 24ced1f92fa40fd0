/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads INT over VXLAN-GPE: outer IP | UDP to port 4790 | block | original IP packet, or a segment of it. */
#ifndef HOSTINT_SINK_GPE_READ_H
#define HOSTINT_SINK_GPE_READ_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/probe_read.h"
#include "sink/segments.h"
#include "sink/tagged.h"

/* Returns what the block says of the superpacket, for a packet with this TCP sequence number and outer IPv4 id. */
static __always_inline struct whole_packet superpacket_of(const struct gpe_block *b, __u8 protocol, __be32 tcp_seq,
							  __u16 outer_id)
{
	return (struct whole_packet){
		.base = bpf_ntohl(b->base),
		.size = bpf_ntohs(b->size),
		.count = bpf_ntohs(b->count),
		.begin = protocol == IPPROTO_TCP ? bpf_ntohl(tcp_seq) : outer_id,
		.is_tcp = protocol == IPPROTO_TCP,
	};
}

/* Remembers the entries of a valid block. */
static __always_inline void take_stack(const struct gpe_block *head, struct tagged_packet *p)
{
	p->hop_words = head->hop_words;
	p->hop_items = bpf_ntohs(head->bitmap);
	p->had_budget = asks_hops(head);
	p->hops = gpe_pushed(head);
	p->hops_at = p->at.l4 + UDP_LEN + GPE_HEAD_LEN;
}

static __always_inline enum sink_read read_gpe(void *data, void *end, struct tagged_packet *p)
{
	struct {
		struct udphdr udp;
		struct gpe_block block;
	} *head = at_offset(data, p->at.l4);
	__u32 header_len = p->at.l4 - p->at.l3, inner_l3 = (p->at.l4 & 0xff) + GPE_ROOM, l4_len, payload;
	__u64 frame_len = p->frame_len;
	bool partial = frame_len > (__u64)(end - data);
	enum layout_verdict found;
	enum int_verdict verdict;
	__u8 outer_family = p->at.family;
	struct flow_key outer = p->facts.key;
	struct gpe_source source;
	struct gpe_block *b;
	__u16 outer_id;
	void *l4;

	if ((void *)(head + 1) > end)
		return partial ? SINK_SHORT : refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
	verdict = check_gpe_block(&head->block);
	if (verdict != INT_VALID)
		return take_bare_probe(data, end, p, false) ? SINK_PROBE : refuse_block(verdict, frame_len);
	if (bpf_ntohs(head->udp.len) != p->at.ip_len - header_len)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	take_stack(&head->block, p);
	if (!find_gpe_source(&head->block, end, &source))
		return partial ? SINK_SHORT : refuse(COUNT_SINK_TRUNCATED, frame_len);
	p->grown = source.grown;
	b = source.rest;
	inner_l3 += p->grown & 0xff;
	outer_id = outer_family == 4 ? bpf_ntohs(p->base.ip4.id) : 0;
	p->outer_ttl = outer_family == 4 ? p->base.ip4.ttl : p->base.ip6.hop_limit;
	p->outer_tos = p->at.tos;
	if (head->block.next == GPE_NEXT_IPV4)
		found = find_ipv4(data, end, inner_l3, &p->inner);
	else
		found = find_ipv6(data, end, inner_l3, &p->inner);
	if (found == LAYOUT_SHORT && partial)
		return SINK_SHORT;
	barrier();
	if (found != LAYOUT_FOUND || p->at.options_len || p->inner.family != outer_family || p->inner.later_fragment ||
	    p->inner.fragment || p->inner.ip_len != p->at.ip_len - header_len - GPE_ROOM - p->grown)
		return refuse(COUNT_SINK_BAD_INNER, frame_len);
	p->inner.layers = (p->at.layers & ~0xffU) | p->inner.protocol;
	if (!fill_key(data, end, &p->inner, &p->facts.key) ||
	    !same_addresses(outer.saddr, outer.daddr, p->facts.key.saddr, p->facts.key.daddr) ||
	    !load_ip(data, end, p->inner.l3, p->inner.family, &p->base))
		return refuse(COUNT_SINK_BAD_INNER, frame_len);
	l4 = at_offset(data, p->inner.l4);
	if (l4 + UDP_LEN > end)
		return partial ? SINK_SHORT : refuse(COUNT_SINK_BAD_INNER, frame_len);
	if (p->inner.protocol == IPPROTO_UDP) {
		p->l4.udp = *(struct udphdr *)l4;
		p->l4_len = l4_len = UDP_LEN;
		if (p->l4.udp.dest == bpf_htons(GPE_PORT) && take_probe(l4 + UDP_LEN, end, FORM_GPE, p))
			return SINK_PROBE;
	} else {
		if (l4 + TCP_BASE_LEN > end)
			return partial ? SINK_SHORT : refuse(COUNT_SINK_BAD_INNER, frame_len);
		p->l4.tcp = *(struct tcphdr *)l4;
		p->l4_len = TCP_BASE_LEN;
		l4_len = (p->l4.tcp.doff >> 4) * 4;
	}
	payload = p->inner.l4 - p->inner.l3 + l4_len;
	if (p->inner.ip_len < payload)
		return refuse(COUNT_SINK_BAD_INNER, frame_len);
	p->headers_len = payload;
	payload = p->inner.ip_len - payload;

	p->facts.encapsulation = ENCAP_VXLAN_GPE;
	p->behind_l4 = false;
	p->facts.source_node = bpf_ntohl(source.entry->node_id);
	p->facts.source_port = bpf_ntohs(source.entry->egress_port);
	p->facts.ingress_ts = bpf_ntohl(b->ts_low);
	p->facts.age_code = bpf_ntohs(head->block.ds_flags) & GPE_FLOW_AGE;
	p->facts.sequence = bpf_ntohl(b->sequence);
	find_segments(p, payload, superpacket_of(b, p->inner.protocol, p->l4.tcp.seq, outer_id));
	p->ingress_port = bpf_ntohs(source.entry->ingress_port);
	p->egress_ts = p->facts.ingress_ts;
	p->by_host_int = 0;
	p->has_queue = !!(head->block.bitmap & bpf_htons(INT_MD_QUEUE));
	p->queue_packets = bpf_ntohl(b->queue) & 0xffffff;
	p->queue_bytes = bpf_ntohl(b->backlog);
	p->orig_len = p->inner.ip_len;
	return SINK_TAGGED;
}

#endif
