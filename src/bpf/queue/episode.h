/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Begins and ends the episodes of a queue, counts their packets, and tells as many of them as the quota lets it. */
#ifndef HOSTINT_QUEUE_EPISODE_H
#define HOSTINT_QUEUE_EPISODE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/queue.h"
#include "drop/int_of.h"
#include "queue/states.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} queue_events SEC(".maps");

static __always_inline bool is_over_trigger(const struct queue_state *state)
{
	return state->episode.begin_ns && !state->episode.end_ns;
}

/* A function of its own, so that its variables take no room on the stack for longer: see drop/int_of.h. */
static __noinline int find_outer(struct drop_headers *headers, __be16 protocol, struct flow_key *flow)
{
	return find_flow(headers, protocol, flow);
}

/* Of packets in hostint's tunnel, the flow is the one inside. This is a function of its own for the same reason. */
static __noinline int find_tunnelled(struct drop_headers *headers, struct flow_key *flow)
{
	struct drop_int found = {};

	if (flow->layers == DROP_UDP && flow->dport == bpf_htons(GPE_PORT))
		read_gpe_drop(headers, flow, &found);
	return 0;
}

/*
 * Sends an event of a queue, with the flow of a packet if one is reported; its address is 0 if none is. The functions
 * that are neither static nor inlined are walked by the verifier once, and not for each packet of a list. They take
 * integers alone, and find all else in the queue's state: one CPU at a time takes packets out of a queue.
 */
__noinline int send_queue(__u32 ifindex, __u32 queue, __u32 what, __u64 packet)
{
	struct queue_key key = { .ifindex = ifindex, .queue = queue };
	const struct queue_state *state = bpf_map_lookup_elem(&queue_states, &key);
	struct sk_buff *skb = (struct sk_buff *)packet;
	struct drop_headers headers = {};
	struct flow_key flow = {};
	struct queue_event *e;
	__u32 bytes = 0;

	if (!state)
		return 0;
	if (packet) {
		bytes = BPF_CORE_READ(skb, len);
		headers.head = BPF_CORE_READ(skb, head);
		headers.at = BPF_CORE_READ(skb, network_header);
		headers.end = BPF_CORE_READ(skb, tail);
		if (find_outer(&headers, BPF_CORE_READ(skb, protocol), &flow))
			find_tunnelled(&headers, &flow);
		else
			__builtin_memset(&flow, 0, sizeof(flow));
	}
	e = bpf_ringbuf_reserve(&queue_events, sizeof(*e), 0);
	/* The user half reads the states, too, so that an end is not missed. */
	if (!e) {
		count_queue(COUNT_QUEUE_EVENT_LOST, 1, 0);
		return 0;
	}
	e->kind = EVENT_QUEUE;
	e->what = what;
	e->key = key;
	e->bytes = bytes;
	e->time_ns = state->now_time_ns;
	e->queue_packets = state->now_packets;
	e->queue_bytes = state->now_bytes > 0xffffffff ? 0xffffffff : state->now_bytes;
	__builtin_memcpy(e->flow, &flow, sizeof(e->flow));
	e->episode = state->episode;
	bpf_ringbuf_submit(e, WAKE_IDLE_READER);
	return 0;
}

/*
 * A full queue drops while the packets wait that were there before. So what it dropped while the packet that begins the
 * episode waited is of the episode; where packets are not timed, what it dropped since the packet before left.
 */
static __always_inline void begin_episode(struct queue_state *state)
{
	struct queue_episode *e = &state->episode;

	__builtin_memset(e, 0, sizeof(*e));
	e->number = ++state->episodes;
	e->begin_ns = state->now_ns;
	e->handle = state->handle;
	state->quota_left = state->rule.quota;
	state->drops_before = state->rule.measure == QUEUE_BY_TIME ? state->entry_drops : state->left_drops;
	state->low_ns = 0;
}

static __always_inline void end_episode(const struct queue_key *key, struct queue_state *state, __u64 end_ns)
{
	struct queue_episode *e = &state->episode;

	if (end_ns < e->begin_ns)
		end_ns = e->begin_ns;
	e->end_ns = end_ns;
	e->drops = state->now_drops - state->drops_before;
	state->ended_ns += end_ns - e->begin_ns;
	state->drops += e->drops;
	send_queue(key->ifindex, key->queue, QUEUE_RESET, 0);
}

static __always_inline void note_greatest(__u32 *greatest, __u64 value)
{
	if (value > *greatest)
		*greatest = value > 0xffffffff ? 0xffffffff : value;
}

/* Counts what left during an episode. */
static __always_inline void note_view(struct queue_state *state, __u64 time_ns)
{
	struct queue_episode *e = &state->episode;

	e->drops = state->now_drops - state->drops_before;
	note_greatest(&e->max_bytes, state->now_bytes);
	note_greatest(&e->max_packets, state->now_packets);
	note_greatest(&e->max_time_ns, time_ns);
	note_greatest(&state->max_bytes, state->now_bytes);
	note_greatest(&state->max_time_ns, time_ns);
}

/* Counts a packet over the trigger, and tells it. */
static __always_inline void add_over(const struct queue_key *key, struct queue_state *state, __u64 packet, __u32 bytes,
				     bool begins)
{
	struct queue_episode *e = &state->episode;

	e->last_ns = state->now_ns;
	e->packets++;
	e->bytes += bytes;
	state->over++;
	state->low_ns = 0;
	if (state->quota_left) {
		state->quota_left--;
		e->told++;
		state->told++;
		send_queue(key->ifindex, key->queue, begins ? QUEUE_OVER : QUEUE_SAMPLE, packet);
		return;
	}
	e->suppressed++;
	state->suppressed++;
	if (e->suppressed == 1)
		send_queue(key->ifindex, key->queue, QUEUE_QUOTA_SPENT, 0);
}

/*
 * Some queues let packets of quiet flows pass by those that wait. So an episode by time ends when no packet took as long
 * as the reset for the time of the trigger; the end is then the first of these packets.
 */
static __always_inline void note_below(const struct queue_key *key, struct queue_state *state)
{
	if (state->rule.measure == QUEUE_BY_BYTES) {
		end_episode(key, state, state->now_ns);
		return;
	}
	if (!state->low_ns)
		state->low_ns = state->now_ns;
	if (state->now_ns - state->low_ns >= state->rule.trigger)
		end_episode(key, state, state->low_ns);
}

/* Judges a packet that leaves by what it took, in nanoseconds or bytes. */
static __always_inline void judge_packet(const struct queue_key *key, struct queue_state *state, __u64 packet,
					 __u32 bytes, __u64 took)
{
	bool is_by_time = state->rule.measure == QUEUE_BY_TIME, begins = false;

	if (took >= state->rule.trigger && !is_over_trigger(state)) {
		begin_episode(state);
		begins = true;
	}
	if (!is_over_trigger(state))
		return;
	state->now_time_ns = is_by_time ? (took > 0xffffffff ? 0xffffffff : took) : 0;
	note_view(state, state->now_time_ns);
	if (took >= state->rule.trigger)
		add_over(key, state, packet, bytes, begins);
	else if (took < state->rule.reset)
		note_below(key, state);
	else
		state->low_ns = 0;
}

#endif
