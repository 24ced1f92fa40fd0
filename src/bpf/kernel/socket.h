/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares the parts of the kernel's sockets and cgroups that programs read. */
#ifndef HOSTINT_KERNEL_SOCKET_H
#define HOSTINT_KERNEL_SOCKET_H

#include "kernel/kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
	int level;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct proto {
	char name[32];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	unsigned short skc_family;
	unsigned char skc_state;
	struct proto *skc_prot;
	struct possible_net skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct dst_entry {
	struct net_device *dev;
};

struct refcount_struct {
	struct {
		int counter;
	} refs;
};

struct socket {
	unsigned long flags;
};

struct sk_buff_head {
	struct sk_buff *prev; /* the newest one; the list itself if it is empty */
	__u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	struct sk_buff_head sk_receive_queue;
	struct dst_entry *sk_dst_cache;
	struct socket *sk_socket;
	struct refcount_struct sk_wmem_alloc;
	int sk_sndbuf;
	__u32 sk_max_ack_backlog;
	__u32 sk_txhash;
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	struct sock_cgroup_data sk_cgrp_data;
};

struct udp_sock {
	struct sk_buff_head reader_queue; /* what readers took over from the receive queue */
};

#pragma clang attribute pop

#endif
