// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* INT sink: takes INT out of received packets, accounts for the flow, reports news. */
#include "kernel.h"
#include "../../include/hostint/abi.h"
#include "../../include/hostint/wire.h"
#include "features.h"
#include "settings.h"
#include "checksum.h"
#include "packet.h"
#include "counters.h"
#include "sink_maps.h"
#include "events.h"
#include "branchless.h"
#include "sequence.h"
#include "latency.h"
#include "sink_flows.h"
#include "tagged_packet.h"
#include "int_pull.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/*
 * One packet at a time and CPU. Not on the stack: the verifier remembers every constant that was stored
 * there and would walk the rest of the program once for each combination.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tagged_packet);
} sink_scratch SEC(".maps");

static __always_inline void send_latency(const struct tagged_packet *p)
{
	struct latency_event *e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);

	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		return;
	}
	e->kind = EVENT_LATENCY;
	e->reasons = p->news.reasons;
	e->encapsulation = p->facts.encapsulation;
	e->l4_len = p->facts.l4_len;
	e->bucket = p->news.bucket;
	e->key = p->facts.key;
	e->now_ns = p->facts.now;
	e->latency_ns = p->facts.latency_ns;
	e->ifindex = p->facts.ifindex;
	__builtin_memcpy(e->ip, &p->ip, sizeof(e->ip));
	__builtin_memcpy(e->l4, &p->l4, sizeof(e->l4));
	__builtin_memcpy(e->int_block, &p->facts.block, sizeof(e->int_block));
	e->zero = 0;
	send_event(e);
}

static __always_inline void account(struct tagged_packet *p, const struct sink_settings *set, __u64 frame_len)
{
	struct sink_flow *f = find_or_add_flow(&p->facts.key);

	if (!f) {
		count_sink(COUNT_SINK_UNTRACKED, 1, frame_len);
		return;
	}
	update_flow(f, set, &p->facts, &p->news);
	count_arrival(&p->news);
	tell_loss(f, &p->facts.key, &p->news);
	if (p->news.reasons)
		send_latency(p);
}

SEC("xdp")
int sink(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	__u64 frame_len = end - data;
	struct tagged_packet *p;
	__u32 zero = 0;

	if (!set || !host)
		return XDP_PASS;
	p = bpf_map_lookup_elem(&sink_scratch, &zero);
	if (!p || parse(data, end, set, p) != SINK_TAGGED)
		return XDP_PASS;

	p->facts.ifindex = ctx->ingress_ifindex;
	p->facts.now = now_ns(host);
	p->facts.latency_ns = (__u32)p->facts.now - bpf_ntohl(p->facts.block.ingress_ts);
	p->facts.key.sport = p->l4.udp.source;
	p->facts.key.dport = p->l4.udp.dest;
	account(p, set, frame_len);

	if (set->flags & SINK_DROP_TAGGED) {
		count_sink(COUNT_SINK_DROPPED_TAGGED, 1, frame_len);
		return XDP_DROP;
	}
	if (!(p->facts.block.flags & INT_FLAG_CHECKSUM))
		count_sink(COUNT_SINK_HOST_INT, 1, frame_len);
	count_sink(strip(ctx, p, set) ? COUNT_SINK_STRIPPED : COUNT_SINK_CANNOT_RESIZE, 1, frame_len);
	return XDP_PASS;
}

/* Sweeps the flow whose key is the index-th in the "packet". Global: the verifier walks it once, not per call. */
__noinline int sweep_key(struct xdp_md *ctx, __u32 index)
{
	const struct flow_key *key = (void *)(long)ctx->data + index % SWEEP_KEYS * sizeof(*key);
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct flow_news news = {};
	struct flow_key k;
	struct sink_flow *f;

	if (!set || !host || (void *)(key + 1) > (void *)(long)ctx->data_end)
		return 0;
	k = *key;
	f = bpf_map_lookup_elem(&sink_flows, &k);
	if (!f)
		return 0;
	sweep_flow(f, set, now_ns(host), &news);
	tell_loss(f, &k, &news);
	return 1;
}

/* Run by the daemon, never attached: the "packet" is a list of keys of flows whose loss period may be over. */
SEC("xdp")
int sink_sweep(struct xdp_md *ctx)
{
	__u64 bytes = ctx->data_end - ctx->data;
	__u32 keys = bytes / sizeof(struct flow_key);

	for (__u32 i = 0; i < SWEEP_KEYS; i++) {
		if (i >= keys)
			break;
		sweep_key(ctx, i);
	}
	return XDP_PASS;
}
