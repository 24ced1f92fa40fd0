/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares the parts of the kernel's TCP sockets that are read, and finds a socket's flow, namespace and cgroup. */
#ifndef HOSTINT_TCP_SOCKET_H
#define HOSTINT_TCP_SOCKET_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/socket.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Since 6.1. */
struct cgroup___ancestors {
	struct cgroup *ancestors[16];
};

/* Before. */
struct cgroup___ancestor_ids {
	__u64 ancestor_ids[16];
};

struct ipv6_pinfo {
	__u8 tclass;
};

struct inet_sock {
	struct sock sk;
	struct ipv6_pinfo *pinet6;
	__be16 inet_sport;
	__u8 tos;
};

struct tcp_congestion_ops {
	char name[16];
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u32 icsk_rto;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
};

struct minmax_sample {
	__u32 t;
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_options_received {
	__u16 tstamp_ok : 1, wscale_ok : 1, sack_ok : 3;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_wnd;
	__u32 mss_cache;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 retrans_out;
	__u32 packets_out;
	__u32 total_retrans;
	__u32 copied_seq;
	__u32 rcv_nxt;
	__u32 write_seq;
	__u32 snd_nxt;
	__u32 srtt_us;
	__u32 mdev_us;
	struct minmax rtt_min;
	__u64 bytes_sent;
	__u64 bytes_acked;
	__u64 bytes_received;
	__u64 bytes_retrans;
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 dsack_dups;
	__u32 reord_seen;
	__u16 total_rto;
	__u32 app_limited;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u32 chrono_start;
	__u32 chrono_stat[3];
	__u8 chrono_type : 2;
	__u8 is_cwnd_limited : 1;
	__u8 rate_app_limited : 1;
	__u8 ecn_flags;
	struct tcp_options_received rx_opt;
	__u8 bpf_sock_ops_cb_flags;
	void *md5sig_info; /* keys of MD5 */
	void *ao_info;     /* keys of TCP-AO; since 6.7 */
};

#pragma clang attribute pop

enum {
	SOCKET_INET6 = 10,
	SOCKET_TCP = 6,
	CGROUP_LEVELS = 16,
};

enum tcp_state {
	TCP_STATE_ESTABLISHED = 1,
	TCP_STATE_SYN_SENT = 2,
	TCP_STATE_SYN_RECV = 3,
	TCP_STATE_CLOSE = 7,
	TCP_STATE_CLOSE_WAIT = 8,
	TCP_STATE_LAST_ACK = 9,
	TCP_STATE_LISTEN = 10,
	TCP_STATE_CLOSING = 11,
};

static __always_inline __u32 netns_of(const struct sock *sk)
{
	return sk->__sk_common.skc_net.net->ns.inum;
}

/* The key was all zeros before. Sockets for IPv6 have IPv4 addresses in the form of the key. */
static __always_inline void read_socket_flow(const struct inet_sock *inet, struct flow_key *key)
{
	const struct sock_common *skc = &inet->sk.__sk_common;

	if (skc->skc_family == SOCKET_INET6) {
		for (int i = 0; i < 4; i++) {
			key->saddr[i] = skc->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			key->daddr[i] = skc->skc_v6_daddr.in6_u.u6_addr32[i];
		}
	} else {
		key->saddr[2] = key->daddr[2] = bpf_htonl(0xffff);
		key->saddr[3] = skc->skc_rcv_saddr;
		key->daddr[3] = skc->skc_daddr;
	}
	/* The port of skc_num is given back before a socket is closed. */
	key->sport = inet->inet_sport;
	key->dport = skc->skc_dport;
	key->layers = SOCKET_TCP;
}

static __always_inline bool is_mapped(const __be32 *addr)
{
	return !addr[0] && !addr[1] && addr[2] == bpf_htonl(0xffff);
}

static __always_inline struct cgroup *socket_cgroup(const struct sock *sk)
{
	if (!bpf_core_field_exists(struct sock, sk_cgrp_data) ||
	    !bpf_core_field_exists(struct sock_cgroup_data, cgroup))
		return NULL;
	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup);
}

/* True if the cgroup is this one or below it. */
static __always_inline bool is_in_cgroup(struct cgroup *cgroup, __u64 id)
{
	struct cgroup___ancestor_ids *by_ids = (void *)cgroup;
	struct cgroup___ancestors *by_pointers = (void *)cgroup;
	int level = cgroup ? BPF_CORE_READ(cgroup, level) : -1;

	for (int i = 0; i < CGROUP_LEVELS && i <= level; i++) {
		__u64 above = 0;

		if (bpf_core_field_exists(by_pointers->ancestors)) {
			struct cgroup *ancestor = NULL;

			bpf_core_read(&ancestor, sizeof(ancestor), &by_pointers->ancestors[i]);
			above = BPF_CORE_READ(ancestor, kn, id);
		} else if (bpf_core_field_exists(by_ids->ancestor_ids)) {
			bpf_core_read(&above, sizeof(above), &by_ids->ancestor_ids[i]);
		}
		if (above == id)
			return true;
	}
	return false;
}

#endif
