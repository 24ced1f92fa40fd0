/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lowers the MSS that a watched host announces, so that segments to it have room for INT. */
#ifndef HOSTINT_PEER_MSS_H
#define HOSTINT_PEER_MSS_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "kernel/device_mtu.h"
#include "packet/headers.h"
#include "packet/ip_headers.h"
#include "peer/attachment.h"
#include "peer/counters.h"
#include "watch/places.h"

enum {
	TCP_OPTION_END = 0,
	TCP_OPTION_NOP = 1,
	TCP_OPTION_MSS = 2,
	MAX_TCP_OPTIONS = 40, /* options of one byte each */
	LEAST_MSS = 48,       /* Linux sends no smaller segments */
};

/*
 * Returns the offset of the MSS value, or 0 if there is none. It is not static, so that the verifier walks it once for
 * any offset, instead of once for each way that leads here.
 */
__noinline __u32 find_mss(struct __sk_buff *ctx, __u32 at, __u32 end)
{
	struct {
		__u8 kind;
		__u8 len;
	} option;

	for (int i = 0; i < MAX_TCP_OPTIONS; i++) {
		if (bpf_skb_load_bytes(ctx, at, &option, sizeof(option)) || option.kind == TCP_OPTION_END)
			return 0;
		if (option.kind == TCP_OPTION_NOP) {
			at++;
			continue;
		}
		if (option.kind == TCP_OPTION_MSS)
			return option.len == 4 && at + 4 <= end ? at + 2 : 0;
		if (option.len < 2)
			return 0;
		at += option.len;
	}
	return 0;
}

static __always_inline void clamp_mss(struct __sk_buff *ctx, const struct ip_headers *ip)
{
	__u32 headers = (ip->version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) + TCP_BASE_LEN;
	__u32 options_end, mss_at, mtu;
	__u32 room = ip->version == 4 ? room_ipv4 : room_ipv6;
	__be16 mss, clamped;
	struct tcphdr tcp;

	if (bpf_skb_load_bytes(ctx, ip->l4, &tcp, sizeof(tcp)) || !(tcp.flags & TCP_SYN))
		return;
	options_end = ip->l4 + (tcp.doff >> 4) * 4;
	if (options_end > ip->end || !may_watch(ip->saddr, ip->version))
		return;
	mss_at = find_mss(ctx, ip->l4 + TCP_BASE_LEN, options_end);
	if (!mss_at || bpf_skb_load_bytes(ctx, mss_at, &mss, sizeof(mss)))
		return;
	mtu = device_mtu(ctx, 0);
	if (mtu < headers + room + LEAST_MSS || bpf_ntohs(mss) <= mtu - headers - room)
		return;
	clamped = bpf_htons(mtu - headers - room);
	/* The checksum is in front of the MSS: if this store works, that of the checksum will. */
	if (bpf_skb_store_bytes(ctx, mss_at, &clamped, sizeof(clamped), 0)) {
		count_peer(COUNT_PEER_CANNOT_WRITE, ctx->len);
		return;
	}
	if ((mss_at - ip->l4) & 1) {
		/* Its bytes are in two words of the sum, so they count as if swapped. */
		mss = __builtin_bswap16(mss);
		clamped = __builtin_bswap16(clamped);
	}
	bpf_l4_csum_replace(ctx, ip->l4 + __builtin_offsetof(struct tcphdr, check), mss, clamped, sizeof(mss));
	count_peer(COUNT_PEER_MSS_CLAMPED, ctx->len);
}

#endif
