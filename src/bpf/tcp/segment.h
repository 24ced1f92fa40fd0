/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What programs that put options into segments find out about a socket and its segment. */
#ifndef HOSTINT_TCP_SEGMENT_H
#define HOSTINT_TCP_SEGMENT_H

#include "kernel/iterators.h"
#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "kernel/sock_ops.h"
#include "tcp/socket.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

struct tcp_header {
	__be16 source, dest;
	__be32 seq, ack;
	__u8 words, flags; /* the header's length in words << 4 */
};

static __always_inline struct address_pair pair_of_socket(const struct bpf_sock_ops *ctx)
{
	struct address_pair pair = {};

	if (ctx->family == SOCKET_INET6) {
		for (int i = 0; i < 4; i++) {
			pair.saddr[i] = ctx->local_ip6[i];
			pair.daddr[i] = ctx->remote_ip6[i];
		}
	} else {
		pair.saddr[2] = pair.daddr[2] = bpf_htonl(0xffff);
		pair.saddr[3] = ctx->local_ip4;
		pair.daddr[3] = ctx->remote_ip4;
	}
	return pair;
}

static __always_inline const struct tcp_header *header_of(const struct bpf_sock_ops *ctx)
{
	const struct tcp_header *tcp = (void *)(long)ctx->skb_data;

	return (void *)(tcp + 1) <= (void *)(long)ctx->skb_data_end ? tcp : NULL;
}

static __always_inline bool has_data(const struct bpf_sock_ops *ctx, const struct tcp_header *tcp)
{
	return ctx->skb_len > (tcp->words >> 4) * 4u;
}

/* The kernel signs a segment (TCP-AO, MD5) before the option is written into it, so the signature would be wrong. */
static __always_inline bool is_signed(const struct tcp_sock *tp)
{
	if (bpf_core_field_exists(tp->md5sig_info) && tp->md5sig_info)
		return true;
	return bpf_core_field_exists(tp->ao_info) && tp->ao_info;
}

/* Lets programs take part in the work of a connection that was there before, besides what others have asked for. */
static __always_inline void call_for_open(struct tcp_sock *tp, int calls)
{
	calls |= tp->bpf_sock_ops_cb_flags;
	bpf_setsockopt(tp, SOCKET_LEVEL_TCP, SOCK_OPS_FLAGS, &calls, sizeof(calls));
}

#endif
