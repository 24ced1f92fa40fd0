/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares the context of programs that take part in a socket's work, which UAPI fixes. */
#ifndef HOSTINT_KERNEL_SOCK_OPS_H
#define HOSTINT_KERNEL_SOCK_OPS_H

#include "kernel/kernel.h"

enum sock_op {
	SOCK_OP_CONNECTED = 4, /* this host began the connection */
	SOCK_OP_ACCEPTED = 5,
	SOCK_OP_TIMEOUT = 8, /* of a retransmission */
	SOCK_OP_PARSE = 13,  /* a segment came with an option that the kernel does not know */
	SOCK_OP_ROOM = 14,   /* how much room do options of programs need? */
	SOCK_OP_WRITE = 15,  /* the room can be filled */
};

enum sock_op_flag {
	SOCK_OPS_TIMEOUT = 1,
	SOCK_OPS_PARSE_UNKNOWN = 32,
	SOCK_OPS_WRITE = 64,
};

enum {
	ROOM_OF_NO_SEGMENT = 1, /* argument of SOCK_OP_ROOM: the kernel works out how much data fits into a segment */
	SK_STORAGE_CREATE = 1,
	SOCKET_LEVEL_TCP = 6,
	SOCK_OPS_FLAGS = 1008, /* a socket option for programs */
};

struct bpf_sock_ops {
	__u32 op;
	__u32 args[4];
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 is_fullsock;
	__u32 snd_cwnd;
	__u32 srtt_us; /* in eighths */
	__u32 bpf_sock_ops_cb_flags;
	__u32 state;
	__u32 rtt_min;
	__u32 snd_ssthresh;
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 unused[18];
	__u64 sk __attribute__((aligned(8)));
	__u64 skb_data;
	__u64 skb_data_end;
	__u32 skb_len;
	__u32 skb_tcp_flags;
};

_Static_assert(__builtin_offsetof(struct bpf_sock_ops, sk) == 184, "as in UAPI");
_Static_assert(__builtin_offsetof(struct bpf_sock_ops, skb_len) == 208, "as in UAPI");

#endif
