/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Remembers the MSS that was announced in a SYN, so that several peer programs take the room for INT off it once. */
#ifndef HOSTINT_PEER_SYNS_H
#define HOSTINT_PEER_SYNS_H

#include "kernel/kernel.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"

enum {
	SYNS = 4096,
};

/*
 * A SYN may pass several interfaces of a host that have a peer program: a bridge and its port, a bond, a VLAN device, a
 * guest's veth. Nothing in the packet's metadata survives all of these ways. The address, port and sequence number of
 * the sender do, even NAT on this host, which changes the receiver of packets that come in.
 */
struct syn_key {
	__be32 saddr[4];
	__be32 sequence;
	__be16 sport;
	__u16 zero;
};

/* A repeated SYN announces the sender's MSS again, so it differs from `clamped` and is recognised as a new one. */
struct syn_mss {
	__u16 announced;
	__u16 clamped;
};

/* All peer programs of a host share this map. An entry is needed only until the packet has passed the last of them. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SYNS);
	__type(key, struct syn_key);
	__type(value, struct syn_mss);
} peer_syns SEC(".maps");

static __always_inline void fill_syn_key(const struct ip_headers *ip, const struct tcphdr *tcp, struct syn_key *key)
{
	__builtin_memcpy(key->saddr, ip->saddr, sizeof(key->saddr));
	key->sequence = tcp->seq;
	key->sport = tcp->source;
	key->zero = 0;
}

/* Returns the MSS as it came to this host. `mss` is that in the packet, from which the room may have been taken. */
static __always_inline __u32 announced_mss(const struct syn_key *key, __u32 mss)
{
	const struct syn_mss *syn = bpf_map_lookup_elem(&peer_syns, key);

	return syn && syn->clamped == mss ? syn->announced : mss;
}

static __always_inline void remember_mss(const struct syn_key *key, __u32 announced, __u32 clamped)
{
	struct syn_mss syn = { .announced = announced, .clamped = clamped };

	bpf_map_update_elem(&peer_syns, key, &syn, BPF_ANY);
}

#endif
