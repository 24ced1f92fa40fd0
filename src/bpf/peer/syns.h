/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Remembers the MSS that was announced in a SYN, so that several peer programs take the room for INT off it once. */
#ifndef HOSTINT_PEER_SYNS_H
#define HOSTINT_PEER_SYNS_H

#include "kernel/kernel.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"

enum {
	SYN_BITS = 12,
	SYNS = 1 << SYN_BITS,
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
	struct bpf_spin_lock lock;
	struct syn_key key;
	__u16 announced;
	__u16 clamped;
};

/*
 * All peer programs of a host share this map. A SYN takes the place of an earlier one: it is needed only until the packet
 * has passed the last of them. If another SYN takes it sooner, the room is taken off twice, which does no harm.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SYNS);
	__type(key, __u32);
	__type(value, struct syn_mss);
} peer_syns SEC(".maps");

static __always_inline void fill_syn_key(const struct ip_headers *ip, const struct tcphdr *tcp, struct syn_key *key)
{
	__builtin_memcpy(key->saddr, ip->saddr, sizeof(key->saddr));
	key->sequence = tcp->seq;
	key->sport = tcp->source;
	key->zero = 0;
}

static __always_inline struct syn_mss *place_of(const struct syn_key *key)
{
	__u32 mixed = key->saddr[0] ^ key->saddr[1] ^ key->saddr[2] ^ key->saddr[3] ^ key->sequence ^ key->sport;
	__u32 place = (mixed * 0x9e3779b9U) >> (32 - SYN_BITS);

	return bpf_map_lookup_elem(&peer_syns, &place);
}

static __always_inline bool is_same_syn(const struct syn_key *one, const struct syn_key *other)
{
	return one->saddr[0] == other->saddr[0] && one->saddr[1] == other->saddr[1] &&
	       one->saddr[2] == other->saddr[2] && one->saddr[3] == other->saddr[3] &&
	       one->sequence == other->sequence && one->sport == other->sport;
}

/* Returns the MSS as it came to this host. `mss` is that in the packet, from which the room may have been taken. */
static __always_inline __u32 announced_mss(struct syn_mss *syn, const struct syn_key *key, __u32 mss)
{
	bpf_spin_lock(&syn->lock);
	if (is_same_syn(&syn->key, key) && syn->clamped == mss)
		mss = syn->announced;
	bpf_spin_unlock(&syn->lock);
	return mss;
}

static __always_inline void remember_mss(struct syn_mss *syn, const struct syn_key *key, __u32 announced, __u32 clamped)
{
	bpf_spin_lock(&syn->lock);
	syn->key = *key;
	syn->announced = announced;
	syn->clamped = clamped;
	bpf_spin_unlock(&syn->lock);
}

#endif
