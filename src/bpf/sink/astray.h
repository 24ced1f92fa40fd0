/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognises packets that a sink would have stripped, at an interface that has none. */
#ifndef HOSTINT_SINK_ASTRAY_H
#define HOSTINT_SINK_ASTRAY_H

#include "kernel/kernel.h"
#include "hostint/astray.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "int/mx_block.h"
#include "kernel/clock.h"
#include "kernel/fib.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"
#include "sink/grants.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASTRAY_DEVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct astray_count);
} sink_astray_counts SEC(".maps");

static __always_inline bool is_marked(__u8 tos, const struct sink_settings *set)
{
	return (tos & set->tos_mask) == set->tos_value || (tos & set->md_tos_mask) == set->md_tos_value;
}

static __always_inline bool is_int_port(__be16 port, const struct sink_settings *set)
{
	return port == bpf_htons(GPE_PORT) || port == set->extension_port;
}

/* Tells most packets without INT by a few instructions. Frames with a VLAN tag are looked at on the VLAN's device. */
static __always_inline bool may_be_tagged(struct __sk_buff *ctx, const struct sink_settings *set)
{
	void *ip = (void *)(long)ctx->data + (begins_with_ip(ctx) ? 0 : ETH_HLEN), *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *ip6 = ip;
	struct iphdr *ip4 = ip;
	struct udphdr *udp;
	__u8 protocol, tos;

	if (ctx->vlan_present)
		return false;
	if (ctx->protocol == bpf_htons(ETH_P_IP)) {
		udp = (void *)(ip4 + 1);
		if ((void *)udp > end || ip4->version_ihl != 0x45)
			return true;
		tos = ip4->tos;
		protocol = ip4->protocol;
	} else if (ctx->protocol == bpf_htons(ETH_P_IPV6)) {
		udp = (void *)(ip6 + 1);
		if ((void *)udp > end)
			return true;
		tos = ipv6_class(ip6);
		protocol = ip6->nexthdr;
	} else {
		return false;
	}
	if (protocol == IPPROTO_UDP)
		return (void *)(udp + 1) > end || is_int_port(udp->dest, set) || is_marked(tos, set);
	return protocol == IPPROTO_TCP ? is_marked(tos, set) : is_extension_header(protocol);
}

static __always_inline bool has_block_at(struct __sk_buff *ctx, __u32 at)
{
	struct int_block block;

	return !bpf_skb_load_bytes(ctx, at, &block, sizeof(block)) &&
	       (check_int_block(&block) == INT_VALID || is_md_or_mx(&block));
}

static __always_inline bool is_tagged(struct __sk_buff *ctx, const struct ip_headers *ip,
				      const struct sink_settings *set)
{
	struct gpe_block gpe;
	struct udphdr udp;

	if (ip->protocol == IPPROTO_TCP)
		return is_marked(ip->tos, set) && has_block_at(ctx, ip->l4 + TCP_BASE_LEN);
	if (ip->protocol != IPPROTO_UDP || bpf_skb_load_bytes(ctx, ip->l4, &udp, sizeof(udp)))
		return false;
	if (udp.dest == bpf_htons(GPE_PORT))
		return !bpf_skb_load_bytes(ctx, ip->l4 + UDP_LEN, &gpe, sizeof(gpe)) && is_gpe_block(&gpe);
	if (udp.dest != set->extension_port && !is_marked(ip->tos, set))
		return false;
	return has_block_at(ctx, ip->l4 + UDP_LEN);
}

/* Anyone can forge a tagged packet, so only hosts whose packets the sink strips are believed. */
static __always_inline bool is_from_source(const struct ip_headers *ip)
{
	__be32 mapped[4] = { 0, 0, bpf_htonl(0xffff), ip->saddr[0] };

	return allowed_until(ip->version == 4 ? mapped : ip->saddr, ip->version, coarse_ns());
}

static __always_inline bool reaches_this_host(struct __sk_buff *ctx, const struct ip_headers *ip)
{
	struct fib_question question = {
		.family = ip->version == 4 ? FIB_FAMILY_IPV4 : FIB_FAMILY_IPV6,
		.l4_protocol = ip->protocol,
		.ifindex = ctx->ifindex,
	};

	__builtin_memcpy(question.saddr, ip->saddr, sizeof(question.saddr));
	__builtin_memcpy(question.daddr, ip->daddr, sizeof(question.daddr));
	return is_for_this_host(ctx, &question);
}

static __always_inline void count_astray(struct __sk_buff *ctx, const struct sink_settings *set)
{
	__u32 ifindex = ctx->ifindex;
	struct astray_count *count;
	struct ip_headers ip;

	if (!read_outer_ip(ctx, &ip) || !is_tagged(ctx, &ip, set) || !is_from_source(&ip) ||
	    !reaches_this_host(ctx, &ip))
		return;
	count = bpf_map_lookup_elem(&sink_astray_counts, &ifindex);
	if (!count)
		return;
	__sync_fetch_and_add(&count->packets, 1);
	count->last_ns = coarse_ns();
}

#endif
