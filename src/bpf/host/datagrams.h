/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers when datagrams of measured flows came from the sink, until the application reads them. The kernel does not tell
 * which one is read, but a socket hands them out in the order in which they came: each is known by its place in that order. A
 * socket is followed from its first such datagram on. Where what waits in it is not what should, places are counted anew.
 */
#ifndef HOSTINT_HOST_DATAGRAMS_H
#define HOSTINT_HOST_DATAGRAMS_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "kernel/sock_ops.h"
#include "kernel/socket.h"

enum receive_flags {
	RECEIVE_PEEK = 0x2,      /* MSG_PEEK */
	RECEIVE_ERRORS = 0x2000, /* MSG_ERRQUEUE */
};

/* The datagram of this CPU that came from the sink last, and is on its way to a socket. */
struct arrived_datagram {
	__u64 skb; /* its address; 0: none */
	__u64 identity;
	__u64 ns;
	__u32 source_node;
	__u32 ifindex;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct arrived_datagram);
} host_arrived SEC(".maps");

/* A datagram that waits in a socket. */
struct unread_datagram {
	__u64 ns; /* 0: of no measured flow, or not known */
	__u32 source_node;
	__u32 ifindex;
};

struct unread_datagrams {
	__u32 came; /* number of the next datagram that comes, and of the next one that is read */
	__u32 read;
	struct unread_datagram datagrams[HOST_DATAGRAMS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct unread_datagrams);
} host_datagrams SEC(".maps");

static __always_inline struct unread_datagram *datagram_at(struct unread_datagrams *u, __u32 number)
{
	return &u->datagrams[number & (HOST_DATAGRAMS - 1)];
}

/* The datagrams that wait in a UDP socket. */
static __always_inline __u32 waiting_in(struct sock *sk)
{
	struct udp_sock *udp = (void *)sk;

	return sk->sk_receive_queue.qlen + BPF_CORE_READ(udp, reader_queue.qlen);
}

/* Takes note of a datagram that a socket has now: of this one, or, without it, of another one. */
static __always_inline void note_queued(struct sock *sk, const struct arrived_datagram *arrived)
{
	struct unread_datagrams *u = bpf_sk_storage_get(&host_datagrams, sk, NULL, 0);
	struct unread_datagram *to;

	if (!u) {
		if (!arrived)
			return;
		u = bpf_sk_storage_get(&host_datagrams, sk, NULL, SK_STORAGE_CREATE);
		if (!u)
			return;
		/* Others may wait there already. */
		u->came = waiting_in(sk) - 1;
	}
	to = datagram_at(u, __sync_fetch_and_add(&u->came, 1));
	to->ns = arrived ? arrived->ns : 0;
	to->source_node = arrived ? arrived->source_node : 0;
	to->ifindex = arrived ? arrived->ifindex : 0;
}

/* Returns the datagram that was just read, or NULL if that is not known for sure. */
static __always_inline const struct unread_datagram *take_read(struct sock *sk)
{
	struct unread_datagrams *u = bpf_sk_storage_get(&host_datagrams, sk, NULL, 0);
	__u32 waiting, number;

	if (!u)
		return NULL;
	number = __sync_fetch_and_add(&u->read, 1);
	waiting = waiting_in(sk);
	if (u->came - number - 1 != waiting) {
		u->read = u->came - waiting;
		return NULL;
	}
	/* Newer ones may have taken its place. */
	return waiting < HOST_DATAGRAMS - 1 ? datagram_at(u, number) : NULL;
}

#endif
