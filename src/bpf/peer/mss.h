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
#include "packet/tcp_options.h"
#include "peer/counters.h"
#include "peer/syns.h"
#include "peer/tagging.h"

enum {
	MSS_SIGNED = 0xffffffff,
	LEAST_MSS_IPV4 = 536, /* what every host takes (RFC 9293) */
	LEAST_MSS_IPV6 = 1220,
};

/*
 * Returns the offset of the MSS value, 0 if there is none, or MSS_SIGNED if the SYN is signed. It is not static, so that the
 * verifier walks it once for any offset, instead of once for each way that leads here.
 */
__noinline __u32 find_mss(struct __sk_buff *ctx, __u32 at, __u32 end)
{
	struct {
		__u8 kind;
		__u8 len;
	} option;
	__u32 mss_at = 0;

	for (int i = 0; i < MOST_TCP_OPTIONS; i++) {
		if (at + sizeof(option) > end || bpf_skb_load_bytes(ctx, at, &option, sizeof(option)) ||
		    option.kind == TCP_OPTION_END)
			break;
		if (option.kind == TCP_OPTION_NOP) {
			at++;
			continue;
		}
		if (signs_segment(option.kind))
			return MSS_SIGNED;
		if (option.kind == TCP_OPTION_MSS && !mss_at) {
			if (option.len != 4 || at + 4 > end)
				break;
			mss_at = at + 2;
		}
		if (option.len < 2)
			break;
		at += option.len;
	}
	return mss_at;
}

/* Returns the greatest MSS that leaves room for INT here and on the path that the announced one was fit for. */
static __always_inline __u32 mss_with_room(struct __sk_buff *ctx, const struct ip_headers *ip, __u32 room,
					   __u32 longest, __u32 announced)
{
	__u32 headers = (ip->version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) + TCP_BASE_LEN;
	__u32 least = ip->version == 4 ? LEAST_MSS_IPV4 : LEAST_MSS_IPV6;
	__u32 mtu = device_mtu(ctx, 0);

	if (longest && longest < mtu)
		mtu = longest;
	/* The sender's own link may be wider than this host's. */
	if (mtu > headers && announced > mtu - headers)
		announced = mtu - headers;
	return announced > least + room ? announced - room : least;
}

static __always_inline void store_mss(struct __sk_buff *ctx, const struct ip_headers *ip, __u32 mss_at, __be16 mss,
				      __be16 clamped)
{
	bool odd = (mss_at - ip->l4) & 1;

	/* The checksum is in front of the MSS: if this store works, that of the checksum will. */
	if (bpf_skb_store_bytes(ctx, mss_at, &clamped, sizeof(clamped), 0)) {
		count_peer(COUNT_PEER_CANNOT_WRITE, ctx->len);
		return;
	}
	if (odd) {
		/* Its bytes are in two words of the sum, so they count as if swapped. */
		mss = __builtin_bswap16(mss);
		clamped = __builtin_bswap16(clamped);
	}
	bpf_l4_csum_replace(ctx, ip->l4 + __builtin_offsetof(struct tcphdr, check), mss, clamped, sizeof(mss));
	count_peer(COUNT_PEER_MSS_CLAMPED, ctx->len);
}

/*
 * Takes the room for INT off the MSS, even if the interface has room: a narrower link on the path may have lowered the
 * MSS, and the sender may never learn that packets with INT do not fit there. A SYN without an MSS stands for 536 bytes,
 * or 1220 in IPv6, from which nothing is taken either. Nor is anything from a SYN that is signed, which would be thrown away.
 */
static __always_inline void clamp_mss(struct __sk_buff *ctx, const struct ip_headers *ip)
{
	__u32 options_end, mss_at, room, longest, announced, clamped;
	struct syn_mss *syn;
	struct syn_key key;
	struct tcphdr tcp;
	__be16 mss;

	if (bpf_skb_load_bytes(ctx, ip->l4, &tcp, sizeof(tcp)) || !(tcp.flags & TCP_SYN))
		return;
	options_end = ip->l4 + (tcp.doff >> 4) * 4;
	room = options_end > ip->end ? 0 : reverse_room(ip, &longest);
	if (!room)
		return;
	mss_at = find_mss(ctx, ip->l4 + TCP_BASE_LEN, options_end);
	if (mss_at == MSS_SIGNED) {
		count_peer(COUNT_PEER_MSS_SIGNED, ctx->len);
		return;
	}
	if (!mss_at || bpf_skb_load_bytes(ctx, mss_at, &mss, sizeof(mss)))
		return;
	fill_syn_key(ip, &tcp, &key);
	syn = place_of(&key);
	if (!syn)
		return;
	announced = announced_mss(syn, &key, bpf_ntohs(mss));
	clamped = mss_with_room(ctx, ip, room, longest, announced);
	if (clamped >= bpf_ntohs(mss))
		return;
	remember_mss(syn, &key, announced, clamped);
	store_mss(ctx, ip, mss_at, mss, bpf_htons(clamped));
}

#endif
