// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * INT source: adds INT to packets of watched flows.
 *
 * These are the steps of a packet, in order, and the counters (COUNT_SOURCE_...) of packets that leave untagged there:
 *
 *   leaves_by_budget()     source/share.h           is it in the share?       BUDGET
 *   is_unwatched()         source/unwatched.h       looks up the destination  UNWATCHED
 *   look()                 source/look.h            reads the headers         OTHER_PROTOCOL MALFORMED IP_OPTIONS VLAN
 *                                                                             GROUP_ADDRESS FRAGMENT REPORT HAS_INT
 *     decide()             source/watch_rules.h     follows the rules         UNWATCHED EXCLUDED NOT_SAMPLED
 *   leave_signed_skb()     source/signed.h          TCP-AO, or MD5?         SIGNED
 *   leave_over_budget()    source/share.h           is a new flow in it?      BUDGET
 *   find_form()            lease/form.h            does its form pass?     NO_LEASE (LEASE_FULL) LEFT UNPROVED
 *                                                                             BEGAN_BEFORE_LEASE (FLOW_BEGAN_BEFORE_LEASE)
 *   has_option_room()      source/option_fill.h     options: is room?    NO_OPTION HAS_INT SUPERPACKET TABLE_FULL
 *                                                                           CANNOT_RESIZE NO_CHECKSUM_STATE
 *   read_checksum_state()  source/checksum.h        is the sum finished?      NO_CHECKSUM_STATE
 *   plan()                 source/plan.h            how is it tagged?         TOO_LONG MAY_FRAGMENT IP_OPTIONS
 *                                                                             SUPERPACKET (of 64 KiB or more in look())
 *   passes_guard()         lease/guard.h           do packets arrive?        GUARDED
 *   add_source_flow()      source/flow_numbers.h    adds a flow (FLOW_NEW)    TABLE_FULL
 *   tag_skb()              source/tag_skb.h         makes room, writes INT    CANNOT_RESIZE UNDONE NO_CHECKSUM_STATE
 *   tag_xdp()              source/tag_xdp.h         does so at XDP            CANNOT_RESIZE
 *
 * Nearly all packets take another way from the first step to their end, with the same outcome: straight_tc()
 * below, with source/straight.h.
 *
 * A tagged packet counts as TAGGED, in segments of which those behind the first one are MERGED; a superpacket in a tunnel as
 * ENCAPSULATED, too. STAGED packets go to the staging interface and come back as segments. DROPPED packets would be corrupt.
 * Once the rule is known, packets are counted by pair and class, untagged ones by reason (source/missed.h, source/tagged.h).
 */
#include "kernel/kernel.h"
#include "hostint/source_flow.h"
#include "kernel/device_mtu.h"
#include "kernel/host_settings.h"
#include "watch/list.h"
#include "source/checksum.h"
#include "source/look.h"
#include "source/plan.h"
#include "source/share.h"
#include "source/signed.h"
#include "lease/begin_tagging.h"
#include "lease/form.h"
#include "lease/guard.h"
#include "lease/tag_in_options.h"
#include "source/straight.h"
#include "source/tag_skb.h"
#include "source/straight_push.h"
#include "source/tag_xdp.h"
#include "source/unwatched.h"

char _license[] SEC("license") = "Dual BSD/GPL";

__noinline int look_skb(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct outgoing_packet *p = outgoing();

	if (!host || !p)
		return SOURCE_LEAVE;
	p->frame_len = ctx->len;
	p->segments = ctx->gso_segs;
	/* The packet leaves the host by this interface. */
	p->ifindex = redirect_ifindex ? redirect_ifindex : ctx->ifindex;
	return look((void *)(long)ctx->data, (void *)(long)ctx->data_end, ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0,
		    ctx->vlan_present, host, p);
}

__noinline int look_xdp(struct xdp_md *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct outgoing_packet *p = outgoing();

	if (!host || !p)
		return SOURCE_LEAVE;
	p->frame_len = ctx->data_end - ctx->data;
	p->watching.watched = WATCH_UNKNOWN;
	p->segments = 1;
	p->ifindex = ctx->ingress_ifindex;
	return look((void *)(long)ctx->data, (void *)(long)ctx->data_end, 0, 0, host, p);
}

static __always_inline int tag_packet(struct __sk_buff *ctx, bool locked)
{
	const struct host_settings *host = get_host_settings();
	struct outgoing_packet *p = outgoing();
	enum tag_plan planned;
	struct source_flow *f;

	if (!host || !p)
		return TCX_NEXT;
	p->at_xdp = false;
	f = bpf_map_lookup_elem(&source_flows, &p->key);
	if (leave_signed_skb(ctx, p, f, whole_segments(ctx, p)))
		return TCX_NEXT;
	if (leave_over_budget(host, p, f, whole_segments(ctx, p)))
		return TCX_NEXT;
	if (!find_form(host, p, f, locked)) {
		count_formless(host, p, f);
		return TCX_NEXT;
	}
	if (is_in_options(p))
		return tag_in_options(ctx, host, p, f, locked);
	if (!f && is_repeated_syn(ctx, p)) {
		stay_plain(p);
		count_formless(host, p, f);
		return TCX_NEXT;
	}
	if (needs_checksum_state(p) && !read_checksum_state(ctx, p)) {
		count_missed(COUNT_SOURCE_NO_CHECKSUM_STATE, whole_segments(ctx, p), p->frame_len);
		return TCX_NEXT;
	}
	if (superpackets == SUPER_ENCAP_ALL)
		p->sink_gets_segments = ctx->gso_size && gets_segments(p);
	planned = plan(ctx, p, f);
	if (planned == PLAN_LEAVE) {
		if (f && is_tcp(p) && p->l4.tcp.flags & TCP_SYN && is_own_form(f->form))
			give_up(f, NULL, false);
		return TCX_NEXT;
	}
	if (planned == PLAN_TAG && f && !passes_guard(ctx, p, f)) {
		count_missed(COUNT_SOURCE_GUARDED, whole_segments(ctx, p), p->frame_len);
		return TCX_NEXT;
	}
	if (!f)
		f = begin_tagging(p);
	if (!f) {
		count_missed(COUNT_SOURCE_TABLE_FULL, whole_segments(ctx, p), p->frame_len);
		return TCX_NEXT;
	}
	if (ctx->gso_size && !f->superpacket)
		f->superpacket = 1;
	if (planned == PLAN_TAG)
		return tag_skb(ctx, host, p, f, locked);
	count_source(COUNT_SOURCE_STAGED, 1, p->frame_len);
	return bpf_redirect(stage_ifindex, 0);
}

__noinline int tag_watched(struct __sk_buff *ctx)
{
	return tag_packet(ctx, false);
}

__noinline int tag_watched_locked(struct __sk_buff *ctx)
{
	return tag_packet(ctx, true);
}

/* The straight way of nearly all packets. Their watching is in the scratch. Returns a verdict, or NOT_STRAIGHT. */
__noinline int straight_tc(struct __sk_buff *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct host_settings *host = get_host_settings();
	struct outgoing_packet *p = outgoing();
	struct source_flow *f;

	if (!host || !p || ctx->vlan_present || ctx->gso_size)
		return NOT_STRAIGHT;
	p->frame_len = ctx->len;
	p->ifindex = ctx->ifindex;
	p->segments = 1;
	p->at_xdp = false;
	if (!look_straight(data, end, host, p))
		return NOT_STRAIGHT;
	f = bpf_map_lookup_elem(&source_flows, &p->key);
	if (!f || !f->form || f->form == ENCAP_OPTIONS)
		return NOT_STRAIGHT;
	/* A look at the lease changes the record; on the general way, that finds the form without another one. */
	if (!find_form(host, p, f, false)) {
		count_formless(host, p, f);
		return TCX_NEXT;
	}
	if (!plan_straight(ctx, p, f))
		return NOT_STRAIGHT;
	if (p->encapsulation == ENCAP_VXLAN_GPE) {
		/* Only the usual entry is written there. */
		if ((without_queue && budget(p)) || !passes_straight(p, f))
			return NOT_STRAIGHT;
		return p->at.family == 4 ? tag_straight_gpe(ctx, data, end, host, p, f, 4) :
					   tag_straight_gpe(ctx, data, end, host, p, f, 6);
	}
	if (!load_ip(data, end, ETH_HLEN, p->at.family, out_ip(p)) || !passes_straight(p, f))
		return NOT_STRAIGHT;
	return tag_skb(ctx, host, p, f, false);
}

static __always_inline bool is_to_be_tagged(struct __sk_buff *ctx)
{
	int found = look_skb(ctx);

	/* The headers may lie in fragments of the skb; this makes them readable. */
	if (found == SOURCE_SHORT && !bpf_skb_pull_data(ctx, ctx->len < PULL_LEN ? ctx->len : PULL_LEN))
		found = look_skb(ctx);
	if (found == SOURCE_SHORT)
		count_source(COUNT_SOURCE_MALFORMED, 1, ctx->len);
	return found == SOURCE_WATCHED;
}

static __always_inline int go_on(int verdict)
{
	return redirect_ifindex && verdict == TCX_NEXT ? bpf_redirect(redirect_ifindex, 0) : verdict;
}

static __always_inline int tag_if_watched(struct __sk_buff *ctx, bool locked)
{
	struct watching watching = {};
	struct outgoing_packet *p;
	int verdict;

	if (leaves_by_budget(ctx) || is_unwatched(ctx, &watching))
		return TCX_NEXT;
	p = outgoing();
	if (!p)
		return TCX_NEXT;
	p->watching = watching;
	if (have_straight_way && !locked && !full_checksum && !redirect_ifindex && !stage_ifindex &&
	    watching.watched >= WATCHED) {
		verdict = straight_tc(ctx);
		if (verdict != NOT_STRAIGHT)
			return verdict;
	}
	if (!is_to_be_tagged(ctx))
		return TCX_NEXT;
	return locked ? tag_watched_locked(ctx) : tag_watched(ctx);
}

/* Runs at TC egress (tcx or clsact), or at TC ingress of a veth whose peer is a guest, or of the staging interface. */
SEC("tc")
int source_tc(struct __sk_buff *ctx)
{
	if (is_staged(ctx))
		return TCX_NEXT;
	return go_on(tag_if_watched(ctx, false));
}

/* Runs instead of source_tc on kernels before 5.12. */
SEC("?tc")
int source_tc_locked(struct __sk_buff *ctx)
{
	if (is_staged(ctx))
		return TCX_NEXT;
	return go_on(tag_if_watched(ctx, true));
}

static __always_inline int tag_frame(struct xdp_md *ctx, bool locked)
{
	const struct host_settings *host = get_host_settings();
	struct outgoing_packet *p = outgoing();
	struct source_flow *f;
	__u32 mtu;

	if (!host || !p || look_xdp(ctx) != SOURCE_WATCHED)
		return XDP_PASS;
	f = bpf_map_lookup_elem(&source_flows, &p->key);
	if (leave_signed_frame(ctx, p, f))
		return XDP_PASS;
	if (leave_over_budget(host, p, f, 1))
		return XDP_PASS;
	mtu = device_mtu(ctx, 0);
	if (check_size(p, EXTENSION_LEN, mtu) != SOURCE_WATCHED)
		return XDP_PASS;
	p->at_xdp = true;
	if (!find_form(host, p, f, locked)) {
		count_formless(host, p, f);
		return XDP_PASS;
	}
	/* The flow began at another hook. */
	if (p->form != FLOW_MIXED && p->form != ENCAP_EXTENSION_UDP) {
		count_missed(COUNT_SOURCE_LEFT, 1, p->frame_len);
		return XDP_PASS;
	}
	if (check_size(p, path_room(p, ENCAP_EXTENSION_UDP), path_limit(p, f, mtu)) != SOURCE_WATCHED)
		return XDP_PASS;
	if (f && !passes_guard(NULL, p, f)) {
		count_missed(COUNT_SOURCE_GUARDED, 1, p->frame_len);
		return XDP_PASS;
	}
	if (!f)
		f = begin_tagging(p);
	if (!f) {
		count_missed(COUNT_SOURCE_TABLE_FULL, 1, p->frame_len);
		return XDP_PASS;
	}
	return tag_xdp(ctx, host, p, f, locked);
}

/* Runs at XDP of a veth whose peer is a guest. */
SEC("xdp")
int source_xdp(struct xdp_md *ctx)
{
	return tag_frame(ctx, false);
}

/* Runs instead of source_xdp on kernels before 5.12. */
SEC("?xdp")
int source_xdp_locked(struct xdp_md *ctx)
{
	return tag_frame(ctx, true);
}
