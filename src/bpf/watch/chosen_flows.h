/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses flows where a rule watches only a share of them, or the budget has room for a share. */
#ifndef HOSTINT_WATCH_CHOSEN_FLOWS_H
#define HOSTINT_WATCH_CHOSEN_FLOWS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/watch.h"

static __always_inline __u64 mix(__u64 value)
{
	value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
	value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return value ^ value >> 33;
}

/* Odd, so that no product loses what it is multiplied by. The multiplications do not wait for each other. */
static __always_inline __u64 hash_end(const __be32 *addr, __be16 port)
{
	__u64 high = (__u64)bpf_ntohl(addr[0]) << 32 | bpf_ntohl(addr[1]);
	__u64 low = (__u64)bpf_ntohl(addr[2]) << 32 | bpf_ntohl(addr[3]);

	return (high * 0x9e3779b97f4a7c15ULL + low * 0xbf58476d1ce4e5b9ULL + bpf_ntohs(port) * 0x94d049bb133111ebULL) |
	       1;
}

/* Both directions have the same hash, so that two hosts choose the same flows. */
static __always_inline __u32 hash_flow(const struct flow_key *key)
{
	return mix(hash_end(key->saddr, key->sport) * hash_end(key->daddr, key->dport) + (key->layers & 0xff)) >> 32;
}

static __always_inline bool is_chosen_flow(const struct watch_node *verdict, const struct flow_key *key)
{
	return verdict->one_flow_in <= 1 || !(hash_flow(key) % verdict->one_flow_in);
}

/* Says whether the flow is none of those that stay when one in two to the power of this, which is not 0, does. */
static __always_inline bool is_left_out(__u32 shift, const struct flow_key *key)
{
	return hash_flow(key) >> (32 - (shift & 31));
}

#endif
