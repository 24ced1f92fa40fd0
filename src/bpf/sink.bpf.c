// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* INT sink: takes INT out of received packets, accounts for the flow, reports news. */
#include "kernel.h"
#include "../../include/hostint/abi.h"
#include "../../include/hostint/count.h"
#include "../../include/hostint/wire.h"
#include "features.h"
#include "settings.h"
#include "checksum.h"
#include "packet.h"
#include "layout.h"
#include "counters.h"
#include "sink_maps.h"
#include "events.h"
#include "branchless.h"
#include "loss_periods.h"
#include "sequence.h"
#include "latency.h"
#include "sink_flows.h"
#include "tagged_packet.h"
#include "gpe_read.h"
#include "int_read.h"
#include "plain_packet.h"
#include "int_pull.h"
#include "pull_xdp.h"
#include "vlan_aside.h"
#include "pull_skb.h"
#include "sweep.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/*
 * Steps that are functions of their own are verified once each, for any state of the packet in scratch, not
 * once for each way that leads to them.
 */

__noinline int read_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = get_scratch();

	if (!set || !p)
		return SINK_NOT_MARKED;
	return read_packet((void *)(long)ctx->data, (void *)(long)ctx->data_end, 0, set, p);
}

__noinline int read_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = get_scratch();

	if (!set || !p)
		return SINK_NOT_MARKED;
	return read_packet((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			   ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0, set, p);
}

__noinline int send_latency(__u32 reasons)
{
	struct tagged_packet *p = get_scratch();
	struct latency_event *e;

	if (!p)
		return 0;
	e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);
	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		return 0;
	}
	e->kind = EVENT_LATENCY;
	e->reasons = reasons;
	e->encapsulation = p->facts.encapsulation;
	e->l4_len = p->at.family == 4 ? p->l4_len : 0;
	e->bucket = p->news.bucket;
	e->key = p->facts.key;
	e->now_ns = p->facts.now;
	e->latency_ns = p->facts.latency_ns;
	e->ifindex = p->facts.ifindex;
	e->source_node = p->facts.source_node;
	e->sequence = p->facts.sequence;
	e->ingress_ts = p->facts.ingress_ts;
	e->egress_ts = p->egress_ts;
	e->ingress_port = p->ingress_port;
	e->egress_port = p->facts.source_port;
	e->queue_packets = p->queue_packets;
	e->queue_bytes = p->queue_bytes;
	__builtin_memcpy(e->ip, &p->base, sizeof(e->ip));
	__builtin_memset(e->l4, 0, sizeof(e->l4));
	if (e->l4_len == UDP_LEN)
		__builtin_memcpy(e->l4, &p->l4, UDP_LEN);
	else
		__builtin_memcpy(e->l4, &p->l4, TCP_BASE_LEN);
	e->has_queue = p->has_queue;
	send_event(e);
	return 0;
}

static __always_inline int account_for(__u32 ifindex, bool locked)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct tagged_packet *p = get_scratch();
	struct sink_flow *f;

	if (!set || !host || !p)
		return 0;
	p->facts.ifindex = ifindex;
	p->facts.now = now_ns(host);
	p->facts.latency_ns = (__u32)p->facts.now - p->facts.ingress_ts;
	p->facts.key.sport = p->l4.udp.source;
	p->facts.key.dport = p->l4.udp.dest;
	p->facts.bytes = p->orig_len + (p->facts.count - 1) * p->headers_len;
	__builtin_memset(&p->news, 0, sizeof(p->news));
	if (p->bad_segment) {
		count_sink(COUNT_SINK_BAD_SEGMENT, 1, p->frame_len);
		return 0;
	}
	f = find_or_add_flow(&p->facts.key);
	if (!f) {
		count_sink(COUNT_SINK_UNTRACKED, p->facts.count, p->frame_len);
		return 0;
	}
	update_flow(f, set, &p->facts, &p->news, locked);
	count_arrival(&p->news);
	tell_loss(f, &p->facts.key, &p->news);
	return p->news.reasons;
}

__noinline int account(__u32 ifindex)
{
	return account_for(ifindex, false);
}

__noinline int account_locked(__u32 ifindex)
{
	return account_for(ifindex, true);
}

/* Before anything is taken out. False: the packet is to be dropped, on demand. */
static __always_inline bool measure(__u32 ifindex, const struct sink_settings *set, const struct tagged_packet *p,
				    bool locked)
{
	__u32 reasons = locked ? account_locked(ifindex) : account(ifindex);

	if (reasons)
		send_latency(reasons);
	if (set->flags & SINK_DROP_TAGGED) {
		count_sink(COUNT_SINK_DROPPED_TAGGED, p->facts.count, p->frame_len);
		return false;
	}
	return true;
}

static __always_inline void count_stripped(const struct tagged_packet *p)
{
	if (p->by_host_int)
		count_sink(COUNT_SINK_HOST_INT, 1, p->frame_len);
	count_sink(COUNT_SINK_STRIPPED, p->facts.count, p->frame_len);
}

__noinline int strip_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = get_scratch();

	return set && p && pull_xdp(ctx, p, set);
}

__noinline int strip_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = get_scratch();

	return set && p ? pull_skb(ctx, p, set) : NOT_PULLED;
}

static __always_inline int sink_frame(struct xdp_md *ctx, bool locked)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p;

	if (!set || is_plain((void *)(long)ctx->data, (void *)(long)ctx->data_end, set))
		return XDP_PASS;
	p = get_scratch();
	if (!p)
		return XDP_PASS;
	p->frame_len = have_xdp_frags ? bpf_xdp_get_buff_len(ctx) : ctx->data_end - ctx->data;
	switch (read_xdp(ctx)) {
	case SINK_TAGGED:
		break;
	case SINK_SHORT:
		count_sink(COUNT_SINK_TRUNCATED, 1, p->frame_len);
		return XDP_PASS;
	default:
		return XDP_PASS;
	}
	if (!measure(ctx->ingress_ifindex, set, p, locked))
		return XDP_DROP;
	if (strip_xdp(ctx))
		count_stripped(p);
	else
		count_sink(COUNT_SINK_CANNOT_RESIZE, 1, p->frame_len);
	return XDP_PASS;
}

static __always_inline int sink_skb(struct __sk_buff *ctx, bool locked)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p;
	int found;

	if (!set || is_plain((void *)(long)ctx->data, (void *)(long)ctx->data_end, set))
		return TCX_NEXT;
	p = get_scratch();
	if (!p)
		return TCX_NEXT;
	p->frame_len = ctx->len;
	found = read_skb(ctx);
	if (found == SINK_SHORT && !bpf_skb_pull_data(ctx, ctx->len < PULL_LEN ? ctx->len : PULL_LEN))
		found = read_skb(ctx);
	if (found == SINK_SHORT)
		count_sink(COUNT_SINK_TRUNCATED, 1, p->frame_len);
	if (found != SINK_TAGGED)
		return TCX_NEXT;
	if (!measure(ctx->ifindex, set, p, locked))
		return TCX_DROP;
	switch (strip_skb(ctx)) {
	case PULLED:
		count_stripped(p);
		return TCX_NEXT;
	case NOT_PULLED:
		count_sink(COUNT_SINK_CANNOT_RESIZE, 1, p->frame_len);
		return TCX_NEXT;
	default:
		count_sink(COUNT_SINK_BROKEN, 1, p->frame_len);
		return TCX_DROP;
	}
}

SEC("xdp")
int sink(struct xdp_md *ctx)
{
	return sink_frame(ctx, false);
}

/* tcx ingress: for veth and containers, where superpackets arrive whole. */
SEC("tc")
int sink_tc(struct __sk_buff *ctx)
{
	return sink_skb(ctx, false);
}

/* The same before 5.12. */
SEC("?xdp")
int sink_locked(struct xdp_md *ctx)
{
	return sink_frame(ctx, true);
}

SEC("?tc")
int sink_tc_locked(struct __sk_buff *ctx)
{
	return sink_skb(ctx, true);
}
