/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the outer headers of vxlan-gpe, which the kernel or the device repeats in each segment. */
#ifndef HOSTINT_SOURCE_GPE_PUSH_H
#define HOSTINT_SOURCE_GPE_PUSH_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "source/budget.h"
#include "source/flow_numbers.h"
#include "source/outgoing.h"

static __always_inline void fill_gpe_block(struct outgoing_packet *p, __u32 node_id, __u64 now,
					   const struct flow_number *number)
{
	struct gpe_block *b = &p->out.gpe.block;
	__u32 hops = budget(p);

	b->vx_flags = GPE_VX_FLAGS;
	b->vx_reserved[0] = b->vx_reserved[1] = 0;
	b->vx_next = GPE_VX_INT;
	b->vni = 0;
	b->type = GPE_TYPE;
	b->length = GPE_WORDS + asking_room(ENCAP_VXLAN_GPE, hops) / 4;
	b->shim_flags = 0;
	b->next = p->at.family == 4 ? GPE_NEXT_IPV4 : GPE_NEXT_IPV6;
	b->version = GPE_VERSION;
	b->md_reserved = 0;
	b->hop_words = hops ? path_words() : GPE_HOP_WORDS;
	b->remaining_hops = hops;
	b->bitmap = bpf_htons(hops ? path_bitmap() : GPE_BITMAP);
	b->domain = bpf_htons(GPE_DOMAIN);
	b->ds_bitmap = bpf_htons(GPE_DS_BITMAP);
	b->ds_flags = bpf_htons(number->age_code);
	b->node_id = bpf_htonl(node_id);
	b->ingress_port = bpf_htons(p->ifindex);
	b->egress_port = b->ingress_port;
	/* The source does not know its own latency. What follows stands a word further on if there is a queue. */
	if (hops)
		b->queue = ~0U;
	if (hops && !without_queue)
		b = (void *)b + sizeof(b->queue);
	if (!hops || !without_queue)
		b->queue = bpf_htonl(p->queue_packets & 0xffffff);
	b->ts_high = bpf_htonl(now >> 32);
	b->ts_low = bpf_htonl((__u32)now);
	b->sequence = bpf_htonl(number->sequence);
	b->backlog = bpf_htonl(p->queue_bytes);
	b->base = p->at.protocol == IPPROTO_TCP ? p->l4.tcp.seq :
		  p->at.family == 4             ? bpf_htonl(bpf_ntohs(out_ipv4(p)->id)) :
						  0;
	b->size = bpf_htons(p->segment_size);
	b->count = bpf_htons(p->segments);
}

/*
 * The outer IP header is the original one with another length and protocol, so traffic class, congestion, hop limit and
 * addresses are those of the flow. The source port spreads flows over paths and queues.
 */
static __always_inline void push_gpe(struct outgoing_packet *p)
{
	struct udphdr *udp = &p->out.gpe.udp;
	__u32 room = GPE_ROOM + asking_room(ENCAP_VXLAN_GPE, budget(p));
	__u16 ports = bpf_ntohs(p->l4.udp.source) ^ (bpf_ntohs(p->l4.udp.dest) * 31) ^ p->at.protocol;

	if (p->at.family == 4) {
		struct iphdr *ip = out_ipv4(p);

		ip->version_ihl = 0x45;
		ip->tos = p->at.tos;
		ip->tot_len = bpf_htons(p->at.ip_len + IP4_LEN + room);
		ip->protocol = IPPROTO_UDP;
		ip->check = 0;
		ip->check = csum_neg(csum_fold(csum_words(ip, IP4_LEN)));
	} else {
		ipv6_change(out_ipv6(p), p->at.tos, p->at.ip_len + room);
		out_ipv6(p)->nexthdr = IPPROTO_UDP;
	}
	udp->source = bpf_htons(0xc000 | (ports & 0x3fff));
	udp->dest = bpf_htons(GPE_PORT);
	udp->len = bpf_htons(p->at.ip_len + room);
	udp->check = 0; /* the original packet has its own checksum; RFC 6935 permits this over IPv6 */
}

#endif
