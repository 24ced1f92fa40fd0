/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares the few kernel types and constants that the programs use. */
#ifndef HOSTINT_KERNEL_KERNEL_H
#define HOSTINT_KERNEL_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef signed short __s16;
typedef unsigned int __u32;
typedef signed int __s32;
typedef unsigned long long __u64;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u16 __sum16;
typedef __u32 __wsum;
typedef _Bool bool;

#define true 1
#define false 0

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_RECOMPUTE_CSUM = 1,
	BPF_ADJ_ROOM_NET = 0,
};

/* How a record is submitted to a ring: its reader is woken if it has read all that came before. It rests behind each
 * reading, so that records that come often wake it a hundred times a second at most.
 */
#define WAKE_IDLE_READER 0

enum adj_room {
	BPF_ADJ_ROOM_MAC = 1,
	BPF_F_ADJ_ROOM_FIXED_GSO = 1,
	BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 = 2,
	BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 = 4,
	BPF_F_ADJ_ROOM_ENCAP_L4_UDP = 16,
};

enum tc_verdict {
	TCX_NEXT = -1, /* tcx: run the next program; clsact in direct-action mode: continue as unclassified */
	TCX_DROP = 2,
};

enum xdp_action {
	XDP_ABORTED,
	XDP_DROP,
	XDP_PASS,
	XDP_TX,
	XDP_REDIRECT,
};

enum {
	CHECKSUM_PARTIAL = 3,
};

enum {
	PACKET_HOST = 0, /* the frame is for this host's own address */
};

struct bpf_spin_lock {
	__u32 val;
};

/* The contexts of programs are fixed by UAPI and never relocated. */
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol;
	__u32 vlan_present;
	__u32 vlan_tci;
	__u32 vlan_proto;
	__u32 priority;
	__u32 ingress_ifindex;
	__u32 ifindex;
	__u32 tc_index;
	__u32 cb[5];
	__u32 hash;
	__u32 tc_classid;
	__u32 data;
	__u32 data_end;
	__u32 napi_id;
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 data_meta;
	__u64 flow_keys __attribute__((aligned(8)));
	__u64 tstamp;
	__u32 wire_len;
	__u32 gso_segs;
	__u64 sk __attribute__((aligned(8)));
	__u32 gso_size;
	__u8 tstamp_type; /* 5.18 */
};

struct xdp_md {
	__u32 data;
	__u32 data_end;
	__u32 data_meta;
	__u32 ingress_ifindex;
	__u32 rx_queue_index;
	__u32 egress_ifindex;
};

/* A view of a TCP socket; fixed by UAPI, too. */
struct bpf_tcp_sock {
	__u32 before[20];
	__u64 bytes[2];
	__u32 delivered[3];
	__u32 icsk_retransmits; /* timeouts since the last progress */
};

/* The kernel's own structures are relocated when a program is loaded (CO-RE). */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qdisc_skb_head {
	__u32 qlen;
};

struct gnet_stats_queue {
	__u32 backlog;
	__u32 drops;
	__u32 requeues;
};

struct net_device;

struct Qdisc;

struct netdev_queue {
	struct net_device *dev;
	struct Qdisc *qdisc;
};

struct Qdisc {
	unsigned int flags;
	__u32 handle;
	struct netdev_queue *dev_queue;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct possible_net {
	struct net *net;
};

struct net_device {
	unsigned int mtu;
	unsigned short hard_header_len;
	unsigned short needed_headroom;
	int ifindex;
	struct Qdisc *qdisc;
	struct netdev_queue *_tx;
	unsigned int real_num_tx_queues;
	struct possible_net nd_net;
};

struct sock;

struct sk_buff {
	struct sk_buff *next;
	struct net_device *dev;
	struct sock *sk;
	unsigned long _skb_refdst;
	void *destructor;
	unsigned long _nfct;
	unsigned char *head;
	unsigned char *data;
	unsigned int len;
	unsigned int tail; /* tail and end are offsets from head, as on all 64-bit machines */
	unsigned int end;
	int skb_iif;
	__u32 hash;
	__u8 pkt_type : 3;
	__u8 ip_summed : 2;
	__be16 protocol;
	__u16 csum_start;
	__u16 csum_offset;
	__u16 network_header;
	__u16 transport_header;
	__s64 tstamp;
};

#pragma clang attribute pop

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#endif
