/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the network namespace, the interfaces and the socket of a dropped packet. */
#ifndef HOSTINT_DROP_ORIGIN_H
#define HOSTINT_DROP_ORIGIN_H

#include "kernel/kernel.h"
#include "kernel/socket.h"
#include "kernel/tasks.h"

enum sock_state {
	SOCK_TIME_WAIT = 6,    /* such records of TCP connections */
	SOCK_NEW_SYN_RECV = 12 /* are shorter than a socket */
};

enum packet_type {
	PACKET_BROADCAST = 1,
	PACKET_MULTICAST = 2,
	PACKET_LOOPBACK = 5,
};

enum {
	DST_NOREF = 1,             /* the bit of _skb_refdst that is no part of the address */
	TASK_OF_KERNEL = 0x200000, /* PF_KTHREAD */
};

struct drop_origin {
	struct net_device *dev; /* NULL: none, or not known any more */
	struct sock *sk;
	__u32 ifindex;
	__u32 netns;
};

static __always_inline __u32 inode_of(struct net *net)
{
	return BPF_CORE_READ(net, ns.inum);
}

/*
 * The network namespace of the process that runs, or 0 if that is a task of the kernel. Of a datagram that waited in a UDP
 * socket nothing else is left: its reader sums it, and drops it if the sum is wrong.
 */
static __always_inline __u32 reader_netns(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (!(bpf_get_current_pid_tgid() >> 32) || BPF_CORE_READ(task, flags) & TASK_OF_KERNEL)
		return 0;
	return inode_of(BPF_CORE_READ(task, nsproxy, net_ns));
}

/*
 * UDP keeps other things in skb->dev, and the reassembly of fragments in skb->sk. So nothing behind these pointers is
 * read but by probe reads, which give zeros for any address that is none. The route then tells the namespace, or else the
 * reader of the packet.
 */
static __always_inline void find_origin(struct sk_buff *skb, struct sock *rx_sk, struct drop_origin *from)
{
	struct net_device *dev = skb->dev;
	struct sock *sk = rx_sk ? rx_sk : skb->sk;
	struct dst_entry *dst;

	from->dev = dev;
	from->sk = sk;
	from->ifindex = BPF_CORE_READ(dev, ifindex);
	if (from->ifindex) {
		from->netns = inode_of(BPF_CORE_READ(dev, nd_net.net));
		return;
	}
	from->dev = NULL;
	from->ifindex = skb->skb_iif;
	from->netns = sk ? inode_of(BPF_CORE_READ(sk, __sk_common.skc_net.net)) : 0;
	if (from->netns)
		return;
	dst = (struct dst_entry *)(skb->_skb_refdst & ~(unsigned long)DST_NOREF);
	from->netns = inode_of(BPF_CORE_READ(dst, dev, nd_net.net));
	if (!from->netns)
		from->netns = reader_netns();
}

/*
 * True for the packet of a test run of a program (BPF_PROG_RUN), which the kernel frees as if it dropped it. Its socket is of
 * the protocol "bpf_dummy", of none in older kernels, and nothing is charged to it. What is no socket has no namespace.
 */
static __always_inline bool is_test_run(struct sk_buff *skb)
{
	struct sock *sk = skb->sk;
	struct proto *protocol;
	__u64 begin = 0;

	if (!sk || skb->destructor)
		return false;
	protocol = BPF_CORE_READ(sk, __sk_common.skc_prot);
	if (!protocol)
		return inode_of(BPF_CORE_READ(sk, __sk_common.skc_net.net));
	bpf_core_read(&begin, sizeof(begin), &protocol->name);
	return !__builtin_memcmp(&begin, "bpf_dummy", sizeof(begin));
}

/* True for a packet in a frame to all or to a group, and for its sender's own copy of such a packet. */
static __always_inline bool is_to_many(struct sk_buff *skb)
{
	__u8 type = BPF_CORE_READ_BITFIELD(skb, pkt_type);

	return type == PACKET_BROADCAST || type == PACKET_MULTICAST || type == PACKET_LOOPBACK;
}

/* Returns the id of the socket's cgroup, or 0. */
static __always_inline __u64 cgroup_of(struct sock *sk)
{
	__u8 state;

	if (!sk)
		return 0;
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (!state || state == SOCK_TIME_WAIT || state == SOCK_NEW_SYN_RECV)
		return 0;
	if (!bpf_core_field_exists(sk->sk_cgrp_data) || !bpf_core_field_exists(struct sock_cgroup_data, cgroup))
		return 0;
	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
}

#endif
