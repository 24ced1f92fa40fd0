/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds INT in a received packet, by its DSCP mark, the extension port or the VXLAN-GPE port. */
#ifndef HOSTINT_SINK_READ_H
#define HOSTINT_SINK_READ_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/l4_front.h"
#include "packet/layout.h"
#include "sink/datagram_read.h"
#include "sink/gpe_read.h"
#include "sink/md_read.h"
#include "sink/option_read.h"
#include "sink/probe_read.h"
#include "sink/settings.h"
#include "sink/tagged.h"

/*
 * Takes what a valid block says. Entries that transit hops pushed stand behind its first 12 bytes, so all that follows is
 * read from b, which is the same block moved up by their length.
 */
static __always_inline void take_block(const struct int_block *head, const struct int_block *b, struct tagged_packet *p)
{
	p->hop_words = INT_INS_COUNT;
	p->hop_items = INT_BITMAP;
	p->had_budget = !!(head->flags & INT_FLAG_BUDGET);
	p->facts.source_node = bpf_ntohl(b->node_id);
	p->facts.source_port = bpf_ntohs(b->egress_port);
	p->facts.ingress_ts = bpf_ntohl(b->ingress_ts);
	p->facts.sequence = bpf_ntohl(b->sequence);
	p->facts.count = 1;
	p->facts.age_code = head->flags & INT_FLOW_AGE;
	p->ingress_port = bpf_ntohs(b->ingress_port);
	p->egress_ts = bpf_ntohl(b->egress_ts);
	p->by_host_int = !(head->flags & INT_FLAG_CHECKSUM);
	/* Host-INT leaves the tail out of the checksum. */
	p->int_check =
		csum_fold(csum_words(head, INT_HEAD_LEN) + csum_words(&b->node_id, INT_BLOCK_LEN - INT_HEAD_LEN - 4) +
			  (p->by_host_int ? 0 : csum_words(&b->tail1, 4)));
	p->dscp = head->flags & INT_FLAG_DSCP ? head->dscp | 1 : 0;
	p->has_queue = 0;
	p->bad_segment = 0;
}

/* Remembers the entries that transit hops pushed onto a valid block. Returns their length. */
static __always_inline __u32 find_pushed(const struct int_block *head, __u32 block_at, struct tagged_packet *p)
{
	p->hops = int_pushed(head);
	p->grown = p->hops * INT_HOP_LEN;
	p->hops_at = block_at + INT_HEAD_LEN;
	return p->grown & 0xff;
}

/* Reads IP | UDP to the extension port | INT | original UDP or TCP. */
static __always_inline enum sink_read read_extension(void *data, void *end, struct tagged_packet *p)
{
	__u32 header_len = p->at.l4 - p->at.l3, l4_len;
	struct {
		struct udphdr udp;
		struct int_block block;
	} *head = at_offset(data, p->at.l4);
	void *inner = head + 1;
	__u64 frame_len = p->frame_len;
	enum int_verdict verdict;
	struct int_block *block;
	__u32 room;
	__u8 protocol;

	if (inner + UDP_LEN > end)
		return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
	verdict = check_int_block(&head->block);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	block = (void *)&head->block + find_pushed(&head->block, p->at.l4 + UDP_LEN, p);
	barrier_var(block);
	inner = block + 1;
	if (inner + UDP_LEN > end)
		return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
	room = EXTENSION_LEN + p->grown;
	protocol = *(__u8 *)&block->tail1;
	if (protocol == IPPROTO_UDP) {
		p->l4.udp = *(struct udphdr *)inner;
		l4_len = UDP_LEN;
	} else if (protocol == IPPROTO_TCP) {
		if (inner + TCP_BASE_LEN > end)
			return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
		p->l4.tcp = *(struct tcphdr *)inner;
		l4_len = TCP_BASE_LEN;
	} else {
		return refuse(COUNT_SINK_BAD_PROTOCOL, frame_len);
	}
	if (p->at.ip_len < header_len + room + l4_len || bpf_ntohs(head->udp.len) != p->at.ip_len - header_len)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	if (protocol == IPPROTO_UDP && p->l4.udp.dest == bpf_htons(GPE_PORT) &&
	    take_probe(inner + UDP_LEN, end, FORM_EXTENSION, p))
		return SINK_PROBE;
	take_block(&head->block, block, p);
	p->facts.encapsulation = ENCAP_EXTENSION_UDP;
	p->behind_l4 = false;
	p->facts.key.layers = (p->at.layers & ~0xffU) | protocol;
	p->l4_len = l4_len;
	p->orig_len = p->at.ip_len - room;
	return SINK_TAGGED;
}

/* Reads IP | UDP, or the first 20 bytes of TCP | INT | rest of the packet. */
static __always_inline enum sink_read read_over_tcp_udp(void *data, void *end, struct tagged_packet *p)
{
	__u32 header_len = p->at.l4 - p->at.l3, room;
	struct int_block *head, *block;
	__u64 frame_len = p->frame_len;
	enum int_verdict verdict;
	struct l4_front front;

	head = behind_l4(data, end, &p->at, sizeof(*head), &front, &p->l4);
	if (!head)
		return short_or_refuse(data, end, COUNT_SINK_FOREIGN_MARK, frame_len);
	p->l4_len = front.len;
	verdict = check_int_block(head);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	block = (void *)head + find_pushed(head, p->at.l4 + p->l4_len, p);
	barrier_var(block);
	if ((void *)(block + 1) > end)
		return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
	room = INT_BLOCK_LEN + p->grown;
	if (front.stated < p->l4_len || p->at.ip_len < header_len + front.stated + room)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	take_block(head, block, p);
	p->facts.encapsulation = ENCAP_OVER_TCP_UDP;
	p->behind_l4 = true;
	p->orig_len = p->at.ip_len - room;
	return SINK_TAGGED;
}

static __always_inline bool has_over_tos(const struct sink_settings *set, __u8 tos)
{
	return set->flags & SINK_OVER_TCP_UDP && (tos & set->tos_mask) == set->tos_value;
}

/* Reads a packet that is marked by its DSCP, which may be both marks: the block's first byte says which INT this is. */
static __always_inline enum sink_read read_behind_l4(void *data, void *end, const struct sink_settings *set,
						     struct tagged_packet *p)
{
	struct udphdr *udp = at_offset(data, p->at.l4);
	bool is_udp = p->at.protocol == IPPROTO_UDP, stray;

	if ((void *)(udp + 1) > end)
		return short_or_refuse(data, end, COUNT_SINK_FOREIGN_MARK, p->frame_len);
	stray = udp->dest == bpf_htons(LEASE_STRAY_PORT);
	if ((stray || (is_udp && udp->dest == bpf_htons(GPE_PORT))) && take_bare_probe(data, end, p, stray))
		return SINK_PROBE;
	if (has_md_tos(set, p->at.tos) && begins_md(data, end, p))
		return read_md(data, end, p);
	if (has_over_tos(set, p->at.tos))
		return read_over_tcp_udp(data, end, p);
	return refuse(COUNT_SINK_FOREIGN_MARK, p->frame_len);
}

/* Functions of their own, which the verifier walks once for all ways that lead here. */
__noinline int read_behind_l4_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	return set && p ? read_behind_l4((void *)(long)ctx->data, (void *)(long)ctx->data_end, set, p) :
			  SINK_NOT_MARKED;
}

__noinline int read_behind_l4_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	return set && p ? read_behind_l4((void *)(long)ctx->data, (void *)(long)ctx->data_end, set, p) :
			  SINK_NOT_MARKED;
}

/*
 * outer_vlan is the id of the VLAN tag in the kernel's metadata; 0: none. Most packets have no INT, so those leave as
 * early as possible.
 */
static __always_inline enum sink_read read_packet(void *data, void *end, __u32 outer_vlan,
						  const struct sink_settings *set, struct tagged_packet *p)
{
	enum layout_verdict found = find_layout(data, end, outer_vlan, &p->at);
	__u64 frame_len = p->frame_len;
	bool marked, extension = false, gpe = false, to_gpe_port = false, to_stray_port = false;

	if (found == LAYOUT_NOT_IP || found == LAYOUT_NO_L4 || found == LAYOUT_SHORT)
		return SINK_NOT_MARKED;
	/* This makes the verifier forget which way led here. */
	barrier();
	marked = has_over_tos(set, p->at.tos) || has_md_tos(set, p->at.tos);
	if (found != LAYOUT_FOUND) {
		if (!marked)
			return SINK_NOT_MARKED;
		return refuse(found == LAYOUT_TOO_DEEP ? COUNT_SINK_IP_OPTIONS : COUNT_SINK_BAD_LENGTH, frame_len);
	}
	if (!p->at.later_fragment) {
		struct udphdr *udp = at_offset(data, p->at.l4); /* or TCP, whose ports have the same place */

		if ((void *)(udp + 1) <= end) {
			bool is_udp = p->at.protocol == IPPROTO_UDP;

			to_stray_port = udp->dest == bpf_htons(LEASE_STRAY_PORT);
			to_gpe_port = is_udp && udp->dest == bpf_htons(GPE_PORT);
			extension = is_udp && set->flags & SINK_EXTENSION_UDP && udp->dest == set->extension_port;
			gpe = set->flags & SINK_VXLAN_GPE && to_gpe_port;
		} else if (frame_len > (__u64)(end - data)) {
			return SINK_SHORT;
		}
	}
	if (set->flags & SINK_OPTIONS && begins_option(data, end, p))
		return SINK_IN_OPTION;
	if (set->flags & SINK_OPTIONS && !p->no_area && area_at(data, end, p))
		return SINK_BEHIND_DATA;
	if (!marked && !extension && !gpe)
		return (to_gpe_port || to_stray_port) && take_bare_probe(data, end, p, to_stray_port) ? SINK_PROBE :
													SINK_NOT_MARKED;
	if (p->at.fragment)
		return refuse(COUNT_SINK_FRAGMENT, frame_len);
	if (p->at.ip_len < p->at.l4 - p->at.l3 || p->at.ip_len > frame_len - p->at.l3)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	if (!fill_key(data, end, &p->at, &p->facts.key) || !load_ip(data, end, p->at.l3, p->at.family, &p->base))
		return SINK_NOT_MARKED;
	if (extension)
		return read_extension(data, end, p);
	if (gpe)
		return read_gpe(data, end, p);
	return SINK_BEHIND_L4;
}

#endif
