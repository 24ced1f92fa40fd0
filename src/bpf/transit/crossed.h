/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Notes that a packet with INT arrived, and that it is about to join the queue of an interface: its time, and its number. */
#ifndef HOSTINT_TRANSIT_CROSSED_H
#define HOSTINT_TRANSIT_CROSSED_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "int/crossings.h"
#include "kernel/clock.h"
#include "transit/arrivals.h"
#include "transit/attachment.h"
#include "transit/counters.h"
#include "transit/departures.h"
#include "transit/passing.h"

/*
 * Counts a packet that passes. Those without a budget are left out: their ways are not known. What this host tagged
 * itself came from nowhere.
 */
static __always_inline void note_crossing(struct __sk_buff *ctx, const struct host_settings *host,
					  struct passing_packet *p, enum crossing_place place, __u64 now)
{
	__u32 segments = ctx->gso_segs > 1 ? ctx->gso_segs : 1, dest;

	if (!p->had_budget || p->source_node == bpf_htonl(host->node_id) ||
	    !find_dest_tag((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p->at, &dest))
		return;
	count_crossing(bpf_ntohl(p->source_node), dest, ctx->ifindex, crossing_of(place, p->at.ttl, segments),
		       block_of(now, bpf_ntohl(p->source_time)));
}

/*
 * Remembering comes last, here and below: the word is in no cache as a rule, and a locked step, as counting a crossing is,
 * waits until all that was written before it is there.
 */
static __always_inline void note_ingress(struct __sk_buff *ctx, const struct host_settings *host,
					 struct passing_packet *p)
{
	__u64 now = now_ns(host);

	note_crossing(ctx, host, p, CROSSING_ARRIVED, now);
	count_transit(COUNT_TRANSIT_ARRIVED, ctx->gso_segs > 1 ? ctx->gso_segs : 1, p->frame_len);
	if (p->is_unnumbered)
		remember_alike(p, now);
	else
		remember_arrival(p, now);
}

static __always_inline void remember_departure(struct __sk_buff *ctx, const struct passing_packet *p)
{
	if (notes_departures && !p->is_md)
		remember(&transit_departures, departure_identity(p->identity, ctx->ifindex), p->left_ns);
}

#endif
