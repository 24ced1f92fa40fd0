/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when applications wrote the data that waits in the send buffers of TCP sockets, until TCP sends it. A socket is
 * followed from its first tagged packet on. Writes stand in the order of their sequence numbers: the application adds them,
 * and what reaches the driver takes them away.
 */
#ifndef HOSTINT_HOST_SEND_BUFFER_H
#define HOSTINT_HOST_SEND_BUFFER_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "kernel/sock_ops.h"
#include "packet/headers.h"
#include "tcp/socket.h"
#include "transit/sent.h"

/* Set before load: the kernel tells what applications write (6.16). */
const volatile bool follows_writes = false;

/* Data that an application wrote at once, or a part of it. It ends where the next one begins. */
struct written_data {
	__u64 ns; /* of the monotonic clock; 0: not known */
	__u32 seq;
	__u32 zero;
};

struct send_buffer {
	__u32 written;  /* number of the next write */
	__u32 sent;     /* of the write that holds the newest byte that was sent */
	__u32 next_seq; /* behind that byte */
	__u32 repeated; /* segments that TCP had repeated when it was sent */
	struct written_data writes[HOST_WRITES];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct send_buffer);
} host_send_buffers SEC(".maps");

static __always_inline struct written_data *write_at(struct send_buffer *b, __u32 number)
{
	return &b->writes[number & (HOST_WRITES - 1)];
}

/* Where there is no room, it is not known when the newest write ended. */
static __always_inline void note_written(struct sock *sk, __u64 now)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct written_data *newest;
	struct send_buffer *b;
	__u32 written;

	if (!tp)
		return;
	b = bpf_sk_storage_get(&host_send_buffers, tp, NULL, 0);
	if (!b)
		return;
	written = b->written;
	newest = write_at(b, written - 1);
	if (written - b->sent >= HOST_WRITES - 1) {
		newest->ns = 0;
		return;
	}
	/* The application waited for room in the buffer. */
	if (written && newest->seq == tp->write_seq) {
		newest->ns = now;
		return;
	}
	newest = write_at(b, written);
	newest->ns = now;
	newest->seq = tp->write_seq;
	b->written = written + 1;
}

/* Returns when the byte with this number was written, or 0. */
static __always_inline __u64 written_at(struct send_buffer *b, __u32 seq)
{
	__u32 written = b->written, sent = b->sent;
	const struct written_data *w;

	for (int i = 0; i < HOST_WRITES; i++) {
		if (written - sent < 2 || (__s32)(seq - write_at(b, sent + 1)->seq) < 0)
			break;
		sent++;
	}
	b->sent = sent;
	w = write_at(b, sent);
	return written != sent && (__s32)(seq - w->seq) >= 0 ? w->ns : 0;
}

/* Reads the numbers of a segment's first byte, and of the byte behind its last one. Returns false if it has no data. */
static __always_inline bool find_data(struct sk_buff *skb, const struct sent_packet *p, __u32 bytes, __u32 *seq,
				      __u32 *end_seq)
{
	__u32 behind = p->behind;
	struct tcphdr tcp;
	long data;

	if ((!p->is_gpe && p->protocol != IPPROTO_TCP) ||
	    !read_sent(p, p->is_gpe ? p->behind : p->l4, &tcp, TCP_BASE_LEN))
		return false;
	/* INT stands between the options and what is in front of them. */
	if (!p->is_gpe)
		behind -= TCP_BASE_LEN;
	data = (long)skb->network_header + bytes - behind - (tcp.doff >> 4) * 4;
	*seq = bpf_ntohl(tcp.seq);
	*end_seq = *seq + data;
	return data > 0;
}

/*
 * Returns the time that the first byte of a tagged segment waited until TCP sent it, at this time of the monotonic clock, or
 * a negative one. What TCP sends again has no such time, nor has what it sends first after it repeated anything.
 */
static __always_inline __s64 wait_in_buffer(struct sk_buff *skb, const struct sent_packet *p, __u32 bytes,
					    __u64 sent_ns)
{
	struct sock *sk = skb->sk;
	__u32 seq, end_seq, repeated;
	__u64 written_ns = 0;
	struct send_buffer *b;

	/* What is no whole socket has no storage. */
	if (!sk || sk->sk_protocol != SOCKET_TCP || !find_data(skb, p, bytes, &seq, &end_seq))
		return -1;
	b = bpf_sk_storage_get(&host_send_buffers, sk, NULL, SK_STORAGE_CREATE);
	if (!b)
		return -1;
	repeated = BPF_CORE_READ((struct tcp_sock *)sk, total_retrans);
	if (!b->next_seq || (__s32)(seq - b->next_seq) >= 0) {
		if (b->repeated == repeated)
			written_ns = written_at(b, seq);
		b->next_seq = end_seq;
	}
	b->repeated = repeated;
	return written_ns && sent_ns >= written_ns ? sent_ns - written_ns : -1;
}

#endif
