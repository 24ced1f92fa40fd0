/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads IOAM in IPv6 hop-by-hop options, as hostint's source writes it and routers fill it in. All other packets with
 * hop-by-hop options are not marked.
 */
#ifndef HOSTINT_SINK_IOAM_READ_H
#define HOSTINT_SINK_IOAM_READ_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/ioam.h"
#include "int/ioam_room.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/hops.h"
#include "sink/probe_read.h"
#include "sink/segments.h"
#include "sink/tagged.h"

enum {
	IOAM_SECOND_NS = 1000000000,
	IOAM_FRACTION_NS = 1000,
	IOAM_FRACTIONS = 1000000, /* in a second */
};

/* Says by a few instructions of most packets that they have no hop-by-hop header. */
static __always_inline bool may_have_ioam(void *data, void *end)
{
	struct ethhdr *eth = data;
	struct ipv6hdr *ip = (void *)(eth + 1);

	if ((void *)(ip + 1) > end)
		return false;
	return eth->h_proto == bpf_htons(ETH_P_IPV6) ? ip->nexthdr == IPPROTO_HOPOPTS : is_vlan(eth->h_proto);
}

/* Returns the bytes that the trace option has for entries; more than it can have if its length is wrong. */
static __always_inline __u32 trace_room(const struct ioam_head *h)
{
	return (__u32)h->trace_len - (__u32)IOAM_TRACE_LEN;
}

/* Says whether the options are as a source writes them and routers fill them in. */
static __always_inline enum int_verdict check_ioam(const struct ioam_head *h)
{
	__u32 room = trace_room(h), words = bpf_ntohs(h->trace_words);
	__u32 entries = room / (__u32)IOAM_ENTRY_LEN, left = words & IOAM_FREE_WORDS;
	bool own = h->pad[0] == 1 && !h->pad[1] && h->own_len == IOAM_OWN_LEN;
	bool e2e = h->e2e_type == IOAM_TYPE && h->e2e_len == IOAM_E2E_LEN && h->e2e_kind == IOAM_E2E_KIND &&
		   h->e2e_namespace == bpf_htons(IOAM_NAMESPACE);
	bool trace = h->trace_type == IOAM_TYPE && h->trace_kind == IOAM_TRACE_KIND &&
		     h->trace_namespace == bpf_htons(IOAM_NAMESPACE);

	if (h->own_version || h->own_flags & IOAM_FLAG_UNKNOWN)
		return INT_BAD_VERSION;
	if (h->e2e_bits != bpf_htons(IOAM_E2E_BITS) || h->trace_bits != bpf_htonl(IOAM_TRACE_BITS << 8) ||
	    words >> 11 != IOAM_ENTRY_WORDS)
		return INT_BAD_BITMAP;
	if (!own || !e2e || !trace || entries > INT_MAX_PUSHED || entries * IOAM_ENTRY_LEN != room ||
	    left > entries * IOAM_ENTRY_WORDS || left % (__u32)IOAM_ENTRY_WORDS ||
	    (h->len + 1) * 8U != IOAM_HEAD_LEN + ioam_room(entries))
		return INT_BAD_SHIM;
	return INT_VALID;
}

/* Remembers where the entries of a valid head are. */
static __always_inline void find_entries(const struct ioam_head *h, struct tagged_packet *p)
{
	__u32 entries = trace_room(h) / (__u32)IOAM_ENTRY_LEN;
	__u32 left = bpf_ntohs(h->trace_words) & IOAM_FREE_WORDS;

	p->grown = ioam_room(entries);
	p->hops = entries - left / (__u32)IOAM_ENTRY_WORDS;
	p->hop_words = GPE_HOP_WORDS;
	p->hop_items = GPE_BITMAP;
	p->hops_at = p->at.l3 + IP6_LEN + IOAM_HEAD_LEN + left * 4;
	p->had_budget = false;
}

static __always_inline void take_ioam_head(const struct ioam_head *h, struct tagged_packet *p)
{
	p->facts.encapsulation = ENCAP_IOAM;
	p->facts.source_node = bpf_ntohl(h->node_id);
	p->facts.source_port = bpf_ntohs(h->port);
	p->facts.ingress_ts = bpf_ntohl(h->time);
	p->facts.sequence = bpf_ntohl(h->sequence);
	p->facts.age_code = h->own_flags & IOAM_FLOW_AGE;
	p->ingress_port = p->facts.source_port;
	p->egress_ts = p->facts.ingress_ts;
	p->by_host_int = 0;
	p->has_queue = 0;
	p->orig_len = p->at.ip_len - IOAM_HEAD_LEN - p->grown;
}

/* Reads IPv6's fixed header. Returns false if no hop-by-hop header follows it. */
static __always_inline bool find_hop_by_hop(void *data, void *end, __u32 outer_vlan, struct tagged_packet *p)
{
	__u32 vlans = outer_vlan, l3;
	struct ipv6hdr *ip;
	__be16 proto;

	l3 = skip_vlan_tags(data, end, &p->at, &vlans, &proto);
	if (!l3 || proto != bpf_htons(ETH_P_IPV6))
		return false;
	/* This makes the verifier forget how many tags there are. */
	barrier_var(l3);
	ip = at_offset(data, l3);
	if ((void *)(ip + 1) > end || bpf_ntohl(ip->version_class_flow) >> 28 != 6 || ip->nexthdr != IPPROTO_HOPOPTS)
		return false;
	p->at.l3 = l3;
	p->at.family = 6;
	p->at.tos = ipv6_class(ip);
	p->at.ip_len = IP6_LEN + bpf_ntohs(ip->payload_len);
	p->at.layers = vlans << 8;
	p->at.options_len = 0;
	p->at.fragment = 0;
	p->at.later_fragment = 0;
	p->at.dont_fragment = 1;
	p->base.ip6 = *ip;
	return true;
}

static __always_inline enum sink_read read_ioam_l4(void *data, void *end, const struct ioam_head *h,
						   struct tagged_packet *p)
{
	__u32 l4_at = p->at.l3 + IP6_LEN + IOAM_HEAD_LEN + p->grown, headers, payload;
	__u64 frame_len = p->frame_len;
	void *l4 = at_offset(data, l4_at);

	p->at.l4 = l4_at;
	if (l4 + UDP_LEN > end)
		return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
	p->l4_len = UDP_LEN;
	headers = IP6_LEN + UDP_LEN;
	if (p->at.protocol == IPPROTO_UDP) {
		p->l4.udp = *(struct udphdr *)l4;
		if (p->l4.udp.dest == bpf_htons(GPE_PORT) && take_probe(l4 + UDP_LEN, end, FORM_IOAM, p))
			return SINK_PROBE;
	} else {
		if (l4 + TCP_BASE_LEN > end)
			return short_or_refuse(data, end, COUNT_SINK_TRUNCATED, frame_len);
		p->l4.tcp = *(struct tcphdr *)l4;
		p->l4_len = TCP_BASE_LEN;
		headers = IP6_LEN + (p->l4.tcp.doff >> 4) * 4;
	}
	payload = p->at.ip_len - IOAM_HEAD_LEN - p->grown - headers;
	if (p->at.ip_len < IOAM_HEAD_LEN + p->grown + headers || headers < IP6_LEN + p->l4_len)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	if (h->trace_words & bpf_htons(IOAM_OVERFLOW))
		count_sink(COUNT_SINK_TRACE_FULL, 1, frame_len);
	p->headers_len = headers;
	find_segments(p, payload,
		      (struct whole_packet){
			      .base = bpf_ntohl(h->base),
			      .size = bpf_ntohs(h->size),
			      .count = bpf_ntohs(h->count),
			      .begin = bpf_ntohl(p->l4.tcp.seq),
			      .is_tcp = true, /* superpackets of UDP are never in ioam */
		      });
	return SINK_TAGGED;
}

/* outer_vlan is the id of the VLAN tag in the kernel's metadata; 0: none. */
static __always_inline enum sink_read read_ioam(void *data, void *end, __u32 outer_vlan,
						const struct sink_settings *set, struct tagged_packet *p)
{
	__u64 frame_len = p->frame_len;
	enum int_verdict verdict;
	struct ioam_head *head;

	if (!(set->flags & SINK_IOAM) || !find_hop_by_hop(data, end, outer_vlan, p))
		return SINK_NOT_MARKED;
	head = at_offset(data, p->at.l3 + IP6_LEN);
	if ((void *)(head + 1) > end)
		return frame_len > (__u64)(end - data) ? SINK_SHORT : SINK_NOT_MARKED;
	if (head->own_type != IOAM_OWN_TYPE || head->own_magic != bpf_htons(IOAM_MAGIC))
		return SINK_NOT_MARKED;
	verdict = check_ioam(head);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	if (!is_l4(head->next))
		return refuse(head->next == IPPROTO_FRAGMENT ? COUNT_SINK_FRAGMENT : COUNT_SINK_BAD_PROTOCOL,
			      frame_len);
	if (p->at.ip_len < IP6_LEN + IOAM_HEAD_LEN || p->at.ip_len > frame_len - p->at.l3)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);
	p->at.protocol = head->next;
	p->at.layers |= head->next;
	__builtin_memcpy(p->facts.key.saddr, p->base.ip6.saddr, sizeof(p->facts.key.saddr));
	__builtin_memcpy(p->facts.key.daddr, p->base.ip6.daddr, sizeof(p->facts.key.daddr));
	p->facts.key.layers = p->at.layers;
	find_entries(head, p);
	take_ioam_head(head, p);
	return read_ioam_l4(data, end, head, p);
}

/* Says when a packet arrived at a router, in the form of an INT entry with node, ports, queue and arrival. */
static __always_inline void translate_entry(const struct ioam_entry *from, __be32 *to)
{
	__u32 fraction = bpf_ntohl(from->fraction);
	__u64 ns = (__u64)bpf_ntohl(from->seconds) * IOAM_SECOND_NS + fraction * IOAM_FRACTION_NS;

	if (fraction >= IOAM_FRACTIONS)
		ns = ~0ULL;
	to[0] = from->node_id & bpf_htonl(0x00ffffff);
	__builtin_memcpy(to + 1, &from->ingress_port, 4);
	to[2] = from->queue;
	to[3] = bpf_htonl(ns >> 32);
	to[4] = bpf_htonl((__u32)ns);
	to[5] = 0;
}

/* Does what take_entries() does for the entries of INT. */
static __always_inline bool take_ioam_entries(void *data, void *end, struct tagged_packet *p)
{
	__u32 at = p->hops_at, hops = p->hops;
	__u64 path = hops;

	for (__u32 i = 0; i < INT_MAX_PUSHED; i++) {
		struct ioam_entry *entry;
		__be32 *to = p->entries[i & (INT_MAX_PUSHED - 1)];

		if (i >= hops)
			break;
		entry = at_offset(data, at);
		if ((void *)(entry + 1) > end)
			return false;
		translate_entry(entry, to);
		path = path_with(path, to);
		at += IOAM_ENTRY_LEN;
	}
	p->facts.path = path >> 48 ?: 1;
	return true;
}

static __always_inline bool take_any_entries(void *data, void *end, struct tagged_packet *p)
{
	return p->facts.encapsulation == ENCAP_IOAM ? take_ioam_entries(data, end, p) : take_entries(data, end, p);
}

#endif
