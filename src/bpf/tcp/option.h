/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the state of option 114 for each socket and each pair of hosts. */
#ifndef HOSTINT_TCP_OPTION_STATE_H
#define HOSTINT_TCP_OPTION_STATE_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "hostint/tcp.h"

enum {
	OPTION_PEERS = 16384,
	PAIR_GIVEN_UP_S = 600,
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tcp_option_state);
} tcp_options SEC(".maps");

/* Until when the host at the other end takes the option, as leases say (monotonic clock). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OPTION_PEERS);
	__type(key, struct address_pair);
	__type(value, __u64);
} tcp_option_peers SEC(".maps");

/* Pairs of hosts between which connections timed out. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OPTION_PEERS);
	__type(key, struct address_pair);
	__type(value, struct tcp_option_pair);
} tcp_option_pairs SEC(".maps");

/* True if the first is worse. A hop with less free bandwidth, or a longer queue, has a higher value. */
static __always_inline bool is_worse(const struct tcp_option_sample *one, const struct tcp_option_sample *other)
{
	return one->value > other->value || (one->value == other->value && one->latency > other->latency);
}

/* Returns what to echo for a request that hops filled in. */
static __always_inline struct tcp_option_sample echo_of(const struct tcp_option *request)
{
	__u32 latency = request->latency[0] << 16 | request->latency[1] << 8 | request->latency[2];
	__u8 hop = TCP_OPTION_FIRST_TTL - request->hop;
	struct tcp_option_sample echo = {
		.value = request->value,
		.hop_speed = hop << 4 | (request->key_speed & 15),
		.latency = latency,
	};

	if (latency >= TCP_OPTION_FAR) {
		latency >>= 8;
		if (latency >= TCP_OPTION_FAR)
			latency = TCP_OPTION_FAR - 1;
		echo.latency = TCP_OPTION_FAR | latency;
	}
	return echo;
}

static __always_inline struct tcp_option_sample told_in(const struct tcp_option *echo)
{
	struct tcp_option_sample told = {
		.value = echo->echo_value,
		.hop_speed = echo->echo_hop_speed,
		.latency = echo->echo_latency[1] << 8 | echo->echo_latency[0],
	};

	return told;
}

#endif
