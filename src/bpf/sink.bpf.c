// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * INT sink: removes INT from received packets, accounts for their flow, and reports what changed.
 *
 * These are the steps of a packet, in order, and the counters (COUNT_SINK_...) of packets that are not stripped there:
 *
 *   is_plain()           sink/plain.h      cannot have INT          not counted
 *   read_packet()        sink/read.h       has no mark              not counted; may be a question to lease/answer.h
 *     read_over_tcp_udp()                  has a mark, but no INT   FOREIGN_MARK FRAGMENT IP_OPTIONS BAD_SHIM
 *     read_extension()                     that can be removed      BAD_VERSION BAD_BITMAP BAD_LENGTH TRUNCATED
 *     read_gpe()         sink/gpe_read.h                            BAD_PROTOCOL BAD_INNER
 *     read_ioam()        sink/ioam_read.h
 *     read_int_option()  sink/option_read.h
 *   take_entries()       sink/hops.h       ends within a stack      TRUNCATED
 *   account()            sink/account.h    sender without lease     NOT_ALLOWED
 *   choose_fate()        sink/account.h    dropped by an option     DROPPED_TAGGED
 *   pull_xdp()           sink/pull_xdp.h   the kernel refuses       CANNOT_RESIZE
 *   pull_skb()           sink/pull_skb.h   the kernel refuses       CANNOT_RESIZE BROKEN (dropped)
 *   trim_xdp(), trim_skb()  sink/trim.h    as the two before
 *
 * Nearly all tagged packets take another way between the first step and the last, with the same outcome:
 *
 *   straight_xdp(), straight_skb()         sink/straight_xdp.h, sink/straight_skb.h
 *     read_straight()    sink/straight_read.h
 *     account_straight() sink/straight.h     from here on the packet does not go back to the general way
 *
 * A packet whose INT was removed counts as RECEIVED, in segments of which those behind the first one are MERGED, and as HOST_INT,
 * too, if an original Host-INT source tagged it.
 * Counted besides are:
 *
 *   the arrival time     sink/nic_stamp.h  NIC_STAMPED NIC_NONE NIC_OFF
 *   untracked packets    sink/account.h    NEW_FLOW_LIMITED UNTRACKED BAD_SEGMENT
 *   the flow's slots     sink/flow_table.h FLOW_COARSE
 *   times of segments    sink/paths.h      PATH_FULL
 *   full traces          sink/ioam_read.h  TRACE_FULL
 *   its hops' checksum   sink/pushers.h    STACK_CHECKSUM
 *   the flow's changes   sink/news.h       FLOW_NEW FLOW_LATE FLOW_RESTARTED LOST RECOVERED REORDERED DUPLICATE DAMAGED
 *   its reports          sink/events.h     EVENT_SENT EVENT_LOST REPORT_LIMITED
 *
 * Lease questions count as LEASE_GRANTED, LEASE_FORGED, LEASE_CLOSING, LEASE_ASTRAY or LEASE_FULL. A source's probes
 * (sink/probe_read.h) are noted by lease/probe.h and dropped; they count as PROBE or PROBE_FORGED.
 */
#include "kernel/kernel.h"
#include "sink/plain.h"
#include "sink/find.h"
#include "sink/account.h"
#include "sink/measure.h"
#include "sink/nic_stamp.h"
#include "sink/pull_xdp.h"
#include "sink/pull_skb.h"
#include "sink/trim.h"
#include "sink/straight_xdp.h"
#include "sink/straight_skb.h"
#include "lease/answer.h"
#include "lease/probe.h"
#include "sink/sweep.h"

char _license[] SEC("license") = "Dual BSD/GPL";

static __always_inline void count_received(const struct tagged_packet *p)
{
	count_sink(COUNT_SINK_RECEIVED, p->facts.count, p->frame_len);
	if (p->facts.count > 1)
		count_sink(COUNT_SINK_MERGED, p->facts.count - 1, 0);
}

static __always_inline void count_stripped(const struct tagged_packet *p)
{
	if (p->by_host_int)
		count_sink(COUNT_SINK_HOST_INT, 1, p->frame_len);
	count_received(p);
}

/* Counts a packet that took the straight way to its end. Returns false if it is to be dropped. */
static __always_inline bool count_straight(const struct tagged_packet *p, int straight)
{
	if (straight == STRAIGHT_DONE)
		count_received(p);
	else
		count_sink(straight == STRAIGHT_BROKE ? COUNT_SINK_BROKEN : COUNT_SINK_CANNOT_RESIZE, 1, p->frame_len);
	return straight != STRAIGHT_BROKE;
}

__noinline int strip_xdp(struct xdp_md *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	return set && p && pull_xdp(ctx, p, set);
}

__noinline int strip_option_xdp(struct xdp_md *ctx)
{
	struct tagged_packet *p = tagged();

	return p && trim_xdp(ctx, p);
}

__noinline int strip_skb(struct __sk_buff *ctx)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();

	return set && p ? pull_skb(ctx, p, set) : NOT_PULLED;
}

__noinline int strip_option_skb(struct __sk_buff *ctx)
{
	struct tagged_packet *p = tagged();

	return p ? trim_skb(ctx, p) : NOT_PULLED;
}

static __always_inline int sink_frame(struct xdp_md *ctx, enum stamped_by by, bool locked)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p;

	if (!set || is_plain((void *)(long)ctx->data, (void *)(long)ctx->data_end, set))
		return XDP_PASS;
	p = tagged();
	if (!p)
		return XDP_PASS;
	p->frame_len = have_xdp_frags ? bpf_xdp_get_buff_len(ctx) : ctx->data_end - ctx->data;
	if (have_straight_way && !nic_stamps && !locked) {
		int straight = straight_xdp(ctx);

		if (straight != STRAIGHT_NOT) {
			count_straight(p, straight);
			return XDP_PASS;
		}
	}
	switch (find_int_xdp(ctx)) {
	case SINK_TAGGED:
		break;
	case SINK_SHORT:
		count_sink(COUNT_SINK_TRUNCATED, 1, p->frame_len);
		return XDP_PASS;
	case SINK_NOT_MARKED:
		answer_xdp(ctx);
		show_grant(locked);
		return XDP_PASS;
	case SINK_PROBE:
		locked ? note_probe_locked() : note_probe();
		return XDP_DROP;
	default:
		return XDP_PASS;
	}
	begin_measuring(p);
	if (p->hops && !take_hops_xdp(ctx)) {
		count_sink(COUNT_SINK_TRUNCATED, 1, p->frame_len);
		return XDP_PASS;
	}
	if (by != STAMPED_BY_KERNEL)
		p->nic_ns = nic_stamp(ctx, by);
	switch (choose_fate(measure(ctx, ctx->ingress_ifindex, p, true, locked), set, p)) {
	case MEASURED_STRIP:
		break;
	case MEASURED_LEAVE:
		return XDP_PASS;
	case MEASURED_DROP:
		return XDP_DROP;
	}
	if (p->facts.encapsulation == ENCAP_OPTIONS ? strip_option_xdp(ctx) : strip_xdp(ctx))
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
	p = tagged();
	if (!p)
		return TCX_NEXT;
	p->frame_len = ctx->len;
	if (have_straight_way && !locked) {
		int straight = straight_skb(ctx);

		if (straight != STRAIGHT_NOT)
			return count_straight(p, straight) ? TCX_NEXT : TCX_DROP;
	}
	found = find_int_skb(ctx);
	if (found == SINK_SHORT && !bpf_skb_pull_data(ctx, ctx->len < PULL_LEN ? ctx->len : PULL_LEN))
		found = find_int_skb(ctx);
	if (found == SINK_SHORT)
		count_sink(COUNT_SINK_TRUNCATED, 1, p->frame_len);
	if (found == SINK_NOT_MARKED) {
		answer_skb(ctx);
		show_grant(locked);
	}
	if (found == SINK_PROBE) {
		locked ? note_probe_locked() : note_probe();
		return TCX_DROP;
	}
	if (found != SINK_TAGGED)
		return TCX_NEXT;
	begin_measuring(p);
	if (p->hops && !take_hops_skb(ctx)) {
		count_sink(COUNT_SINK_TRUNCATED, 1, p->frame_len);
		return TCX_NEXT;
	}
	switch (choose_fate(measure(ctx, ctx->ifindex, p, false, locked), set, p)) {
	case MEASURED_STRIP:
		break;
	case MEASURED_LEAVE:
		return TCX_NEXT;
	case MEASURED_DROP:
		return TCX_DROP;
	}
	switch (p->facts.encapsulation == ENCAP_OPTIONS ? strip_option_skb(ctx) : strip_skb(ctx)) {
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
	return sink_frame(ctx, STAMPED_BY_KERNEL, false);
}

/* Runs at tcx ingress, for veth and containers, where superpackets arrive whole. */
SEC("tc")
int sink_tc(struct __sk_buff *ctx)
{
	return sink_skb(ctx, false);
}

/* Runs instead of sink on kernels before 5.12. */
SEC("?xdp")
int sink_locked(struct xdp_md *ctx)
{
	return sink_frame(ctx, STAMPED_BY_KERNEL, true);
}

SEC("?tc")
int sink_tc_locked(struct __sk_buff *ctx)
{
	return sink_skb(ctx, true);
}

/* Is bound to one device, whose driver gives it the arrival time (6.3). */
SEC("?xdp")
int sink_nic(struct xdp_md *ctx)
{
	leave_room_to_grow();
	return sink_frame(ctx, STAMPED_BY_NIC, false);
}

/* Does the same for BPF_PROG_RUN, which takes no bound program; tests put the stamp before the packet. */
SEC("?xdp")
int sink_nic_by_metadata(struct xdp_md *ctx)
{
	return sink_frame(ctx, STAMPED_BY_METADATA, false);
}

static __always_inline int sweep_keys(struct __sk_buff *ctx, bool locked)
{
	__u64 bytes = ctx->data_end - ctx->data;
	__u32 keys = bytes / sizeof(struct flow_key);

	for (__u32 i = 0; i < SWEEP_KEYS; i++) {
		if (i >= keys)
			break;
		if (locked)
			sweep_key_locked(ctx, i);
		else
			sweep_key(ctx, i);
	}
	return 0;
}

SEC("tc")
int sink_sweep(struct __sk_buff *ctx)
{
	return sweep_keys(ctx, false);
}

SEC("?tc")
int sink_sweep_locked(struct __sk_buff *ctx)
{
	return sweep_keys(ctx, true);
}
