/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the rules, the state of each queue, and the counters. */
#ifndef HOSTINT_QUEUE_STATES_H
#define HOSTINT_QUEUE_STATES_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/queue.h"
#include "kernel/counters.h"
#include "kernel/single_value.h"
#include "queue/qdisc.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QUEUE_RULES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct queue_key);
	__type(value, struct queue_rule);
} queue_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QUEUE_STATES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct queue_key);
	__type(value, struct queue_state);
} queue_states SEC(".maps");

/* The first packet of a queue inserts this record, whose counts are 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queue_state);
} queue_state_new SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTER_SLOTS);
	__type(key, __u32);
	__type(value, struct counter);
} queue_counters SEC(".maps");

static __always_inline void count_queue(enum queue_counter what, __u64 packets, __u64 bytes)
{
	count_in(&queue_counters, what, packets, bytes);
}

/* Returns the rule of the queue, or NULL, and finds its key. A queue's own rule comes before that of the interface. */
static __always_inline const struct queue_rule *rule_of(struct Qdisc *sch, struct queue_key *key)
{
	const struct queue_rule *rule;
	struct queue_key all = { .queue = QUEUE_ALL };

	find_key(sch, key);
	all.ifindex = key->ifindex;
	rule = bpf_map_lookup_elem(&queue_rules, key);
	if (!rule)
		rule = bpf_map_lookup_elem(&queue_rules, &all);
	return rule && rule->netns == queue_netns(sch) ? rule : NULL;
}

static __always_inline struct queue_state *state_of(const struct queue_key *key)
{
	struct queue_state *state = bpf_map_lookup_elem(&queue_states, key), *none;

	if (state)
		return state;
	none = single_value(&queue_state_new);
	if (none)
		bpf_map_update_elem(&queue_states, key, none, BPF_NOEXIST);
	state = bpf_map_lookup_elem(&queue_states, key);
	if (!state)
		count_queue(COUNT_QUEUE_NO_STATE, 1, 0);
	return state;
}

#endif
