/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether a connection is watched: by network namespace, cgroup and the rules of the watchlist. */
#ifndef HOSTINT_TCP_WATCHED_H
#define HOSTINT_TCP_WATCHED_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/tcp.h"
#include "kernel/single_value.h"
#include "tcp/socket.h"
#include "watch/chosen_flows.h"
#include "watch/list.h"
#include "watch/verdict.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcp_settings);
} tcp_settings SEC(".maps");

/* Returns the verdict of the rules, or NULL. */
static __always_inline const struct watch_node *judge(const struct inet_sock *inet, const struct flow_key *key)
{
	bool is_ipv4 = is_mapped(key->daddr);
	struct watching w = { .watched = UNWATCHED };
	struct watch_values values = {
		.key = key,
		.family = is_ipv4 ? 4 : 6,
		.is_tcp = 1,
	};

	watch(is_ipv4 ? key->daddr + 3 : key->daddr, values.family, &w);
	if (!w.node)
		return NULL;
	values.generation = w.generation;
	values.tos = is_ipv4 ? inet->tos : BPF_CORE_READ(inet, pinet6, tclass);
	values.ifindex = BPF_CORE_READ(inet, sk.sk_dst_cache, dev, ifindex);
	return find_verdict(w.node, &values);
}

/* If the connection is watched, fills in its flow, and sets the number of its class, which was 0. */
static __always_inline bool is_watched(const struct inet_sock *inet, struct flow_key *key, __u32 *class)
{
	const struct tcp_settings *set = single_value(&tcp_settings);
	const struct watch_node *verdict;

	if (!set || netns_of(&inet->sk) != set->netns)
		return false;
	if (set->cgroup && !is_in_cgroup(socket_cgroup(&inet->sk), set->cgroup))
		return false;
	read_socket_flow(inet, key);
	if (!(set->flags & TCP_BY_RULES))
		return true;
	verdict = judge(inet, key);
	if (!verdict || !(verdict->flags & WATCH_TAG) || !is_chosen_flow(verdict, key))
		return false;
	*class = verdict->other;
	return true;
}

#endif
