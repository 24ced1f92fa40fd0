// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * INT transit hop: notes when packets with INT arrive, and pushes an entry onto their metadata stacks when they leave.
 *
 * These are the steps of a packet, in order, and the counters (COUNT_TRANSIT_...) of packets that get no entry there:
 *
 *   has_no_mark()       int/plain.h         cannot have INT              not counted
 *   find_stack()        transit/find.h      has no stack that a hop      FOREIGN_MARK FRAGMENT IP_OPTIONS TRUNCATED
 *                                           may change                   BAD_SHIM BAD_VERSION BAD_BITMAP BAD_LENGTH
 *   remember_arrival()  transit/arrivals.h  at ingress: that is all      (ARRIVED)
 *   is_allowed()        below               its source is not allowed    NOT_ALLOWED
 *   note_departure()    below               at egress, whatever follows  (not counted)
 *   hop()               below               this host is in the stack    OWN_HOP
 *                                           cannot be changed safely     SUPERPACKET UNFINISHED
 *                                           the source left no budget    NO_BUDGET (sets E)
 *   has_room()          transit/room.h      would be too long            TOO_LONG (sets M)
 *   push_entry()        transit/push.h      the kernel refuses           CANNOT_RESIZE UNDONE DROPPED
 *
 * A packet with a new entry counts as PUSHED, as NO_ARRIVAL, too, if the time of its arrival is not known, and as PADDED if
 * its domain asks for words that hostint does not know. Packets of this host itself pass through no hop. All others leave as
 * they came; DROPPED ones would have been corrupt.
 */
#include "kernel/kernel.h"
#include "int/crossings.h"
#include "int/mark.h"
#include "int/plain.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "kernel/prefixes.h"
#include "packet/checksum_state.h"
#include "transit/arrivals.h"
#include "transit/attachment.h"
#include "transit/counters.h"
#include "transit/departures.h"
#include "transit/entry.h"
#include "transit/find.h"
#include "transit/push.h"
#include "transit/remembered.h"
#include "transit/room.h"

char _license[] SEC("license") = "Dual BSD/GPL";

static __always_inline bool has_no_int(struct __sk_buff *ctx)
{
	const struct int_marks marks = {
		.tos_value = tos_value,
		.tos_mask = tos_mask,
		.extension_port = extension_port,
		.other_tos_value = md_tos_mask ? md_tos_value : NO_TOS,
		.other_tos_mask = md_tos_mask,
		.other_port = md_port,
	};

	return has_no_mark((void *)(long)ctx->data, (void *)(long)ctx->data_end, &marks);
}

__noinline int find_skb(struct __sk_buff *ctx)
{
	struct passing_packet *p = passing();
	enum transit_find found;

	if (!p)
		return TRANSIT_NO_INT;
	p->frame_len = ctx->len;
	found = find_stack((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			   ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0, p);
	if (found == TRANSIT_FOUND && p->is_md)
		identify_md(ctx, p);
	return found;
}

/* The headers may lie in fragments of the skb; the second look comes after they are made readable. */
static __always_inline enum transit_find find_readable(struct __sk_buff *ctx, struct passing_packet *p)
{
	int found = find_skb(ctx);

	if (found == TRANSIT_SHORT && !bpf_skb_pull_data(ctx, ctx->len < PULL_LEN ? ctx->len : PULL_LEN))
		found = find_skb(ctx);
	return found == TRANSIT_SHORT ? refuse_passing(p, COUNT_TRANSIT_TRUNCATED) : found;
}

static __always_inline bool is_allowed(struct __sk_buff *ctx, struct passing_packet *p)
{
	if (!only_allowed)
		return true;
	return fill_key((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p->at, &p->key) &&
	       is_in_prefixes(&transit_allow, p->key.saddr, p->at.family);
}

static __always_inline int leave_passing(const struct passing_packet *p, enum transit_counter reason)
{
	count_transit(reason, 1, p->frame_len);
	return TCX_NEXT;
}

__noinline int hop(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct passing_packet *p = passing();

	if (!host || !p)
		return TCX_NEXT;
	if (!is_allowed(ctx, p))
		return leave_passing(p, COUNT_TRANSIT_NOT_ALLOWED);
	if (p->newest_node == bpf_htonl(host->node_id))
		return leave_passing(p, COUNT_TRANSIT_OWN_HOP);
	/*
	 * Superpackets that are not in a tunnel are packets with a block each, merged on the path. Their checksums, and
	 * those of tunnels that have some, are finished when they are cut, so nothing in front may change.
	 */
	if (ctx->gso_size && (!p->is_gpe || p->is_summed))
		return leave_passing(p, COUNT_TRANSIT_SUPERPACKET);
	/* It would be finished at the place from which the headers move away. */
	if (p->is_md && checksum_state(ctx, &p->at) != CHECKSUM_FINISHED)
		return leave_passing(p, COUNT_TRANSIT_UNFINISHED);
	if (!p->budget) {
		say_no_budget(ctx, p);
		return leave_passing(p, COUNT_TRANSIT_NO_BUDGET);
	}
	if (ctx->gso_size && cuts_tunnels) {
		say_no_room(ctx, p);
		return leave_passing(p, COUNT_TRANSIT_SUPERPACKET);
	}
	if (!has_room(ctx, p)) {
		say_no_room(ctx, p);
		return leave_passing(p, COUNT_TRANSIT_TOO_LONG);
	}
	fill_entry(ctx, host, p);
	return push_entry(ctx, p);
}

/*
 * Counts a packet that passes. Those without a budget are left out: their ways are not known. What this host tagged
 * itself came from nowhere.
 */
static __always_inline void note_crossing(struct __sk_buff *ctx, const struct host_settings *host,
					  struct passing_packet *p, enum crossing_place place, __u64 now)
{
	__u32 segments = ctx->gso_segs > 1 ? ctx->gso_segs : 1;

	if (!p->had_budget || p->source_node == bpf_htonl(host->node_id) ||
	    !fill_key((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p->at, &p->key))
		return;
	count_crossing(bpf_ntohl(p->source_node), dest_tag(p->key.daddr), ctx->ifindex, crossing_of(place, segments),
		       block_of(now, bpf_ntohl(p->source_time)));
}

/* Runs at TC ingress (tcx or clsact) of each interface at which packets arrive. */
SEC("tc")
int transit_in(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct passing_packet *p;
	__u64 now;

	if (has_no_int(ctx))
		return TCX_NEXT;
	p = passing();
	if (!host || !p || find_readable(ctx, p) != TRANSIT_FOUND)
		return TCX_NEXT;
	now = now_ns(host);
	if (p->is_md)
		remember_alike(p, now);
	else
		remember_arrival(p, now);
	note_crossing(ctx, host, p, CROSSING_ARRIVED, now);
	count_transit(COUNT_TRANSIT_ARRIVED, ctx->gso_segs > 1 ? ctx->gso_segs : 1, p->frame_len);
	return TCX_NEXT;
}

/* The packet is about to join the queue of the interface. One with this host's entry departed by another one, too. */
static __always_inline void note_departure(struct __sk_buff *ctx, struct passing_packet *p)
{
	const struct host_settings *host = get_host_settings();

	if (!host || (!notes_departures && !p->had_budget && !p->budget))
		return;
	p->left_ns = now_ns(host);
	if (notes_departures && !p->is_md)
		remember(&transit_departures, departure_identity(p->identity, ctx->ifindex), p->left_ns);
	if (p->newest_node != bpf_htonl(host->node_id))
		note_crossing(ctx, host, p, CROSSING_DEPARTED, p->left_ns);
}

/* Runs at TC egress of each interface by which packets leave. What this host sent itself did not arrive anywhere. */
SEC("tc")
int transit_out(struct __sk_buff *ctx)
{
	struct passing_packet *p;

	if (!ctx->ingress_ifindex || has_no_int(ctx))
		return TCX_NEXT;
	p = passing();
	if (!p)
		return TCX_NEXT;
	switch (find_readable(ctx, p)) {
	case TRANSIT_FOUND:
		note_departure(ctx, p);
		return hop(ctx);
	case TRANSIT_REFUSED:
		return leave_passing(p, p->reason);
	default:
		return TCX_NEXT;
	}
}
