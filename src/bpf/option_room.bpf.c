// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes room for INT in the segments of sockets whose flows are in options. The source's program at TC asks for it and
 * fills it in (source/option_fill.h); without that, an option without content leaves the host, which does no harm.
 *
 *	connection established, by a segment of either end	-> does the peer's sink read options, and has the budget room?
 *								   the next calls are wanted
 *	room for a segment's data is worked out			-> room wanted, and not paused? it comes off the data
 *	room for a segment					-> as it was worked out for its data
 *	write							-> the empty option
 *	timeout							-> the retransmission goes without, and what follows for a while
 */
#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "kernel/sock_ops.h"
#include "lease/pairs.h"
#include "source/option_rooms.h"
#include "tcp/segment.h"
#include "watch/chosen_flows.h"
#include "watch/state.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile bool can_adopt = false; /* room_for_open() is there */

enum {
	ROOM_CALLS = SOCK_OPS_TIMEOUT | SOCK_OPS_WRITE,
	ROOM_PAUSE_NS = 1000000000,
	ROOM_LEFT_NS = 1000000000, /* the least time between two segments whose room is left to option 114 */
	ROOM_LEFT_TURNS = 15,      /* mask of looks: one of 16 */
	ROOM_FAILURES = 2,
	PROVEN_FAILURES = 4,
};

static __always_inline struct source_lease *lease_of(const struct bpf_sock_ops *ctx)
{
	struct address_pair pair = pair_of_socket(ctx);

	return bpf_map_lookup_elem(&source_leases, &pair);
}

/*
 * Segments of connections that the budget leaves out are spared the calls. When it has room again, the user half lets them
 * have calls, so all connections have them where it cannot.
 */
static __always_inline bool is_in_share(const struct source_lease *lease, const struct flow_key *key)
{
	const struct host_settings *host = get_host_settings();
	const struct watch_state *state = get_watch_state();
	__u32 shift;

	if (!can_adopt || !host || !state || state->has_always)
		return true;
	shift = host->share_shift > lease->asked_shift ? host->share_shift : lease->asked_shift;
	return !shift || !is_left_out(shift, key);
}

/* The kernel signs a segment (TCP-AO, MD5) before programs write into it, so its signature would be wrong. */
static __always_inline bool takes_options(const struct tcp_sock *tp)
{
	const struct source_lease *lease;
	struct flow_key key = {};

	if (!tp)
		return false;
	read_socket_flow(&tp->inet_conn.icsk_inet, &key);
	lease = bpf_map_lookup_elem(&source_leases, &key);
	return lease && lease->ways & WAY_TCP_OPTION && !is_signed(tp) && is_in_share(lease, &key);
}

static __always_inline void call_for(struct bpf_sock_ops *ctx, struct bpf_sock *sk)
{
	if (takes_options(bpf_skc_to_tcp_sock(sk)))
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | ROOM_CALLS);
}

/*
 * Both this option and option 114 do not fit beside timestamps. Where a daemon at the peer reads that one, the room of a
 * segment a second, and of no more than one in 16 looks, is left to it.
 */
static __always_inline bool is_left(const struct bpf_sock_ops *ctx, struct option_room *room, __u64 now)
{
	const struct source_lease *lease;

	if (++room->turns & ROOM_LEFT_TURNS || now < room->left_ns + ROOM_LEFT_NS)
		return false;
	room->left_ns = now;
	lease = lease_of(ctx);
	return lease && lease->option_114;
}

/*
 * The source's program wants room for a while after each packet that it sees. What follows a rest has room once, if there is a
 * lease: many connections send one packet at a time, with pauses between.
 */
static __always_inline bool is_wanted(const struct bpf_sock_ops *ctx, struct option_room *room)
{
	struct source_lease *lease;
	__u64 now = coarse_ns();

	if (room->is_off || now < room->pause_ns)
		return false;
	if (now >= room->wanted_ns) {
		if (room->is_tried)
			return false;
		room->is_tried = 1;
		lease = lease_of(ctx);
		if (!lease || !(lease->ways & WAY_TCP_OPTION) || now >= lease->until_ns)
			return false;
	}
	return !is_left(ctx, room, now);
}

/*
 * Whether segments with data have room changes only where the kernel works out how long they may be: none gets too long. An
 * acknowledgement without data has none as soon as it is not wanted: if a device drops it, no timeout of this host tells.
 */
static __always_inline void make_room(struct bpf_sock_ops *ctx, struct option_room *room)
{
	bool is_bare = ctx->args[0] != ROOM_OF_NO_SEGMENT && !ctx->skb_len;

	if (ctx->args[0] == ROOM_OF_NO_SEGMENT)
		room->is_on = is_wanted(ctx, room);
	if (room->is_on && !(is_bare && coarse_ns() >= room->wanted_ns))
		bpf_reserve_hdr_opt(ctx, INT_OPTION_LEN, 0);
}

static __always_inline void write_room(struct bpf_sock_ops *ctx, struct option_room *room)
{
	const struct int_option empty = {
		.kind = INT_OPTION_KIND,
		.length = INT_OPTION_LEN,
		.id = bpf_htons(INT_OPTION_ID),
	};
	const struct tcp_header *tcp = header_of(ctx);
	bool asks;
	__u32 seq;

	if (!tcp)
		return;
	asks = !room->has_asked && has_data(ctx, tcp);
	seq = bpf_ntohl(tcp->seq);
	if (bpf_store_hdr_opt(ctx, &empty, sizeof(empty), 0) || !asks)
		return;
	room->asked = seq + 1;
	room->has_asked = 1;
}

/*
 * Some device may drop segments with options that it does not know. Data that was acknowledged before the pause shows
 * that it does not; without that, a second timeout is the last one that a connection pays for. Where options passed before,
 * loss may take the same data again and again, and is to be measured: it takes more of them. While the sink counts packets of
 * the pair, they say nothing of other connections.
 */
static __always_inline void pause_room(struct bpf_sock_ops *ctx, struct option_room *room)
{
	bool passed = room->has_asked && (__s32)(ctx->snd_una - room->asked) >= 0;
	struct source_lease *lease;

	room->is_on = 0;
	room->pause_ns = coarse_ns() + ROOM_PAUSE_NS;
	if (!room->has_asked)
		return;
	room->has_asked = 0;
	room->is_proven |= passed;
	room->failures = passed ? 0 : room->failures + 1;
	if (room->failures < (room->is_proven ? PROVEN_FAILURES : ROOM_FAILURES))
		return;
	room->is_off = 1;
	lease = lease_of(ctx);
	if (lease && coarse_ns() >= lease->vouched_ns)
		__sync_fetch_and_add(&lease->fallen, 1);
}

SEC("sockops")
int option_room(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = (struct bpf_sock *)(long)ctx->sk;
	struct option_room *room;

	if (!sk)
		return 1;
	if (ctx->op == SOCK_OP_CONNECTED || ctx->op == SOCK_OP_ACCEPTED) {
		call_for(ctx, sk);
		return 1;
	}
	if (ctx->op != SOCK_OP_TIMEOUT && ctx->op != SOCK_OP_ROOM && ctx->op != SOCK_OP_WRITE)
		return 1;
	room = bpf_sk_storage_get(&option_rooms, sk, NULL, 0);
	if (!room)
		return 1;
	switch (ctx->op) {
	case SOCK_OP_ROOM:
		make_room(ctx, room);
		break;
	case SOCK_OP_WRITE:
		write_room(ctx, room);
		break;
	case SOCK_OP_TIMEOUT:
		pause_room(ctx, room);
		break;
	}
	return 1;
}

/* Connections that were there before the lease, or that the budget left out. Kernels before 6.0 cannot set this here. */
SEC("iter/tcp")
int room_for_open(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct tcp_sock *tp;

	if (!skc || skc->skc_state != TCP_STATE_ESTABLISHED)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (takes_options(tp))
		call_for_open(tp, ROOM_CALLS);
	return 0;
}
