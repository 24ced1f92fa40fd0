/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognises most packets that are not watched by their destination alone. */
#ifndef HOSTINT_SOURCE_UNWATCHED_H
#define HOSTINT_SOURCE_UNWATCHED_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "packet/headers.h"
#include "source/counters.h"
#include "watch/list.h"

/*
 * Most packets are not watched. Those without VLAN tags and extension headers are recognised and counted here, before
 * anything else is read.
 */
static __always_inline bool is_unwatched(struct __sk_buff *ctx, struct watching *w)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;

	if ((void *)(eth + 1) > end)
		return false;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		if ((void *)(ip + 1) > end || !is_l4(ip->protocol))
			return false;
		watch(&ip->daddr, 4, w);
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		if ((void *)(ip + 1) > end || !is_l4(ip->nexthdr))
			return false;
		watch(ip->daddr, 6, w);
	} else {
		return false;
	}
	if (w->watched == UNWATCHED)
		count_source(COUNT_SOURCE_UNWATCHED, 1, ctx->len);
	return w->watched == UNWATCHED;
}

#endif
