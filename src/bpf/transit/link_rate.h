/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Works out how much of a link's bandwidth is free: its speed, less the rate of all packets that leave by it. */
#ifndef HOSTINT_TRANSIT_LINK_RATE_H
#define HOSTINT_TRANSIT_LINK_RATE_H

#include "kernel/kernel.h"

enum {
	SENT_SLOTS = 64,
	LEAST_RATE_US = 10000,   /* shorter times say more of single superpackets than of the link */
	MOST_RATE_US = 60000000, /* in longer ones the counts in a word could wrap */
	KIB_BITS = 8192,
	FREE_UNKNOWN = -1,
};

/* A cache line, so that CPUs do not wait for each other. */
struct sent_slot {
	__u64 bytes;
	__u64 zero[7];
};

/* Each attachment has programs of its own, and so counts of its own: the bytes that left, by CPU. */
struct sent_slot sent_slots[SENT_SLOTS];

/* KiB that had left << 32 | time in us, when the rate was worked out last; 0: never. */
volatile __u64 rate_word;
volatile __s32 rate_free_gbit;

static __always_inline void count_sent(struct __sk_buff *ctx)
{
	struct sent_slot *slot = &sent_slots[bpf_get_smp_processor_id() & (SENT_SLOTS - 1)];

	__sync_fetch_and_add(&slot->bytes, ctx->wire_len);
}

static __always_inline __u32 sent_kib(void)
{
	__u64 bytes = 0;

	for (int i = 0; i < SENT_SLOTS; i++)
		bytes += *(volatile __u64 *)&sent_slots[i].bytes;
	return bytes >> 10;
}

/*
 * Returns the free bandwidth in Gbit/s since the last time, at least 10 ms ago, or FREE_UNKNOWN. It is not static:
 * kernel/single_value.h says why.
 */
__noinline int free_gbit(__u32 link_mbit, __u32 now_us)
{
	__u64 before = rate_word, mbit;
	__u32 since_us, kib;
	int gbit = FREE_UNKNOWN;

	since_us = now_us - (__u32)before;
	if (before && since_us < LEAST_RATE_US)
		return rate_free_gbit;
	kib = sent_kib();
	rate_word = (__u64)kib << 32 | now_us;
	if (before && since_us <= MOST_RATE_US) {
		mbit = (__u64)(kib - (__u32)(before >> 32)) * KIB_BITS / since_us;
		gbit = mbit < link_mbit ? (link_mbit - mbit) / 1000 : 0;
	}
	rate_free_gbit = gbit;
	return gbit;
}

#endif
