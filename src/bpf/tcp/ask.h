/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sends option 114 and reads it.
 *
 *	room for a segment's data is worked out -> a request is due? -> its room comes off the data
 *	room for a segment	-> with data, and a request is due; or with little or no data, and an echo waits
 *	write			-> the request, with the echo if one waits
 *	parse			-> a request that hops filled in: the worst is to be echoed; an echo: a sample
 *	timeout			-> of a socket that no echo came to: it sends no requests any more
 */
#ifndef HOSTINT_TCP_ASK_H
#define HOSTINT_TCP_ASK_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/tcp.h"
#include "kernel/single_value.h"
#include "kernel/sock_ops.h"
#include "tcp/option.h"
#include "tcp/segment.h"
#include "tcp/tcp_counters.h"
#include "tcp/watched.h"

enum {
	OPTION_CALLS = SOCK_OPS_TIMEOUT | SOCK_OPS_PARSE_UNKNOWN | SOCK_OPS_WRITE,
	SELDOM_NS = 1000000000, /* between two requests where none was answered, or after a timeout */
	PATIENCE = 10,          /* intervals */
};

/* True if the host at the other end takes the option, and nothing between seems to drop it. */
static __always_inline bool may_ask(const struct tcp_settings *set, const struct bpf_sock_ops *ctx, __u64 now)
{
	struct address_pair pair = pair_of_socket(ctx);
	const struct tcp_option_pair *known = bpf_map_lookup_elem(&tcp_option_pairs, &pair);
	const __u64 *until;

	if (known && now < known->until_ns)
		return false;
	if (set->flags & TCP_ASK_ALL)
		return true;
	until = bpf_map_lookup_elem(&tcp_option_peers, &pair);
	return until && now < *until;
}

/*
 * The next request is due after the interval, and not before a round trip. While the last one is unanswered it waits
 * longer: the echo of either would be taken for that of the newest.
 */
static __always_inline void plan_request(const struct bpf_sock_ops *ctx, struct tcp_option_state *s)
{
	const struct tcp_settings *set = single_value(&tcp_settings);
	__u64 now = bpf_ktime_get_ns(), interval, trip = (__u64)(ctx->srtt_us >> 3) * 1000;

	if (!set || now < s->next_ns || s->off)
		return;
	interval = s->unanswered < TCP_OPTION_TRIALS ? set->ask_interval_ns : SELDOM_NS;
	if (interval < trip)
		interval = trip;
	if (s->flags & TCP_OPTION_ASKED && now < s->asked_ns + PATIENCE * interval)
		return;
	s->next_ns = now + interval;
	if (may_ask(set, ctx, now))
		s->flags |= TCP_OPTION_DUE;
}

static __always_inline void reserve(struct bpf_sock_ops *ctx, struct tcp_option_state *s)
{
	bool no_segment = ctx->args[0] == ROOM_OF_NO_SEGMENT, wanted;

	if (no_segment)
		plan_request(ctx, s);
	wanted = s->flags & TCP_OPTION_DUE && (no_segment || ctx->skb_len > 0);
	if (!no_segment && s->flags & TCP_OPTION_ECHOES && ctx->skb_len <= TCP_OPTION_ECHO_ROOM)
		wanted = true;
	if (wanted && bpf_reserve_hdr_opt(ctx, TCP_OPTION_LEN, 0) < 0 && !no_segment) {
		s->no_room++;
		count_tcp(COUNT_TCP_NO_ROOM);
	}
}

static __always_inline void write_option(struct bpf_sock_ops *ctx, struct tcp_option_state *s)
{
	struct tcp_option option = {
		.kind = TCP_OPTION_KIND,
		.length = TCP_OPTION_LEN,
		.key_speed = TCP_OPTION_ALL << 4,
	};
	const struct tcp_header *tcp = header_of(ctx);
	bool asks = s->flags & TCP_OPTION_DUE, echoes = s->flags & TCP_OPTION_ECHOES;
	__u32 seq;

	if (!tcp)
		return;
	asks = asks && has_data(ctx, tcp);
	seq = bpf_ntohl(tcp->seq);
	if (!asks && !echoes)
		return;
	if (echoes) {
		option.echo_value = s->echo.value;
		option.echo_hop_speed = s->echo.hop_speed;
		option.echo_latency[0] = s->echo.latency;
		option.echo_latency[1] = s->echo.latency >> 8;
	}
	if (bpf_store_hdr_opt(ctx, &option, sizeof(option), 0))
		return;
	if (echoes) {
		s->flags &= ~TCP_OPTION_ECHOES;
		s->echoes++;
		count_tcp(COUNT_TCP_ECHOES);
	}
	if (asks) {
		if (s->flags & TCP_OPTION_ASKED)
			s->unanswered++;
		s->flags = (s->flags & ~TCP_OPTION_DUE) | TCP_OPTION_ASKED;
		s->asked_seq = seq;
		s->asked_ns = bpf_ktime_get_ns();
		s->requests++;
		count_tcp(COUNT_TCP_REQUESTS);
	}
}

/* An echo is a sample if it acknowledges the newest request, and is the first to do so. */
static __always_inline void take_echo(const struct tcp_header *tcp, const struct tcp_option *option,
				      struct tcp_option_state *s)
{
	__s32 acknowledged = bpf_ntohl(tcp->ack) - s->asked_seq;
	struct tcp_option_sample told = told_in(option);

	if (!(s->flags & TCP_OPTION_ASKED) || acknowledged <= 0)
		return;
	s->flags = (s->flags & ~TCP_OPTION_ASKED) | TCP_OPTION_PROVEN;
	s->unanswered = 0;
	s->samples++;
	if (!(s->worst.hop_speed >> 4) || is_worse(&told, &s->worst)) {
		s->worst = told;
		s->worst_ns = s->asked_ns;
	}
	count_tcp(COUNT_TCP_TAKEN);
}

static __always_inline void read_option(struct bpf_sock_ops *ctx, struct tcp_option_state *s)
{
	struct tcp_option option = { .kind = TCP_OPTION_KIND };
	const struct tcp_header *tcp = header_of(ctx);
	struct tcp_option_sample echo;

	if (!tcp || bpf_load_hdr_opt(ctx, &option, sizeof(option), 0) != TCP_OPTION_LEN)
		return;
	/* An acknowledgement without data is never echoed: both ends would go on for ever. */
	if (option.hop && has_data(ctx, tcp)) {
		echo = echo_of(&option);
		if (!(s->flags & TCP_OPTION_ECHOES) || is_worse(&echo, &s->echo))
			s->echo = echo;
		s->flags |= TCP_OPTION_ECHOES;
	}
	if (option.echo_hop_speed >> 4)
		take_echo(tcp, &option, s);
}

/* CPUs that count at the same time may miss one, which does no harm. */
static __always_inline void give_up_pair(const struct bpf_sock_ops *ctx)
{
	struct address_pair pair = pair_of_socket(ctx);
	struct tcp_option_pair begun = { .failed = 1 }, *known = bpf_map_lookup_elem(&tcp_option_pairs, &pair);

	if (!known) {
		bpf_map_update_elem(&tcp_option_pairs, &pair, &begun, BPF_NOEXIST);
	} else if (++known->failed >= TCP_OPTION_PAIR_FAILS) {
		known->failed = 0;
		known->until_ns = bpf_ktime_get_ns() + PAIR_GIVEN_UP_S * 1000000000ULL;
	}
}

/* The retransmission that follows carries no option. */
static __always_inline void time_out(const struct bpf_sock_ops *ctx, struct tcp_option_state *s)
{
	bool sent = s->requests || s->echoes;

	s->flags &= ~(TCP_OPTION_DUE | TCP_OPTION_ECHOES);
	s->next_ns = bpf_ktime_get_ns() + SELDOM_NS;
	if (s->off || !sent)
		return;
	if (!(s->flags & TCP_OPTION_PROVEN)) {
		s->off = TCP_OPTION_TIMED_OUT;
		count_tcp(COUNT_TCP_OPTION_OFF);
		give_up_pair(ctx);
	}
	/* The path may be another one from now on. */
	s->flags &= ~TCP_OPTION_PROVEN;
}

/* Returns the socket's state. A watched socket gets one when its connection begins, unless its segments are signed. */
static __always_inline struct tcp_option_state *option_state(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = (struct bpf_sock *)(long)ctx->sk;
	struct flow_key key = {};
	struct tcp_sock *tp;
	__u32 class = 0;

	if (!sk)
		return NULL;
	if (ctx->op != SOCK_OP_CONNECTED && ctx->op != SOCK_OP_ACCEPTED)
		return bpf_sk_storage_get(&tcp_options, sk, NULL, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || is_signed(tp) || !is_watched(&tp->inet_conn.icsk_inet, &key, &class))
		return NULL;
	bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | OPTION_CALLS);
	return bpf_sk_storage_get(&tcp_options, sk, NULL, SK_STORAGE_CREATE);
}

#endif
