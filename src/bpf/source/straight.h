/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tags nearly all packets in one step: those whose destination alone decides that they are watched, of a known flow whose
 * form is decided, with nothing unusual. Everything is checked before anything changes; any other packet takes the general
 * way (source/look.h), which finds all as it was. What is changed is what the general way would change.
 */
#ifndef HOSTINT_SOURCE_STRAIGHT_H
#define HOSTINT_SOURCE_STRAIGHT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/source_flow.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "kernel/device_mtu.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "source/budget.h"
#include "source/checksum.h"
#include "source/flow_begin.h"
#include "source/look.h"
#include "source/outgoing.h"
#include "source/plan.h"

/* Reads the IP header, as look() does, but only one without options, extension headers and fragments. */
static __always_inline bool look_at_ip(void *data, void *end, struct outgoing_packet *p, const __u8 family)
{
	struct layout *at = &p->at;

	if (family == 4) {
		const struct iphdr *ip = data + ETH_HLEN;

		if ((void *)(ip + 1) > end || ip->version_ihl != 0x45 || is_fragment(ip->frag_off))
			return false;
		at->ip_len = bpf_ntohs(ip->tot_len);
		at->protocol = ip->protocol;
		at->tos = ip->tos;
		at->ttl = ip->ttl;
		at->dont_fragment = !!(ip->frag_off & bpf_htons(IP_DF));
		map_addresses(ip, p->key.saddr, p->key.daddr);
	} else {
		const struct ipv6hdr *ip = data + ETH_HLEN;

		if ((void *)(ip + 1) > end || bpf_ntohl(ip->version_class_flow) >> 28 != 6 ||
		    bpf_ntohs(ip->payload_len) > 0xffff - IP6_LEN)
			return false;
		at->ip_len = bpf_ntohs(ip->payload_len) + IP6_LEN;
		at->protocol = ip->nexthdr;
		at->tos = ipv6_class(ip);
		at->ttl = ip->hop_limit;
		at->dont_fragment = 1;
		__builtin_memcpy(p->key.saddr, ip->saddr, sizeof(ip->saddr));
		__builtin_memcpy(p->key.daddr, ip->daddr, sizeof(ip->daddr));
	}
	at->family = family;
	at->l3 = ETH_HLEN;
	at->l4 = ETH_HLEN + (family == 4 ? IP4_LEN : IP6_LEN);
	at->options_len = 0;
	at->vlan_tags = 0;
	return is_l4(at->protocol) && !is_group(data, p);
}

/* Reads the headers into the scratch, as look() does. A packet with SYN or RST begins or ends something. */
static __always_inline bool look_at(void *data, void *end, const struct host_settings *host, struct outgoing_packet *p,
				    const __u8 family)
{
	const __u32 header_len = family == 4 ? IP4_LEN : IP6_LEN;
	const struct udphdr *udp = data + ETH_HLEN + header_len;
	__u32 ip_len;

	if (!look_at_ip(data, end, p, family) || (void *)(udp + 1) > end)
		return false;
	ip_len = p->at.ip_len;
	/* What has the mark already may have INT. */
	if (has_any_mark(p->at.tos) || ip_len > p->frame_len - ETH_HLEN)
		return false;
	p->l4.udp = *udp;
	p->l4_len = UDP_LEN;
	p->l4_header_len = UDP_LEN;
	if (p->at.protocol == IPPROTO_TCP) {
		const struct tcphdr *tcp = (void *)udp;

		if ((void *)(tcp + 1) > end || tcp->flags & (TCP_SYN | TCP_RST))
			return false;
		p->l4.tcp = *tcp;
		p->l4_len = TCP_BASE_LEN;
		p->l4_header_len = (tcp->doff >> 4) * 4;
		if (p->l4_header_len < TCP_BASE_LEN)
			return false;
	} else if (bpf_ntohs(udp->len) != ip_len - header_len || is_report(host, udp->dest)) {
		return false;
	}
	if (ip_len < header_len + p->l4_header_len || is_to_own_port(p))
		return false;
	p->key.sport = udp->source;
	p->key.dport = udp->dest;
	p->key.layers = p->at.protocol;
	return true;
}

/* Says whether the packet fits as it is, and leaves in the scratch how it is tagged. */
static __always_inline bool plan_straight(struct __sk_buff *ctx, struct outgoing_packet *p, const struct source_flow *f)
{
	__u32 len;

	if (needs_checksum_state(p) && !read_checksum_state(ctx, p))
		return false;
	p->segment_size = 0;
	p->fixed_gso = false;
	p->encapsulation = p->form == FLOW_MIXED ? mixed_encapsulation(p, f) : p->form;
	len = p->at.ip_len + path_room(p, p->encapsulation);
	return len <= path_limit(p, f, skb_mtu(ctx, 0)) && (p->at.dont_fragment || len <= SHORTEST_MTU);
}

/* Reads the headers into the scratch; for the general functions that tag it, also the IP header. */
static __always_inline bool look_straight(void *data, void *end, const struct host_settings *host,
					  struct outgoing_packet *p)
{
	const struct ethhdr *eth = data;

	if ((void *)(eth + 1) > end)
		return false;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return look_at(data, end, host, p, 4);
	return eth->h_proto == bpf_htons(ETH_P_IPV6) && look_at(data, end, host, p, 6);
}

/* Says whether the guard has nothing to do but to note new data or an end, and notes it. Of mixed form nothing is guarded. */
static __always_inline bool passes_straight(const struct outgoing_packet *p, struct source_flow *f)
{
	__u32 len, end;

	if (!is_tcp(p) || p->form == FLOW_MIXED)
		return true;
	len = tcp_len(p);
	end = bpf_ntohl(p->l4.tcp.seq) + len;
	if (len && (__s32)(end - f->tcp_end) <= 0)
		return false;
	if (p->l4.tcp.flags & TCP_FIN)
		f->open = 0;
	if (len) {
		f->tcp_end = end;
		f->tcp_end_at = p->now_ns >> GUARD_SHIFT;
		f->repeats = 0;
	}
	return true;
}

#endif
