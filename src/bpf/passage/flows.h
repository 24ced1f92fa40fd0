/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the flows whose packets are timed, and sends an event when one begins or changes. */
#ifndef HOSTINT_PASSAGE_FLOWS_H
#define HOSTINT_PASSAGE_FLOWS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/passage.h"
#include "drop/inner.h"
#include "drop/nat.h"
#include "drop/size.h"
#include "passage/settings.h"
#include "passage/stamp.h"
#include "sink/latency.h"

/* The user half gives it another size. Flows without packets make room for others. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hop_key);
	__type(value, struct hop_flow);
} hop_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 512 * 1024);
} hop_events SEC(".maps");

/* Time when the CPU's bucket of tokens for new flows is full again. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} hop_tokens SEC(".maps");

/* A packet that leaves. */
struct leaving_packet {
	struct hop_key key;
	struct drop_size size;
	struct hop_time time;
	__u32 in_ifindex;
	__u32 out_ifindex;
	__u64 now;
	__be16 outer_port; /* destination of the header in front of INT that hides the flow's own, or 0 */
};

static __always_inline void send_hop(const struct leaving_packet *p, const struct hop_flow *flow, __u32 news)
{
	struct hop_event *e = bpf_ringbuf_reserve(&hop_events, sizeof(*e), 0);

	/* The sweep of the table tells this flow, too. */
	if (!e) {
		count_hop(COUNT_HOP_EVENT_LOST, p->size.segments, p->size.bytes);
		return;
	}
	e->kind = EVENT_HOP;
	e->news = news;
	e->key = p->key;
	e->flow = *flow;
	bpf_ringbuf_submit(e, WAKE_IDLE_READER);
}

static __always_inline void add_to_hops(struct hop_flow *flow, const struct leaving_packet *p)
{
	__sync_fetch_and_add(&flow->packets, p->size.segments);
	__sync_fetch_and_add(&flow->bytes, p->size.bytes);
	__sync_fetch_and_add(&flow->sum_ns, (__u64)p->time.ns * p->size.segments);
	flow->last_ns = p->now;
	flow->last_hop_ns = p->time.ns;
	note_maximum((__s32 *)&flow->max_hop_ns, p->time.ns);
	if (p->time.start == HOP_DEPARTED)
		flow->flags |= HOP_FROM_SENDER;
}

/* Several CPUs may find the same news; the one that changes told_ns tells it. */
static __always_inline void tell_news(struct hop_flow *flow, const struct leaving_packet *p,
				      const struct hop_settings *set)
{
	__u64 told_ns = *(volatile __u64 *)&flow->told_ns;
	__s64 change = (__s64)p->time.ns - flow->told_hop_ns;
	__u32 news = 0;

	if (flow->in_ifindex != p->in_ifindex || flow->out_ifindex != p->out_ifindex)
		news |= HOP_OTHER_PORTS;
	if (set->step_ns && (change < 0 ? -change : change) >= (__s64)set->step_ns)
		news |= HOP_STEP;
	if (!news || p->now - told_ns < set->hold_ns)
		return;
	if (__sync_val_compare_and_swap(&flow->told_ns, told_ns, p->now) != told_ns)
		return;
	flow->told_hop_ns = p->time.ns;
	flow->in_ifindex = p->in_ifindex;
	flow->out_ifindex = p->out_ifindex;
	send_hop(p, flow, news);
}

static __always_inline void begin_hops(const struct leaving_packet *p, struct sk_buff *skb)
{
	struct hop_flow flow = {
		.packets = p->size.segments,
		.bytes = p->size.bytes,
		.first_ns = p->now,
		.last_ns = p->now,
		.told_ns = p->now,
		.sum_ns = (__u64)p->time.ns * p->size.segments,
		.in_ifindex = p->in_ifindex,
		.out_ifindex = p->out_ifindex,
		.last_hop_ns = p->time.ns,
		.told_hop_ns = p->time.ns,
		.max_hop_ns = p->time.ns,
		.flags = p->time.start == HOP_DEPARTED ? HOP_FROM_SENDER : 0,
	};

	if (p->key.tunnel)
		copy_outer((struct flow_key *)flow.before_nat);
	else
		find_before_nat(skb, (const struct flow_key *)p->key.flow, p->outer_port,
				(struct flow_key *)flow.before_nat);
	if (bpf_map_update_elem(&hop_flows, &p->key, &flow, BPF_NOEXIST)) {
		/* Another CPU began the flow, or there was no memory. */
		struct hop_flow *begun = bpf_map_lookup_elem(&hop_flows, &p->key);

		if (begun)
			add_to_hops(begun, p);
		else
			count_hop(COUNT_HOP_FLOW_LIMITED, p->size.segments, p->size.bytes);
		return;
	}
	send_hop(p, &flow, HOP_NEW);
}

#endif
