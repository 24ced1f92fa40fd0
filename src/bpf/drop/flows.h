/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the flows of dropped packets, and sends an event about each new one. */
#ifndef HOSTINT_DROP_FLOWS_H
#define HOSTINT_DROP_FLOWS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/drop.h"
#include "kernel/stamp.h"
#include "drop/counts.h"
#include "drop/inner.h"
#include "drop/int_of.h"
#include "drop/nat.h"
#include "drop/origin.h"
#include "drop/size.h"

/* The user half gives it another size. Flows that drop nothing any more make room for others. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct drop_key);
	__type(value, struct drop_flow);
} drop_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 512 * 1024);
} drop_events SEC(".maps");

/* Time when the CPU's bucket of tokens for new flows is full again. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} drop_tokens SEC(".maps");

/* Returns the time since a packet set out; packets of the host's own TCP say when that was. */
static __always_inline __u32 age_of(struct sk_buff *skb, __u64 now)
{
	__u64 since = skb->tstamp;

	if (!since || since > now || now - since >= DROP_AGE_UNKNOWN || !has_monotonic_stamp(skb))
		return DROP_AGE_UNKNOWN;
	return now - since;
}

static __always_inline void add_to_flow(struct drop_flow *flow, struct sk_buff *skb, const struct drop_size *size,
					__u64 now)
{
	__u32 age = age_of(skb, now);

	__sync_fetch_and_add(&flow->packets, 1);
	__sync_fetch_and_add(&flow->segments, size->segments);
	__sync_fetch_and_add(&flow->bytes, size->bytes);
	flow->last_ns = now;
	if (age != DROP_AGE_UNKNOWN)
		flow->age_ns = age;
	if (size->segments > 1)
		flow->flags |= DROP_SUPERPACKET;
}

/* What is known of a dropped packet that belongs to a flow. */
struct dropped_packet {
	struct drop_key key;
	struct drop_int found;
	struct drop_origin from;
	struct drop_size size;
	__u64 place; /* address of the code */
};

static __always_inline void send_drop(const struct drop_key *key, const struct drop_flow *flow,
				      const struct drop_size *size)
{
	struct drop_event *e = bpf_ringbuf_reserve(&drop_events, sizeof(*e), 0);

	/* The sweep of the table tells this flow, too. */
	if (!e) {
		count_drop(COUNT_DROP_EVENT_LOST, size);
		return;
	}
	e->kind = EVENT_DROP;
	e->zero = 0;
	e->key = *key;
	e->flow = *flow;
	bpf_ringbuf_submit(e, WAKE_IDLE_READER);
}

static __always_inline void begin_drops(const struct dropped_packet *p, struct sk_buff *skb, __u64 now)
{
	struct net_device *dev = p->from.dev;
	struct drop_flow flow = {
		.packets = 1,
		.segments = p->size.segments,
		.bytes = p->size.bytes,
		.first_ns = now,
		.last_ns = now,
		.place = p->place,
		.cgroup = cgroup_of(p->from.sk),
		.in_ifindex = skb->skb_iif,
		.age_ns = age_of(skb, now),
		.queue_packets = BPF_CORE_READ(dev, qdisc, q.qlen),
		.queue_bytes = BPF_CORE_READ(dev, qdisc, qstats.backlog),
		.flags = p->size.segments > 1 ? DROP_SUPERPACKET : 0,
		.sequence = p->found.sequence,
	};

	if (dev && p->from.ifindex != flow.in_ifindex)
		flow.out_ifindex = p->from.ifindex;
	if (p->key.tunnel)
		copy_outer(&flow.before_nat);
	else
		find_before_nat(skb, &p->key.flow, p->found.outer_port, &flow.before_nat);
	if (bpf_map_update_elem(&drop_flows, &p->key, &flow, BPF_NOEXIST)) {
		/* Another CPU began the flow, or there was no memory. */
		struct drop_flow *begun = bpf_map_lookup_elem(&drop_flows, &p->key);

		if (begun)
			add_to_flow(begun, skb, &p->size, now);
		else
			count_drop(COUNT_DROP_FLOW_LIMITED, &p->size);
		return;
	}
	send_drop(&p->key, &flow, &p->size);
}

#endif
