/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when applications read what clients asked over TCP, until the first packet of their answer is sent: the first
 * one with data that was written after the last read. Sockets of clients are left out: what they do between an answer and
 * the next question is no wait.
 */
#ifndef HOSTINT_HOST_ANSWER_H
#define HOSTINT_HOST_ANSWER_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "host/send_buffer.h"
#include "tcp/socket.h"
#include "transit/sent.h"
#include "transit/wait_times.h"

/* A socket whose application was asked, and has not answered. */
struct asked_socket {
	__u64 socket; /* 0: none */
	__u64 ns;     /* when the last part of the question was read */
	__u32 seq;    /* of the first byte of the answer */
	__u32 source_node;
	__u32 ifindex;
	__u32 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOST_ASKED);
	__type(key, __u32);
	__type(value, struct asked_socket);
} host_asked SEC(".maps");

/* A socket writes its random number into all packets that it sends. */
static __always_inline volatile struct asked_socket *asked_at(__u32 number)
{
	__u32 index = number & (HOST_ASKED - 1);

	return bpf_map_lookup_elem(&host_asked, &index);
}

/* A socket that came from a listening one has that one's backlog. */
static __always_inline void note_asked(struct sock *sk, const struct wait_key *key, __u64 now)
{
	volatile struct asked_socket *asked;

	if (!sk || BPF_CORE_READ(sk, sk_protocol) != SOCKET_TCP || !BPF_CORE_READ(sk, sk_max_ack_backlog))
		return;
	asked = asked_at(BPF_CORE_READ(sk, sk_txhash));
	if (!asked)
		return;
	/* Whoever reads the place meanwhile finds none. */
	asked->socket = 0;
	asked->ns = now;
	asked->seq = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);
	asked->source_node = key->source_node;
	asked->ifindex = key->ifindex;
	asked->socket = (unsigned long)sk;
}

/*
 * Returns the time until the answer, if that begins in this packet, which got its stamp at this time, else a negative one.
 * Longer times than can be counted are the longest one.
 */
static __always_inline __s64 wait_for_answer(struct sk_buff *skb, const struct sent_packet *p, __u32 bytes,
					     __u64 stamped_ns, struct wait_key *key)
{
	volatile struct asked_socket *asked = asked_at(skb->hash);
	__u64 socket = (unsigned long)skb->sk;
	__u32 seq, end_seq;
	__s64 waited;

	if (!asked || !socket || asked->socket != socket || !find_data(skb, p, bytes, &seq, &end_seq) ||
	    asked->seq - seq >= end_seq - seq)
		return -1;
	waited = stamped_ns - asked->ns;
	key->part = WAIT_TO_BE_ANSWERED;
	key->source_node = asked->source_node;
	key->ifindex = asked->ifindex;
	/* Another socket took the place meanwhile. */
	if (asked->socket != socket)
		return -1;
	asked->socket = 0;
	return waited < (__s64)MOST_WAIT_NS ? waited : MOST_WAIT_NS;
}

#endif
