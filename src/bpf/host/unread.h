/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when TCP's segments of measured flows came from the sink, until the application reads them. They are told from
 * others by addresses, ports and sequence number.
 */
#ifndef HOSTINT_HOST_UNREAD_H
#define HOSTINT_HOST_UNREAD_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/transit.h"
#include "transit/remembered.h"

/* A segment that waits to be read. */
struct unread_segment {
	__u64 word; /* when it came, as transit/remembered.h packs it; 0: none */
	__u32 source_node;
	__u32 ifindex;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOST_UNREAD);
	__type(key, __u32);
	__type(value, struct unread_segment);
} host_unread SEC(".maps");

static __always_inline volatile struct unread_segment *unread_at(__u64 identity)
{
	__u32 index = (__u32)identity & (HOST_UNREAD - 1);

	return bpf_map_lookup_elem(&host_unread, &index);
}

static __always_inline __u64 unread_identity(const struct flow_key *key, __be32 seq)
{
	__be32 ports = (__u32)key->sport << 16 | key->dport;

	return identity_of(ports, seq, key->saddr[3], key->daddr[3]);
}

/* A segment that is repeated counts from its first arrival, unless that took longer than an application waits. */
static __always_inline void note_unread(volatile struct unread_segment *slot, __u64 identity, __u32 source_node,
					__u32 ifindex, __u64 now)
{
	if (slot->word && remembered(slot->word, identity, now))
		return;
	/* Whoever reads the place meanwhile finds none. */
	slot->word = 0;
	slot->source_node = source_node;
	slot->ifindex = ifindex;
	slot->word = (identity & ~REMEMBERED_NS) | (now & REMEMBERED_NS);
}

#endif
