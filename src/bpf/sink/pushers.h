/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Learns which transit hops update the L4 checksum of over-tcp-udp and INT-MD when they push. Switches exist that leave it as it was,
 * and every packet that they pushed onto would be dropped by the receiver.
 *
 * The checksums of a node's first packets are verified, and of one packet a second from then on. A packet whose checksum
 * nothing explains is stripped as if all nodes had updated it: then the kernel drops it, or it is right for reasons that
 * the bytes here do not show, as inside of a tunnel whose own checksum is unfinished.
 */
#ifndef HOSTINT_SINK_PUSHERS_H
#define HOSTINT_SINK_PUSHERS_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/lease_table.h"
#include "hostint/wire.h"
#include "kernel/clock.h"
#include "packet/checksum.h"
#include "sink/counters.h"
#include "sink/grants.h"
#include "sink/loss_periods.h"
#include "sink/tagged.h"
#include "sink/whole_sum.h"

enum {
	PUSHERS_SETS = 64,
	EXPLAINED = 1 << INT_MAX_PUSHED,
	PUSHERS_AGREE = 4,   /* packets that have to agree before a node is known */
	PUSHERS_MISFITS = 4, /* packets that nothing explains, before the sender is asked to let no hop push */
};

/* What is known about a node that pushes. */
struct pusher {
	__u64 checked_ns; /* since the Unix epoch */
	__u8 keeps;       /* 1: it leaves the checksum as it was */
	__u8 agreed;      /* packets in a row that said so */
	__u8 misfits;     /* packets in a row that nothing explains */
	__u8 zero[5];
};

/* The key is the node id. A restarted sink learns again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __be32);
	__type(value, struct pusher);
} sink_pushers SEC(".maps");

enum pushers {
	PUSHERS_KNOWN,
	PUSHERS_DUE, /* they are known, and to be verified again */
	PUSHERS_UNKNOWN,
};

/* Returns by how much a hop that does not update the checksum makes it wrong: its entry, and the lengths and counts. */
static __always_inline __u16 pushed_change(const struct tagged_packet *p, __u32 i)
{
	__u32 lengths = p->l4_len == UDP_LEN ? 2 : 1;
	const __be32 *entry = p->entries[i & (INT_MAX_PUSHED - 1)];

	if (p->facts.encapsulation == ENCAP_INT_MD)
		return csum_fold(csum_words(entry, GPE_HOP_WORDS * 4) +
				 (entry[GPE_HOP_WORDS] & -(__u64)(p->hop_words == GPE_PATH_WORDS)) +
				 bpf_htons(p->hop_words) + csum_neg(bpf_htons(1)) +
				 lengths * bpf_htons(p->hop_words * 4));
	return csum_fold(csum_words(entry, INT_HOP_LEN) + bpf_htons(INT_INS_COUNT << 8) + bpf_htons(1) +
			 lengths * bpf_htons(INT_HOP_LEN));
}

/* Adds to the scratch what this hop changed without updating the checksum, as far as that is known. */
__noinline int recall_pusher(__u32 i)
{
	struct tagged_packet *p = tagged();
	const struct pusher *pusher;

	if (!p)
		return PUSHERS_KNOWN;
	pusher = bpf_map_lookup_elem(&sink_pushers, &p->entries[i & (INT_MAX_PUSHED - 1)][0]);
	if (!pusher || pusher->agreed < PUSHERS_AGREE)
		return PUSHERS_UNKNOWN;
	if (pusher->keeps)
		p->stale = csum_fold((__u64)p->stale + pushed_change(p, i));
	return is_over(p->facts.now, pusher->checked_ns, NS_PER_S) ? PUSHERS_DUE : PUSHERS_KNOWN;
}

/* Does the same for all hops, and returns what is known about the least known one. */
static __always_inline __u32 recall_pushers(const struct tagged_packet *p)
{
	__u32 found = PUSHERS_KNOWN, one;

	if (!has_counted_checksum(p))
		return PUSHERS_KNOWN;
	for (__u32 i = 0; i < INT_MAX_PUSHED; i++) {
		if (i >= p->hops)
			break;
		one = recall_pusher(i);
		found = choose(-(__u64)less(found, one), one, found);
	}
	return found;
}

/*
 * Says whether the set of nodes with this index explains what is left of the sum; returns the set and EXPLAINED, or 0. Sets
 * have to be tried in turn, from 0 on: each has one node more or less than the one before, so that explained, which is
 * what the set's nodes changed, follows from that of the last one.
 */
__noinline int try_set(__u32 i)
{
	struct tagged_packet *p = tagged();
	__u32 nodes = i ^ i >> 1, next;
	__u16 change;

	if (!p)
		return 0;
	if (leaves(p, p->explained))
		return nodes | EXPLAINED;
	next = lowest_bit(i + 1) & (INT_MAX_PUSHED - 1);
	change = p->changes[next];
	p->explained = csum_fold((__u64)p->explained + (nodes >> next & 1 ? csum_neg(change) : change));
	return 0;
}

/*
 * Tries every set of nodes that may have left the checksum as it was, none of them first; of more than six nodes, those
 * of the newest six. Returns as try_set().
 */
static __always_inline __u32 explain_leftover(struct tagged_packet *p)
{
	__u32 found;

	p->explained = 0;
	for (__u32 i = 0; i < PUSHERS_SETS && !(i >> p->hops); i++) {
		found = try_set(i);
		if (found)
			return found;
	}
	return 0;
}

/* Notes what one packet said about the node of this hop. */
__noinline int learn_pusher(__u32 i, __u32 keeps)
{
	struct tagged_packet *p = tagged();
	struct pusher *pusher, begun = {};
	__be32 *node;

	if (!p)
		return 0;
	node = &p->entries[i & (INT_MAX_PUSHED - 1)][0];
	pusher = bpf_map_lookup_elem(&sink_pushers, node);
	if (!pusher) {
		begun.checked_ns = p->facts.now;
		begun.keeps = keeps;
		begun.agreed = 1;
		bpf_map_update_elem(&sink_pushers, node, &begun, BPF_NOEXIST);
		return 0;
	}
	pusher->checked_ns = p->facts.now;
	pusher->misfits = 0;
	if (pusher->keeps != keeps) {
		pusher->keeps = keeps;
		pusher->agreed = 1;
	} else if (pusher->agreed < PUSHERS_AGREE) {
		pusher->agreed++;
	}
	return 0;
}

/* Counts a packet that nothing explains, and after several of a node's lets the lease say that this sink reads no stacks. */
__noinline int note_misfit(void)
{
	struct tagged_packet *p = tagged();
	struct pusher *pusher, begun = {};
	struct sink_grant *grant;

	if (!p)
		return 0;
	count_sink(COUNT_SINK_STACK_CHECKSUM, 1, p->frame_len);
	pusher = bpf_map_lookup_elem(&sink_pushers, &p->entries[0][0]);
	if (!pusher) {
		begun.misfits = 1;
		bpf_map_update_elem(&sink_pushers, &p->entries[0][0], &begun, BPF_NOEXIST);
		return 0;
	}
	if (pusher->misfits < PUSHERS_MISFITS)
		pusher->misfits++;
	grant = bpf_map_lookup_elem(&sink_grants, p->facts.key.saddr);
	if (grant && pusher->misfits >= PUSHERS_MISFITS)
		grant->no_stacks_s = coarse_ns() / NS_PER_S + NO_STACKS_S;
	return 0;
}

/* Learns from the leftovers in the scratch; known is what recall_pushers() returned. */
static __always_inline void learn_pushers(struct tagged_packet *p, __u32 known)
{
	__u32 found;

	for (__u32 i = 0; i < INT_MAX_PUSHED; i++)
		p->changes[i] = pushed_change(p, i);
	found = explain_leftover(p);
	if (!found) {
		/* One damaged packet of known nodes says nothing about them. */
		if (known == PUSHERS_UNKNOWN)
			note_misfit();
		return;
	}
	for (__u32 i = 0; i < INT_MAX_PUSHED; i++) {
		if (i >= p->hops)
			break;
		learn_pusher(i, found >> i & 1);
	}
	p->stale = p->explained;
}

#endif
