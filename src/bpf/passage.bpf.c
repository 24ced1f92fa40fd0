// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Times packets from the interface by which they come to the one by which they leave. The packet itself carries the time
 * of its arrival, in a field that the kernel has for that: no byte of it is changed, and none is dropped because of it.
 *
 *	TC ingress -> with a VLAN tag, which comes again by the VLAN's interface; stamped by the interface below: end
 *		      not to this interface, not IP, of NTP or PTP, or for this host: end
 *		      not watched: end
 *		      stamped; the sender's time of departure gets the mark of a stamp, if it has one
 *		      for this host, if that is asked for: its arrival is noted instead
 *	cgroup's ingress -> the packet's socket: the time since the arrival that was noted
 *	TC egress  -> stamped: the time in front of the queue
 *	net_dev_start_xmit -> not stamped, or another interface's: end
 *		      the time behind the queue, and the packet's flow
 */
#include "kernel/kernel.h"
#include "hostint/passage.h"
#include "drop/flow_of.h"
#include "drop/inner.h"
#include "drop/int_of.h"
#include "drop/size.h"
#include "passage/arrival.h"
#include "passage/flows.h"
#include "passage/local.h"
#include "passage/settings.h"
#include "passage/stamp.h"
#include "passage/times.h"
#include "kernel/stamp.h"
#include "kernel/token.h"

char _license[] SEC("license") = "Dual BSD/GPL";

static __always_inline int count_stamped(struct __sk_buff *ctx, enum hop_counter what)
{
	count_hop(what, 1, ctx->len);
	return TCX_NEXT;
}

static __always_inline bool seems_stamped(struct __sk_buff *ctx, const struct hop_settings *set)
{
	return ctx->tstamp_type == STAMP_MONOTONIC && has_mark(set, ctx->tstamp);
}

/* A time that looks as if it had a mark by chance is changed by a nanosecond. */
static __always_inline void take_mark(struct __sk_buff *ctx, const struct hop_settings *set)
{
	if (seems_stamped(ctx, set))
		bpf_skb_set_tstamp(ctx, ctx->tstamp ^ 1, STAMP_MONOTONIC);
}

static __always_inline int leave_alone(struct __sk_buff *ctx, const struct hop_settings *set, enum hop_counter why)
{
	take_mark(ctx, set);
	return count_stamped(ctx, why);
}

/* The kernel has taken the first tag out of the data by now. One without a number is only a priority. */
static __always_inline bool comes_again_by_vlan(struct __sk_buff *ctx)
{
	return (ctx->vlan_present && ctx->vlan_tci & VLAN_NUMBER) || is_vlan(ctx->protocol);
}

/* The routes are asked last, as that costs most; a rule that tests the interface by which packets leave takes them. */
static __always_inline bool leaves_out(const struct hop_settings *set, const struct hop_arrival *a, struct watching *w)
{
	if (!(set->flags & HOP_BY_RULES))
		return false;
	if (!begin_rules(a, w))
		return true;
	return !(set->flags & HOP_RULES_OF_DEV) && !watches_flow(&a->flow, w, 0);
}

/* Receive times are the only ones of the real-time clock here, and the kernel takes them from forwarded packets itself. */
static __always_inline int stamp_arrival(struct __sk_buff *ctx, const struct hop_settings *set, __u64 now)
{
	enum hop_counter what = COUNT_HOP_STAMPED;
	__u64 stamp = marked_time(now, set->mark);

	if (ctx->tstamp_type == STAMP_MONOTONIC) {
		stamp = marked_time(ctx->tstamp, set->mark ^ HOP_MARK_DEPARTED);
		what = COUNT_HOP_HAS_DEPARTURE;
	} else if (ctx->tstamp_type != STAMP_REALTIME) {
		return count_stamped(ctx, COUNT_HOP_OTHER_CLOCK);
	}
	if (bpf_skb_set_tstamp(ctx, stamp, STAMP_MONOTONIC))
		what = COUNT_HOP_REFUSED;
	return count_stamped(ctx, what);
}

/* The routes forward the packet nowhere: it is for this host, or has no route. */
static __always_inline int stay(struct __sk_buff *ctx, const struct hop_settings *set, const struct hop_arrival *a,
				const struct watching *w)
{
	__u64 now;

	if (!(set->flags & HOP_LOCAL))
		return leave_alone(ctx, set, COUNT_HOP_NOT_FORWARDED);
	if (set->flags & HOP_RULES_OF_DEV && !watches_flow(&a->flow, w, 0))
		return leave_alone(ctx, set, COUNT_HOP_UNWATCHED);
	now = bpf_ktime_get_ns();
	if (now <= set->until_ns)
		note_local(ctx, a, now);
	return leave_alone(ctx, set, COUNT_HOP_LOCAL);
}

/* Runs at TC ingress (tcx or clsact) of each interface. */
SEC("tc")
int hop_in(struct __sk_buff *ctx)
{
	const struct hop_settings *set = get_hop_settings();
	struct watching w = {};
	__u32 out_ifindex = 0;
	struct hop_arrival a = {};
	__u64 now;

	if (!set)
		return TCX_NEXT;
	if (comes_again_by_vlan(ctx)) {
		take_mark(ctx, set);
		return TCX_NEXT;
	}
	/* The interface below decided about it already. */
	if (seems_stamped(ctx, set) && hop_device_of(ctx->ifindex) == HOP_STACKED)
		return TCX_NEXT;
	if (ctx->pkt_type != PACKET_HOST)
		return leave_alone(ctx, set, COUNT_HOP_NOT_FORWARDED);
	if (!read_arrival(ctx, &a))
		return leave_alone(ctx, set, COUNT_HOP_UNREAD);
	enter_arrival(ctx, set, &a);
	if (leaves_out(set, &a, &w))
		return leave_alone(ctx, set, COUNT_HOP_UNWATCHED);
	if (tells_time(&a))
		return leave_alone(ctx, set, COUNT_HOP_CLOCK);
	if (!leaves_again(ctx, &a, &out_ifindex))
		return stay(ctx, set, &a, &w);
	if (set->flags & HOP_RULES_OF_DEV && !watches_flow(&a.flow, &w, out_ifindex))
		return leave_alone(ctx, set, COUNT_HOP_UNWATCHED);
	/* The clock is read for packets alone that are timed: it costs as much as the rest. */
	now = bpf_ktime_get_ns();
	/* A daemon that is gone leaves no stamps. */
	return now > set->until_ns ? TCX_NEXT : stamp_arrival(ctx, set, now);
}

/* True if the packet counts here: it came by one of the interfaces, and leaves by one without coming by another. */
static __always_inline bool is_passage(__u32 in_ifindex, __u32 out_ifindex)
{
	return hop_device_of(in_ifindex) && hop_device_of(out_ifindex) == HOP_DEVICE;
}

/* Runs at TC egress (tcx or clsact) of each interface. */
SEC("tc")
int hop_queue(struct __sk_buff *ctx)
{
	const struct hop_settings *set = get_hop_settings();
	struct hop_passage at = { .end = HOP_QUEUED };
	__u32 segments = ctx->gso_segs;
	struct hop_time time;

	at.in_ifindex = ctx->ingress_ifindex;
	at.out_ifindex = ctx->ifindex;
	if (!set || !at.in_ifindex || ctx->tstamp_type != STAMP_MONOTONIC || !has_mark(set, ctx->tstamp))
		return TCX_NEXT;
	/* Unwatched packets of local TCP have a time, too: no clock is read for those. */
	if (!is_passage(at.in_ifindex, at.out_ifindex) || !read_stamp(set, ctx->tstamp, bpf_ktime_get_ns(), &time))
		return TCX_NEXT;
	at.start = time.start;
	count_time(&at, time.ns, segments ? segments : 1, ctx->len);
	return TCX_NEXT;
}

/* Runs where a socket gets a packet, of all cgroups. It refuses none. */
SEC("cgroup_skb/ingress")
int hop_socket(struct __sk_buff *ctx)
{
	struct hop_passage at = { .out_ifindex = HOP_SOCKETS, .end = HOP_SENT, .start = HOP_ARRIVED };
	__u32 segments = ctx->gso_segs, ns = 0;

	if (take_local(ctx, &at.in_ifindex, &ns))
		count_time(&at, ns, segments ? segments : 1, ctx->len);
	return 1;
}

/*
 * Counts the packet for its flow. A new flow takes a token, or else its packets count in the distributions alone. A
 * function of its own, so that its variables take no room on the stack for longer.
 */
static __noinline int count_hops(const struct leaving_packet *p, struct sk_buff *skb, const struct hop_settings *set)
{
	struct hop_flow *flow = bpf_map_lookup_elem(&hop_flows, &p->key);
	struct token_rate rate;
	__u64 *full_ns;

	if (flow) {
		add_to_hops(flow, p);
		tell_news(flow, p, set);
		return 0;
	}
	rate.interval_ns = set->new_flow_interval_ns;
	rate.burst_ns = set->new_flow_burst_ns;
	full_ns = single_value(&hop_tokens);
	if (full_ns && take_token(full_ns, &rate, p->now))
		begin_hops(p, skb);
	else
		count_hop(COUNT_HOP_FLOW_LIMITED, p->size.segments, p->size.bytes);
	return 0;
}

/*
 * Makes the flow that INT measures the packet's flow, where INT hides it. Returns 0 for packets without. A function of its
 * own for the same reason.
 */
static __noinline int find_original(struct leaving_packet *p, struct drop_headers *headers,
				    const struct hop_settings *set)
{
	struct drop_int found = {};

	find_hidden(headers, set->extension_port, (struct flow_key *)p->key.flow, &found);
	p->outer_port = found.outer_port;
	return found.tagged;
}

/* Sees each packet of the machine that a driver gets. Most end at their time, which is none, or has no mark. */
SEC("tp_btf/net_dev_start_xmit")
int hop_out(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct net_device *dev = (struct net_device *)ctx[1];
	struct hop_passage at = { .end = HOP_SENT };
	const struct hop_settings *set;
	struct leaving_packet p = {};
	struct drop_headers headers;
	__u64 stamp = skb->tstamp;
	struct flow_key *flow;

	p.in_ifindex = skb->skb_iif;
	p.out_ifindex = dev->ifindex;
	if (!stamp || !p.in_ifindex)
		return 0;
	set = get_hop_settings();
	if (!set || !has_mark(set, stamp) || !has_monotonic_stamp(skb))
		return 0;
	if (dev->nd_net.net->ns.inum != set->netns)
		return 0;
	if (!is_passage(p.in_ifindex, p.out_ifindex))
		return 0;
	p.now = bpf_ktime_get_ns();
	if (!read_stamp(set, stamp, p.now, &p.time))
		return 0;
	find_size(skb, &p.size);
	flow = (struct flow_key *)p.key.flow;
	if (read_outer_flow(skb, &headers, flow)) {
		if (!find_original(&p, &headers, set))
			find_inner(&headers, set->tunnels, flow, &p.key.tunnel, &p.key.tunnel_id);
		count_hops(&p, skb, set);
	}
	at.in_ifindex = p.in_ifindex;
	at.out_ifindex = p.out_ifindex;
	at.start = p.time.start;
	count_time(&at, p.time.ns, p.size.segments, p.size.bytes);
	return 0;
}
