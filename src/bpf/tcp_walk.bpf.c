// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads the state of watched TCP connections. It only looks: no segment and no socket is changed.
 *
 *	walk_connections, once a period: each socket of the namespace -> watched -> its state
 *	see_connection, at a socket's change of state: established -> when it began
 *						       closed	   -> its last state
 *
 * Nothing runs for segments. A connection that is not watched costs a look when it begins, when it ends, and in each
 * walk.
 */
#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/tcp.h"
#include "kernel/single_value.h"
#include "kernel/sock_ops.h"
#include "kernel/token.h"
#include "tcp/ask.h"
#include "tcp/option.h"
#include "tcp/segment.h"
#include "tcp/socket.h"
#include "tcp/state.h"
#include "tcp/tcp_counters.h"
#include "tcp/watched.h"

char _license[] SEC("license") = "Dual BSD/GPL";

_Static_assert(sizeof(struct flow_key) == TCP_FLOW_WORDS * sizeof(__u32), "a record holds a flow");

/* When a socket's connection was established. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64);
} tcp_begun SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 * 1024 * 1024);
} tcp_endings SEC(".maps");

/* Time when the CPU's bucket of tokens for endings is full again. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} tcp_tokens SEC(".maps");

/* Set before the programs are loaded: option 114 is sent. Kernels that know no storage of sockets here load them without. */
const volatile bool reads_options;

static __always_inline __u64 begun_at(const struct tcp_sock *tp)
{
	__u64 socket = (unsigned long)tp;
	__u64 *begun = bpf_map_lookup_elem(&tcp_begun, &socket);

	return begun ? *begun : 0;
}

/* The worst sample is that since the last time. */
static __always_inline void read_option_state(struct tcp_sock *tp, struct tcp_record *record)
{
	static const struct tcp_option_sample none;
	struct tcp_option_state *s;

	if (!reads_options)
		return;
	s = bpf_sk_storage_get(&tcp_options, tp, NULL, 0);
	if (!s)
		return;
	record->option = *s;
	record->has |= TCP_HAS_OPTION;
	s->worst = none;
}

SEC("iter/tcp")
int walk_connections(struct bpf_iter__tcp *ctx)
{
	struct tcp_record record = { .kind = TCP_SAMPLE };
	struct sock_common *skc = ctx->sk_common;
	struct tcp_sock *tp;

	if (!skc || skc->skc_state == TCP_STATE_LISTEN)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (!tp || skc->skc_state == TCP_STATE_SYN_SENT || skc->skc_state == TCP_STATE_SYN_RECV ||
	    skc->skc_state == TCP_STATE_CLOSE)
		return 0;
	if (!is_watched(&tp->inet_conn.icsk_inet, (struct flow_key *)record.flow, &record.class))
		return 0;
	read_state(tp, &record);
	read_option_state(tp, &record);
	record.begun_ns = begun_at(tp);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

static __always_inline void begin_connection(struct tcp_sock *tp)
{
	__u64 socket = (unsigned long)tp, now = bpf_ktime_get_ns();

	count_tcp(COUNT_TCP_BEGUN);
	bpf_map_update_elem(&tcp_begun, &socket, &now, BPF_ANY);
}

static __always_inline void forget_begin(const struct tcp_sock *tp)
{
	__u64 socket = (unsigned long)tp;

	bpf_map_delete_elem(&tcp_begun, &socket);
}

static __always_inline void end_connection(struct tcp_sock *tp, const struct flow_key *key, __u32 class)
{
	const struct tcp_settings *set = single_value(&tcp_settings);
	__u64 *full_ns = single_value(&tcp_tokens);
	struct tcp_record *r;
	struct token_rate rate;

	count_tcp(COUNT_TCP_ENDED);
	if (!set || !full_ns)
		return;
	rate.interval_ns = set->ending_interval_ns;
	rate.burst_ns = set->ending_burst_ns;
	if (!take_token(full_ns, &rate, bpf_ktime_get_ns())) {
		count_tcp(COUNT_TCP_END_LIMITED);
		goto forget;
	}
	r = bpf_ringbuf_reserve(&tcp_endings, sizeof(*r), 0);
	if (!r) {
		count_tcp(COUNT_TCP_END_LOST);
		goto forget;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->kind = TCP_ENDED;
	*(struct flow_key *)r->flow = *key;
	r->class = class;
	read_state(tp, r);
	read_option_state(tp, r);
	r->begun_ns = begun_at(tp);
	bpf_ringbuf_submit(r, WAKE_IDLE_READER);
forget:
	forget_begin(tp);
}

/* The arguments are the socket, its state before, and its state from now on. */
SEC("tp_btf/inet_sock_set_state")
int see_connection(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int before = ctx[1], now = ctx[2];
	struct flow_key key = {};
	struct tcp_sock *tp;
	__u32 class = 0;

	if ((now != TCP_STATE_ESTABLISHED && now != TCP_STATE_CLOSE) || before == TCP_STATE_LISTEN ||
	    before == TCP_STATE_CLOSE)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	if (!is_watched(&tp->inet_conn.icsk_inet, &key, &class)) {
		/* It was watched when it began, perhaps. */
		if (now == TCP_STATE_CLOSE)
			forget_begin(tp);
		return 0;
	}
	if (now == TCP_STATE_ESTABLISHED)
		begin_connection(tp);
	else if (before == TCP_STATE_SYN_SENT || before == TCP_STATE_SYN_RECV)
		count_tcp(COUNT_TCP_FAILED);
	else
		end_connection(tp, &key, class);
	return 0;
}

/* Connections that were there before. Kernels before 6.0 cannot set this here. */
SEC("iter/tcp")
int adopt_connections(struct bpf_iter__tcp *ctx)
{
	struct sock_common *skc = ctx->sk_common;
	struct flow_key key = {};
	struct tcp_sock *tp;
	__u32 class = 0;

	if (!skc || skc->skc_state != TCP_STATE_ESTABLISHED)
		return 0;
	tp = bpf_skc_to_tcp_sock(skc);
	if (tp && is_watched(&tp->inet_conn.icsk_inet, &key, &class) &&
	    bpf_sk_storage_get(&tcp_options, tp, NULL, SK_STORAGE_CREATE))
		call_for_open(tp, OPTION_CALLS);
	return 0;
}

SEC("sockops")
int mind_option(struct bpf_sock_ops *ctx)
{
	struct tcp_option_state *s;

	if (ctx->op != SOCK_OP_CONNECTED && ctx->op != SOCK_OP_ACCEPTED && ctx->op != SOCK_OP_TIMEOUT &&
	    (ctx->op < SOCK_OP_PARSE || ctx->op > SOCK_OP_WRITE))
		return 1;
	s = option_state(ctx);
	if (!s)
		return 1;
	switch (ctx->op) {
	case SOCK_OP_ROOM:
		reserve(ctx, s);
		break;
	case SOCK_OP_WRITE:
		write_option(ctx, s);
		break;
	case SOCK_OP_PARSE:
		read_option(ctx, s);
		break;
	case SOCK_OP_TIMEOUT:
		time_out(ctx, s);
		break;
	}
	return 1;
}
