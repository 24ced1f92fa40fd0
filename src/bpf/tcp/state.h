/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the state of a TCP connection into a record. */
#ifndef HOSTINT_TCP_STATE_H
#define HOSTINT_TCP_STATE_H

#include "kernel/kernel.h"
#include "hostint/tcp.h"
#include "tcp/socket.h"

enum {
	CHRONO_BUSY = 1,
	CHRONO_RECEIVER = 2,
	CHRONO_BUFFER = 3,
	US_PER_S = 1000000,
	PACING_NONE = 0,
	NO_SPACE = 4, /* the bit SOCK_NOSPACE of a socket's flags */
	ECN_AGREED = 1,
};

/* Reads a field that not each kernel has, and notes that it is there. */
#define READ_IF_ANY(record, member, tp, field, bit)                  \
	do {                                                         \
		if (bpf_core_field_exists(struct tcp_sock, field)) { \
			(record)->member = (tp)->field;              \
			(record)->has |= (bit);                      \
		}                                                    \
	} while (0)

/* Each of the three times goes on while the socket is in that state: what is running is added. */
static __always_inline void read_limits(const struct tcp_sock *tp, struct tcp_record *r)
{
	__u32 running, type;

	if (!bpf_core_field_exists(struct tcp_sock, chrono_stat))
		return;
	running = (__u32)bpf_jiffies64() - tp->chrono_start;
	type = BPF_CORE_READ_BITFIELD(tp, chrono_type);
	r->busy_ticks = tp->chrono_stat[0];
	r->receiver_ticks = tp->chrono_stat[1];
	r->buffer_ticks = tp->chrono_stat[2];
	if (type == CHRONO_BUSY)
		r->busy_ticks += running;
	else if (type == CHRONO_RECEIVER)
		r->receiver_ticks += running;
	else if (type == CHRONO_BUFFER)
		r->buffer_ticks += running;
	/* In the kernel one of the three runs at a time; told is busy as a whole. */
	r->busy_ticks += r->receiver_ticks + r->buffer_ticks;
	r->has |= TCP_HAS_CHRONO;
}

static __always_inline __u32 read_flags(const struct tcp_sock *tp, const struct sock *sk)
{
	__u32 flags = 0;

	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		flags |= TCP_CWND_LIMITED;
	if (BPF_CORE_READ_BITFIELD(tp, rate_app_limited))
		flags |= TCP_RATE_APP;
	if (tp->app_limited)
		flags |= TCP_APP_LIMITED;
	if (bpf_core_field_exists(struct tcp_sock, ecn_flags) && tp->ecn_flags & ECN_AGREED)
		flags |= TCP_ECN;
	if (BPF_CORE_READ_BITFIELD(tp, rx_opt.wscale_ok))
		flags |= TCP_WINDOW_SCALED;
	if (BPF_CORE_READ_BITFIELD(tp, rx_opt.sack_ok))
		flags |= TCP_SACK;
	if (BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok))
		flags |= TCP_TIMESTAMPS;
	if (sk->sk_pacing_status != PACING_NONE)
		flags |= TCP_PACED;
	if (BPF_CORE_READ(sk, sk_socket, flags) & NO_SPACE)
		flags |= TCP_NO_ROOM;
	return flags;
}

static __always_inline __u32 bytes_between(__u32 from, __u32 to)
{
	__s32 bytes = to - from;

	return bytes > 0 ? bytes : 0;
}

/* Returns the bytes that arrived and wait for the application. Behind the last byte, the peer's FIN has a number, too. */
static __always_inline __u32 unread_of(const struct tcp_sock *tp, __u8 state)
{
	__u32 bytes = bytes_between(tp->copied_seq, tp->rcv_nxt);
	bool has_fin = state == TCP_STATE_CLOSE_WAIT || state == TCP_STATE_LAST_ACK || state == TCP_STATE_CLOSING;

	return bytes && has_fin ? bytes - 1 : bytes;
}

static __always_inline void read_rates(const struct tcp_sock *tp, const struct sock *sk, struct tcp_record *r)
{
	__u64 rate = tp->rate_delivered, interval = tp->rate_interval_us;

	if (rate && interval)
		r->rate_bytes_s = rate * tp->mss_cache * US_PER_S / interval;
	r->pacing_bytes_s = sk->sk_pacing_rate;
	r->pacing_most_bytes_s = sk->sk_max_pacing_rate;
}

/* The socket keeps one byte for itself as long as it is open. */
static __always_inline __u32 host_queue_of(const struct sock *sk)
{
	int bytes = sk->sk_wmem_alloc.refs.counter;

	return bytes > 1 ? bytes - 1 : 0;
}

/* The record was all zeros before, but for kind, flow and class. */
static __always_inline void read_state(const struct tcp_sock *tp, struct tcp_record *r)
{
	const struct inet_connection_sock *icsk = &tp->inet_conn;
	const struct sock *sk = &icsk->icsk_inet.sk;
	struct cgroup *cgroup = socket_cgroup(sk);

	r->socket = (unsigned long)tp;
	r->now_ns = bpf_ktime_get_ns();
	r->state = sk->__sk_common.skc_state;
	if (cgroup) {
		r->cgroup = BPF_CORE_READ(cgroup, kn, id);
		r->has |= TCP_HAS_CGROUP;
	}
	r->bytes_sent = tp->bytes_sent;
	r->bytes_acked = tp->bytes_acked;
	r->bytes_received = tp->bytes_received;
	READ_IF_ANY(r, bytes_retrans, tp, bytes_retrans, TCP_HAS_BYTES_RETRANS);
	READ_IF_ANY(r, delivered_ce, tp, delivered_ce, TCP_HAS_DELIVERED_CE);
	READ_IF_ANY(r, dsack_dups, tp, dsack_dups, TCP_HAS_DSACK);
	READ_IF_ANY(r, reord_seen, tp, reord_seen, TCP_HAS_REORD_SEEN);
	READ_IF_ANY(r, rto_count, tp, total_rto, TCP_HAS_RTO_COUNT);
	read_limits(tp, r);
	read_rates(tp, sk, r);
	r->flags = read_flags(tp, sk);
	r->srtt_us = tp->srtt_us >> 3;
	r->rttvar_us = tp->mdev_us >> 2;
	r->min_rtt_us = tp->rtt_min.s[0].v;
	r->cwnd = tp->snd_cwnd;
	r->ssthresh = tp->snd_ssthresh;
	r->mss = tp->mss_cache;
	r->packets_out = tp->packets_out;
	r->sacked_out = tp->sacked_out;
	r->lost_out = tp->lost_out;
	r->retrans_out = tp->retrans_out;
	r->total_retrans = tp->total_retrans;
	r->segments_out = tp->segs_out;
	r->data_segments_out = tp->data_segs_out;
	r->delivered = tp->delivered;
	r->notsent_bytes = bytes_between(tp->snd_nxt, tp->write_seq);
	r->unread_bytes = unread_of(tp, r->state);
	r->host_queue_bytes = host_queue_of(sk);
	r->snd_wnd = tp->snd_wnd;
	r->send_buffer_bytes = sk->sk_sndbuf;
	r->rto_ticks = icsk->icsk_rto;
	r->retransmits = icsk->icsk_retransmits;
	r->ca_state = BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state);
	bpf_core_read(r->congestion, sizeof(r->congestion), &icsk->icsk_ca_ops->name);
}

#endif
