/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reports packets in INT-MX to the hop's daemon; nothing in them is changed. The source says in each packet which ones
 * are reported, so that all hops report the same ones. What is not reported for lack of room is counted.
 */
#ifndef HOSTINT_TRANSIT_MX_NOTICE_H
#define HOSTINT_TRANSIT_MX_NOTICE_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/transit.h"
#include "transit/arrivals.h"
#include "transit/counters.h"
#include "transit/entry.h"
#include "transit/passing.h"
#include "transit/push.h"

enum {
	MX_MOST_FRONT = IP6_LEN + MAX_OPTIONS_LEN + TCP_BASE_LEN + INT_MX_BLOCK_LEN,
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} transit_postcards SEC(".maps");

static __always_inline bool send_mx_notice(struct __sk_buff *ctx, struct passing_packet *p)
{
	struct transit_postcard *card;

	_Static_assert(MX_MOST_FRONT <= POSTCARD_QUOTE, "what is loaded is told");
	if (!load_front(ctx, p))
		return false;
	card = bpf_ringbuf_reserve(&transit_postcards, sizeof(*card), 0);
	if (!card)
		return false;
	card->arrived_ns = arrival_of(p, p->left_ns);
	card->left_ns = p->left_ns;
	card->in_ifindex = ctx->ingress_ifindex;
	card->out_ifindex = ctx->ifindex;
	card->queue_packets = bpf_ntohl(queue_word(ctx));
	card->family = p->at.family;
	card->len = p->at.l4 - p->at.l3 + p->l4_len + p->head_len;
	__builtin_memcpy(card->quote, p->front, sizeof(card->quote));
	bpf_ringbuf_submit(card, WAKE_IDLE_READER);
	return true;
}

/* Of a superpacket, which was merged on the path, only the first block can be seen. */
__noinline int pass_mx(struct __sk_buff *ctx)
{
	__u32 segments = ctx->gso_segs > 1 ? ctx->gso_segs : 1;
	struct passing_packet *p = passing();

	if (!p)
		return TCX_NEXT;
	count_transit(COUNT_TRANSIT_MX_PASSED, segments, p->frame_len);
	if (segments > 1)
		count_transit(COUNT_TRANSIT_SUPERPACKET, 1, p->frame_len);
	if (p->is_sampled)
		count_transit(send_mx_notice(ctx, p) ? COUNT_TRANSIT_POSTCARD_SENT : COUNT_TRANSIT_POSTCARD_LOST, 1,
			      p->frame_len);
	return TCX_NEXT;
}

#endif
