/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the metadata stack of a packet that passes, its budget, and what tells the packet from all others. */
#ifndef HOSTINT_TRANSIT_FIND_H
#define HOSTINT_TRANSIT_FIND_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "int/mark.h"
#include "packet/headers.h"
#include "packet/l4_front.h"
#include "packet/layout.h"
#include "transit/attachment.h"
#include "transit/find_geneve.h"
#include "transit/find_md.h"
#include "transit/passing.h"
#include "transit/remembered.h"
#include "transit/verdicts.h"

/* Finds the block behind UDP or the first 20 bytes of TCP; in extension-udp the UDP header is the extra one. */
static __always_inline enum transit_find find_block(void *data, void *end, struct passing_packet *p)
{
	__u32 header_len = p->at.l4 - p->at.l3, pushed;
	struct int_block *head, *block;
	enum int_verdict verdict;
	struct l4_front front;

	head = behind_l4(data, end, &p->at, sizeof(*head), &front, NULL);
	if (!head)
		return short_or_truncated(p, data, end);
	verdict = check_int_block(head);
	if (verdict != INT_VALID)
		return refuse_verdict(p, verdict);
	pushed = int_pushed(head) * INT_HOP_LEN;
	block = (void *)head + (pushed & 0xff);
	barrier_var(block);
	if ((void *)(block + 1) > end)
		return short_or_truncated(p, data, end);
	if (front.stated < front.len || p->at.ip_len < header_len + front.stated + INT_BLOCK_LEN + pushed)
		return refuse_passing(p, COUNT_TRANSIT_BAD_LENGTH);
	p->identity = identity_of(block->node_id, block->ingress_ts, block->sequence, 0);
	p->newest_node = head->node_id;
	p->source_node = block->node_id;
	p->source_time = block->ingress_ts;
	p->had_budget = !!(head->flags & INT_FLAG_BUDGET);
	p->budget = p->had_budget ? least_budget(head->max_hops - head->total_hops, int_pushed(head)) : 0;
	p->l4_len = front.len;
	p->head_len = INT_HEAD_LEN;
	p->entry_len = INT_HOP_LEN;
	p->is_gpe = false;
	return TRANSIT_FOUND;
}

/* Finds the block between the outer UDP header and the original packet. Other payload of VXLAN-GPE is none of INT's. */
static __always_inline enum transit_find find_gpe(void *data, void *end, struct passing_packet *p)
{
	struct {
		struct udphdr udp;
		struct gpe_block block;
	} *head = at_offset(data, p->at.l4);
	__u32 header_len = p->at.l4 - p->at.l3, original_len;
	enum int_verdict verdict;
	struct gpe_source source;
	void *original, *l4;

	if ((void *)(head + 1) > end)
		return p->frame_len > (__u64)(end - data) ? TRANSIT_SHORT : TRANSIT_NO_INT;
	verdict = check_gpe_block(&head->block);
	if (verdict == INT_NOT_INT)
		return TRANSIT_NO_INT;
	if (verdict != INT_VALID)
		return refuse_verdict(p, verdict);
	if (p->at.options_len)
		return refuse_passing(p, COUNT_TRANSIT_IP_OPTIONS);
	if (!find_gpe_source(&head->block, end, &source))
		return short_or_truncated(p, data, end);
	original = source.rest + 1;
	original_len = head->block.next == GPE_NEXT_IPV4 ? IP4_LEN : IP6_LEN;
	l4 = original + original_len;
	barrier_var(l4);
	if (l4 + UDP_LEN > end)
		return short_or_truncated(p, data, end);
	if (bpf_ntohs(head->udp.len) != p->at.ip_len - header_len ||
	    p->at.ip_len < header_len + GPE_ROOM + source.grown + original_len + UDP_LEN)
		return refuse_passing(p, COUNT_TRANSIT_BAD_LENGTH);
	p->inner_protocol =
		*(__u8 *)(original + (original_len == IP4_LEN ? __builtin_offsetof(struct iphdr, protocol) :
								__builtin_offsetof(struct ipv6hdr, nexthdr)));
	p->inner_l4 = p->at.l4 + GPE_ROOM + source.grown + original_len;
	/* TCP's sequence number; of datagrams their length and checksum. */
	p->identity =
		identity_of(source.entry->node_id, source.rest->ts_low, source.rest->sequence, *(__be32 *)(l4 + 4));
	p->newest_node = head->block.node_id;
	p->source_node = source.entry->node_id;
	p->source_time = source.rest->ts_low;
	p->had_budget = asks_hops(&head->block);
	p->budget = least_budget(head->block.remaining_hops, gpe_pushed(&head->block));
	p->l4_len = UDP_LEN;
	p->head_len = GPE_HEAD_LEN;
	p->entry_len = head->block.hop_words * 4;
	p->is_gpe = true;
	p->is_summed = !!head->udp.check;
	return TRANSIT_FOUND;
}

/* outer_vlan is the id of the VLAN tag in the kernel's metadata; 0: none. */
static __always_inline enum transit_find find_stack(void *data, void *end, __u32 outer_vlan, struct passing_packet *p)
{
	enum layout_verdict found = find_layout(data, end, outer_vlan, &p->at);
	bool more = p->frame_len > (__u64)(end - data), marked, by_port = false;
	struct udphdr *udp;

	if (found == LAYOUT_NOT_IP || found == LAYOUT_NO_L4)
		return TRANSIT_NO_INT;
	if (found == LAYOUT_SHORT)
		return more ? TRANSIT_SHORT : TRANSIT_NO_INT;
	/* This makes the verifier forget which way led here. */
	barrier();
	marked = carriers & CARRIER_HOST_INT && (p->at.tos & tos_mask) == tos_value;
	p->is_unnumbered = false;
	p->is_mx = false;
	p->is_geneve = false;
	p->is_md = announces_md(p, 0, &by_port);
	if (found != LAYOUT_FOUND) {
		if (!marked && !p->is_md)
			return TRANSIT_NO_INT;
		return refuse_passing(p,
				      found == LAYOUT_TOO_DEEP ? COUNT_TRANSIT_IP_OPTIONS : COUNT_TRANSIT_BAD_LENGTH);
	}
	if (p->at.later_fragment)
		return marked || p->is_md ? refuse_passing(p, COUNT_TRANSIT_FRAGMENT) : TRANSIT_NO_INT;
	udp = at_offset(data, p->at.l4); /* or TCP, whose ports have the same place */
	if ((void *)(udp + 1) > end)
		return more ? TRANSIT_SHORT : TRANSIT_NO_INT;
	p->is_gpe = carriers & CARRIER_VXLAN_GPE && p->at.protocol == IPPROTO_UDP && udp->dest == bpf_htons(GPE_PORT);
	p->is_md = announces_md(p, udp->dest, &by_port);
	marked |= carriers & CARRIER_HOST_INT && p->at.protocol == IPPROTO_UDP && udp->dest == extension_port;
	if (carriers & CARRIER_GENEVE && p->at.protocol == IPPROTO_UDP && udp->dest == bpf_htons(GENEVE_PORT)) {
		enum transit_find in_option = find_geneve(data, end, p);

		/* A source may have put INT in front of Geneve. */
		if (in_option != TRANSIT_NO_INT)
			return in_option;
	}
	if (!marked && !p->is_gpe && !p->is_md)
		return TRANSIT_NO_INT;
	if (p->at.fragment)
		return refuse_passing(p, COUNT_TRANSIT_FRAGMENT);
	if (p->at.ip_len < p->at.l4 - p->at.l3 || p->at.ip_len > p->frame_len - p->at.l3)
		return refuse_passing(p, COUNT_TRANSIT_BAD_LENGTH);
	if (p->is_gpe) {
		p->is_md = false;
		return find_gpe(data, end, p);
	}
	if (p->is_md) {
		enum transit_find md = find_md(data, end, by_port, p);

		/* The DSCP may be both marks. */
		if (md != TRANSIT_NO_INT)
			return md;
		p->is_md = false;
		if (!marked)
			return refuse_passing(p, COUNT_TRANSIT_FOREIGN_MARK);
	}
	return find_block(data, end, p);
}

#endif
