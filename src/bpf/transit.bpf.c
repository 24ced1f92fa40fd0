// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * INT transit hop: notes when packets with INT arrive, and pushes an entry onto their metadata stacks when they leave. Of
 * packets without INT it fills in TCP option 114, if it is attached for that.
 *
 * These are the steps of a packet, in order, and the counters (COUNT_TRANSIT_...) of packets that get no entry there:
 *
 *   has_no_mark()       int/plain.h         cannot have INT              not counted
 *   find_stack()        transit/find.h      has no stack that a hop      FOREIGN_MARK FRAGMENT IP_OPTIONS TRUNCATED
 *                                           may change                   BAD_SHIM BAD_VERSION BAD_BITMAP BAD_LENGTH
 *   note_ingress()      transit/crossed.h   at ingress: that is all      (ARRIVED)
 *   is_allowed()        below               its source is not allowed    NOT_ALLOWED
 *   note_departure()    below               at egress, whatever follows  (not counted)
 *   pass_mx()           transit/postcard.h  INT-MX stays as it is        MX_PASSED POSTCARD_SENT POSTCARD_LOST
 *                                                                        (POSTCARD_UNREAD: by the daemon)
 *   hop()               below               this host is in the stack    OWN_HOP
 *                                           cannot be changed safely     SUPERPACKET UNFINISHED
 *                                           the source left no budget    NO_BUDGET (sets E)
 *   has_room()          transit/room.h      would be too long            TOO_LONG (sets M)
 *   push_entry()        transit/push.h      the kernel refuses           CANNOT_RESIZE UNDONE DROPPED
 *
 * A packet with a new entry counts as PUSHED, as NO_ARRIVAL, too, if the time of its arrival is not known, and as PADDED if
 * its domain asks for words that hostint does not know. Packets of this host itself pass through no hop. All others leave as
 * they came; DROPPED ones would have been corrupt.
 *
 * Nearly all packets take another way from the first step to their end, with the same outcome: arrive_straight() and
 * leave_straight() in transit/straight.h.
 *
 * These are the steps of a packet without INT that has TCP option 114:
 *
 *   find_readable_option() transit/option_find.h  has no request that a hop may   OPTION_NO_DATA OPTION_MALFORMED
 *                                                 fill in
 *   is_chosen()            transit/option_fill.h  other packets are to be filled  OPTION_SKIPPED
 *   store_option()         transit/option_fill.h  the kernel refuses              OPTION_REFUSED
 *
 * Others count as OPTION_FILLED, as OPTION_NO_ARRIVAL, too, if the time of arrival is not known, and as OPTION_NO_GAUGE if
 * neither queue nor free bandwidth is.
 */
#include "kernel/kernel.h"
#include "kernel/clock.h"
#include "kernel/features.h"
#include "kernel/host_settings.h"
#include "kernel/prefixes.h"
#include "packet/checksum_state.h"
#include "transit/arrivals.h"
#include "transit/attachment.h"
#include "transit/came_back.h"
#include "transit/counters.h"
#include "transit/crossed.h"
#include "transit/entry.h"
#include "transit/gauge.h"
#include "transit/link_rate.h"
#include "transit/option_askers.h"
#include "transit/option_fill.h"
#include "transit/option_find.h"
#include "transit/mx_notice.h"
#include "transit/push.h"
#include "transit/readable.h"
#include "transit/room.h"
#include "transit/straight.h"

char _license[] SEC("license") = "Dual BSD/GPL";

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
	if (p->is_mx)
		return pass_mx(ctx);
	if (p->newest_node == bpf_htonl(host->node_id) && !p->came_back)
		return leave_passing(p, COUNT_TRANSIT_OWN_HOP);
	/*
	 * Superpackets that are not in a tunnel are packets with a block each, merged on the path. Their checksums, and
	 * those of tunnels that have some, are finished when they are cut, so nothing in front may change.
	 */
	if (ctx->gso_size && (!p->is_gpe || p->is_summed))
		return leave_passing(p, COUNT_TRANSIT_SUPERPACKET);
	/* It would be finished at the place from which the headers move away. */
	if (p->is_unnumbered && checksum_state(ctx, &p->at) != CHECKSUM_FINISHED)
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

static __always_inline void note_request(struct __sk_buff *ctx, const struct host_settings *host,
					 struct passing_packet *p)
{
	if (find_readable_option(ctx) == TRANSIT_FOUND)
		remember_arrival(p, now_ns(host));
}

/* Runs at TC ingress (tcx or clsact) of each interface at which packets arrive. */
SEC("tc")
int transit_in(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	bool no_int = has_no_int(ctx);
	struct passing_packet *p;
	int found;

	if (no_int && has_no_option((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		return TCX_NEXT;
	if (have_straight_way && !no_int && arrive_straight(ctx))
		return TCX_NEXT;
	p = passing();
	if (!host || !p)
		return TCX_NEXT;
	found = no_int ? TRANSIT_NO_INT : find_readable(ctx, p);
	if (found != TRANSIT_FOUND) {
		if (may_have_option(p, found))
			note_request(ctx, host, p);
		return TCX_NEXT;
	}
	note_ingress(ctx, host, p);
	return TCX_NEXT;
}

/*
 * The packet is about to join the queue of the interface. One with this host's entry departed by another one, too, unless it
 * came back.
 */
static __always_inline void note_departure(struct __sk_buff *ctx, struct passing_packet *p)
{
	const struct host_settings *host = get_host_settings();
	bool is_own = host && p->newest_node == bpf_htonl(host->node_id);

	p->came_back = false;
	if (!host || (!notes_departures && !p->had_budget && !p->budget))
		return;
	p->left_ns = now_ns(host);
	if (is_own)
		p->came_back = came_back_to(ctx, p, p->left_ns);
	if (!is_own || p->came_back)
		note_crossing(ctx, host, p, CROSSING_DEPARTED, p->left_ns);
	remember_departure(ctx, p);
}

/* A superpacket has one option, which each of its segments gets. */
__noinline int fill_option(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct transit_gauge *g = gauge_of(ctx->ifindex);
	struct passing_packet *p = passing();
	union option_bytes before, now;
	__u64 time, arrived;
	struct gauged worst;
	__u32 segments;
	__u8 ttl;

	if (!host || !g || !p)
		return TCX_NEXT;
	if (!is_allowed(ctx, p))
		return leave_passing(p, COUNT_TRANSIT_NOT_ALLOWED);
	if (bpf_skb_load_bytes(ctx, p->option_at, &before, sizeof(before)) || !load_ttl(ctx, &p->at, &ttl))
		return TCX_NEXT;
	if (!is_chosen(&before.it))
		return leave_passing(p, COUNT_TRANSIT_OPTION_SKIPPED);
	time = now_ns(host);
	arrived = arrival_of(p, time);
	worst = gauge_packet(ctx, g, arrived ? latency_units(time - arrived) : 0);
	now = before;
	add_gauged(&now.it, &worst, ttl, g->link_code);
	if (!store_option(ctx, p, &before, &now))
		return leave_passing(p, COUNT_TRANSIT_OPTION_REFUSED);
	note_asker(ctx, p, ttl);
	segments = ctx->gso_segs > 1 ? ctx->gso_segs : 1;
	count_transit(COUNT_TRANSIT_OPTION_FILLED, segments, p->frame_len);
	if (!arrived)
		count_transit(COUNT_TRANSIT_OPTION_NO_ARRIVAL, segments, p->frame_len);
	if (!worst.value)
		count_transit(COUNT_TRANSIT_OPTION_NO_GAUGE, segments, p->frame_len);
	return TCX_NEXT;
}

static __always_inline int leave_with_option(struct __sk_buff *ctx, const struct passing_packet *p)
{
	switch (find_readable_option(ctx)) {
	case TRANSIT_FOUND:
		return fill_option(ctx);
	case TRANSIT_REFUSED:
		return leave_passing(p, p->reason);
	default:
		return TCX_NEXT;
	}
}

/* Runs at TC egress of each interface by which packets leave. What this host sent itself did not arrive anywhere. */
SEC("tc")
int transit_out(struct __sk_buff *ctx)
{
	struct passing_packet *p;
	int found, verdict;
	bool no_int;

	if (carriers & CARRIER_TCP_INT)
		count_sent(ctx);
	if (!ctx->ingress_ifindex)
		return TCX_NEXT;
	no_int = has_no_int(ctx);
	if (no_int && has_no_option((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		return TCX_NEXT;
	if (have_straight_way && !no_int) {
		verdict = leave_straight(ctx);
		if (verdict != NOT_STRAIGHT)
			return verdict;
	}
	p = passing();
	if (!p)
		return TCX_NEXT;
	found = no_int ? TRANSIT_NO_INT : find_readable(ctx, p);
	if (found == TRANSIT_FOUND) {
		note_departure(ctx, p);
		return hop(ctx);
	}
	if (found == TRANSIT_REFUSED)
		leave_passing(p, p->reason);
	return may_have_option(p, found) ? leave_with_option(ctx, p) : TCX_NEXT;
}
