/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fills in the option of a TCP segment for which its sender's stack made room (option_room.bpf.c). The packet keeps its
 * length and all else. A segment without room goes untagged, and its socket is told that room is wanted.
 */
#ifndef HOSTINT_SOURCE_OPTION_FILL_H
#define HOSTINT_SOURCE_OPTION_FILL_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/int_option.h"
#include "int/option.h"
#include "kernel/clock.h"
#include "kernel/sock_ops.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "source/checksum.h"
#include "source/flow_numbers.h"
#include "source/missed.h"
#include "source/option_rooms.h"
#include "source/outgoing.h"
#include "source/plan.h"
#include "source/tagged.h"

enum {
	ROOM_WANTED_NS = 1000000000, /* longer than a flow goes without a look at its lease */
};

static __always_inline bool is_in_options(const struct outgoing_packet *p)
{
	return encapsulation == ENCAP_OPTIONS && p->form == ENCAP_OPTIONS;
}

/* The kernel puts the options of programs behind its own. */
static __always_inline __u32 option_at(const struct outgoing_packet *p)
{
	return p->at.l4 + p->l4_header_len - INT_OPTION_LEN;
}

/* Asks the stack for room in the socket's segments. Packets of guests have no socket here. */
static __always_inline void want_room(struct __sk_buff *ctx, const struct outgoing_packet *p)
{
	struct bpf_sock *sk = (void *)ctx->sk;
	struct option_room *room;

	if (!sk)
		return;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return;
	room = bpf_sk_storage_get(&option_rooms, sk, NULL, SK_STORAGE_CREATE);
	if (!room)
		return;
	room->wanted_ns = p->now_ns + ROOM_WANTED_NS;
	room->is_tried = 0;
}

/* Reads the empty option, and makes sure that it can be written. Returns false if the packet goes untagged; it is counted. */
static __always_inline bool has_option_room(struct __sk_buff *ctx, struct outgoing_packet *p, struct int_option *option)
{
	enum source_counter reason = COUNT_SOURCE_NO_OPTION;
	bool found = p->l4_header_len >= TCP_BASE_LEN + INT_OPTION_LEN &&
		     !bpf_skb_load_bytes(ctx, option_at(p), option, sizeof(*option)) && is_int_option(option);

	p->segments = whole_segments(ctx, p);
	/* The lease was looked up just now, or the socket does not know yet. */
	if (p->leased_ns || !found)
		want_room(ctx, p);
	/* Another source of this host has tagged it, at a veth for instance: it is measured. */
	if (found && option->flags & INT_OPTION_FILLED) {
		count_source(COUNT_SOURCE_HAS_INT, p->segments, p->frame_len);
		return false;
	}
	if (found && p->segments > INT_OPTION_SEGMENTS)
		reason = COUNT_SOURCE_SUPERPACKET;
	else if (found && bpf_skb_pull_data(ctx, option_at(p) + INT_OPTION_LEN))
		reason = COUNT_SOURCE_CANNOT_RESIZE;
	else if (found)
		return true;
	count_missed(reason, p->segments, p->frame_len);
	return false;
}

/* Returns the bytes of all segments as they are without options. */
static __always_inline __u32 optionless_bytes(const struct outgoing_packet *p)
{
	__u32 headers = p->at.l4 - p->at.l3 + p->l4_header_len;

	return p->at.ip_len + (p->segments - 1) * headers - p->segments * INT_OPTION_LEN;
}

static __always_inline void fill_content(struct int_option *option, const struct host_settings *host,
					 const struct flow_number *number, __u64 now)
{
	option->flags = INT_OPTION_FILLED | number->age_code;
	option->sequence = bpf_htonl(number->sequence);
	option->time = bpf_htonl((__u32)now);
	option->node_id = bpf_htonl(host->node_id);
}

/* f is the record of the flow, which begins with its first segment with an option; NULL if there was no room for it. */
static __always_inline void fill_int_option(struct __sk_buff *ctx, const struct host_settings *host,
					    struct outgoing_packet *p, struct source_flow *f,
					    const struct int_option *empty, bool locked)
{
	__u32 data = p->at.ip_len - (p->at.l4 - p->at.l3) - p->l4_header_len, size = ctx->gso_size, sum;
	struct int_option filled = *empty;
	struct flow_number number;
	__u64 now;

	if (!f || !read_checksum_state(ctx, p)) {
		count_missed(f ? COUNT_SOURCE_NO_CHECKSUM_STATE : COUNT_SOURCE_TABLE_FULL, p->segments, p->frame_len);
		return;
	}
	p->encapsulation = ENCAP_OPTIONS;
	now = now_ns(host);
	next_numbers(f, p->segments, now, locked, &number);
	fill_content(&filled, host, &number, now);
	filled.size = bpf_htons(size ? size : data);
	filled.base = p->l4.tcp.seq;
	if (p->unfinished) {
		put_bytes(ctx, option_at(p), &filled, sizeof(filled));
	} else {
		sum = bpf_csum_diff((__be32 *)(void *)empty, sizeof(*empty), (__be32 *)&filled, sizeof(filled), 0);
		bpf_skb_store_bytes(ctx, option_at(p), &filled, sizeof(filled), 0);
		bpf_l4_csum_replace(ctx, p->at.l4 + __builtin_offsetof(struct tcphdr, check), 0, sum, 0);
	}
	count_tagged(p, f, optionless_bytes(p), locked);
}

#endif
