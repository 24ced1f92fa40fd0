/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Times packets for this host until a socket takes them. On that way the kernel clears the time that a packet carries, so their
 * arrivals are in a table, by the address that the kernel has the packet at. Packets that no socket takes leave an arrival there,
 * which the next packet at the address replaces, or one that there is no room for. A packet that came by no interface of ours, or
 * in another network namespace, may be at the address later: it has other addresses or ports.
 */
#ifndef HOSTINT_PASSAGE_LOCAL_H
#define HOSTINT_PASSAGE_LOCAL_H

#include "kernel/kernel.h"
#include "hostint/passage.h"
#include "passage/arrival.h"
#include "packet/ip_headers.h"

enum {
	LOCAL_MOST_NS = 0x7fffffff, /* no packet takes longer to its socket */
};

/* What stays the same on the way, unless an address is translated. */
struct local_packet {
	__be32 saddr[4];
	__be32 daddr[4];
	__be16 ports[2];
	__u32 ifindex;
};

enum {
	LOCAL_WORDS = sizeof(struct local_packet) / sizeof(__u32),
};

struct local_arrival {
	__u64 ns; /* monotonic clock */
	struct local_packet packet;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HOP_LOCAL_PACKETS);
	__type(key, __u64);
	__type(value, struct local_arrival);
} hop_local SEC(".maps");

static __always_inline void describe_local(const struct ip_headers *ip, const __be16 *ports,
					   struct local_packet *packet)
{
	__builtin_memcpy(packet->saddr, ip->saddr, sizeof(packet->saddr));
	__builtin_memcpy(packet->daddr, ip->daddr, sizeof(packet->daddr));
	packet->ports[0] = ports[0];
	packet->ports[1] = ports[1];
}

static __always_inline void note_local(struct __sk_buff *ctx, const struct hop_arrival *a, __u64 now)
{
	struct local_arrival came = { .ns = now, .packet.ifindex = ctx->ifindex };
	__u64 at = (unsigned long)ctx;

	describe_local(&a->ip, a->ports, &came.packet);
	bpf_map_update_elem(&hop_local, &at, &came, BPF_ANY);
}

/* The packet begins with its IP header here. */
static __always_inline bool read_local(struct __sk_buff *ctx, struct local_packet *packet)
{
	__u8 version = ctx->protocol == bpf_htons(ETH_P_IP) ? 4 : 6;
	struct ip_headers ip;
	__be16 ports[2];

	if (!read_ip(ctx, 0, version, &ip))
		return false;
	read_arrival_ports(ctx, &ip, ports);
	describe_local(&ip, ports, packet);
	packet->ifindex = ctx->ingress_ifindex;
	return true;
}

static __always_inline bool is_same_local(const struct local_packet *one, const struct local_packet *other)
{
	const __u32 *a = (const void *)one, *b = (const void *)other;
	__u32 differs = 0;

	for (int i = 0; i < LOCAL_WORDS; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

/* Returns false for a packet whose arrival is not known. */
static __always_inline bool take_local(struct __sk_buff *ctx, __u32 *in_ifindex, __u32 *ns)
{
	__u64 at = (unsigned long)ctx, took;
	struct local_packet packet = {};
	struct local_arrival *found;
	bool is_same;

	found = bpf_map_lookup_elem(&hop_local, &at);
	if (!found)
		return false;
	is_same = read_local(ctx, &packet) && is_same_local(&found->packet, &packet);
	took = bpf_ktime_get_ns() - found->ns;
	bpf_map_delete_elem(&hop_local, &at);
	*in_ifindex = packet.ifindex;
	*ns = took;
	return is_same && took <= LOCAL_MOST_NS;
}

#endif
