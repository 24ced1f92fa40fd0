/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes vxlan-gpe around a packet on the straight way: the headers are built word by word, as source/gpe_push.h does it for
 * any packet, and stored at once.
 */
#ifndef HOSTINT_SOURCE_STRAIGHT_PUSH_H
#define HOSTINT_SOURCE_STRAIGHT_PUSH_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "kernel/clock.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "packet/vlan_aside.h"
#include "source/budget.h"
#include "source/crossed.h"
#include "source/flow_numbers.h"
#include "source/missed.h"
#include "source/outgoing.h"
#include "source/queue.h"
#include "source/tag_skb.h"
#include "source/tagged.h"

enum {
	GPE_UDP_WORDS = UDP_LEN / 4,
	GPE_FRONT_WORDS = 8, /* of the block: what stands in front of the source's hop latency, or of the queue */
};

/* The outer headers, the block, and a word for the hop latency. */
struct gpe_words {
	__be32 word[IP6_LEN / 4 + GPE_UDP_WORDS + GPE_BLOCK_LEN / 4 + 1];
};

static __always_inline __be32 two_halves(__u16 first, __u16 second)
{
	return bpf_htonl((__u32)first << 16 | second);
}

/* The outer IP header is the original one with another length and protocol. */
static __always_inline void begin_ipv4(const struct iphdr *ip, __u32 ip_len, __be32 *to)
{
	__be32 hops = bpf_htonl((__u32)ip->ttl << 24 | IPPROTO_UDP << 16);
	__u64 sum;

	to[0] = two_halves(0x4500 | ip->tos, ip_len);
	to[1] = ((const __be32 *)ip)[1];
	to[3] = ip->saddr;
	to[4] = ip->daddr;
	sum = (__u64)to[0] + to[1] + hops + to[3] + to[4];
	to[2] = bpf_htonl((__u32)ip->ttl << 24 | IPPROTO_UDP << 16 | bpf_ntohs(csum_neg(csum_fold(sum))));
}

static __always_inline void begin_ipv6(const struct ipv6hdr *ip, __u32 payload_len, __be32 *to)
{
	to[0] = ip->version_class_flow;
	to[1] = bpf_htonl(payload_len << 16 | IPPROTO_UDP << 8 | ip->hop_limit);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		to[2 + i] = ip->saddr[i];
		to[6 + i] = ip->daddr[i];
	}
}

/* Fills in what is known before there is room. hops says whether the source asks for their entries. */
static __always_inline void begin_gpe(const void *l3, const struct host_settings *host, const struct outgoing_packet *p,
				      struct gpe_words *w, const __u8 family, const bool hops)
{
	const __u32 ip_words = (family == 4 ? IP4_LEN : IP6_LEN) / 4, room = hops ? GPE_ROOM + 4 : GPE_ROOM;
	__u16 ports = bpf_ntohs(p->l4.udp.source) ^ (bpf_ntohs(p->l4.udp.dest) * 31) ^ p->at.protocol;
	__be32 *udp = w->word + ip_words, *block = udp + GPE_UDP_WORDS;

	if (family == 4)
		begin_ipv4(l3, p->at.ip_len + IP4_LEN + room, w->word);
	else
		begin_ipv6(l3, p->at.ip_len + room, w->word);
	udp[0] = two_halves(0xc000 | (ports & 0x3fff), GPE_PORT);
	udp[1] = two_halves(p->at.ip_len + room, 0);
	block[0] = bpf_htonl(GPE_VX_FLAGS << 24 | GPE_VX_INT);
	block[1] = 0;
	block[2] = bpf_htonl(GPE_TYPE << 24 | (hops ? GPE_WORDS + 1 : GPE_WORDS) << 16 |
			     (family == 4 ? GPE_NEXT_IPV4 : GPE_NEXT_IPV6));
	block[3] = bpf_htonl(GPE_VERSION << 24 | (hops ? GPE_PATH_WORDS : GPE_HOP_WORDS) << 8 | (hops ? budget(p) : 0));
	block[4] = two_halves(hops ? GPE_PATH_BITMAP : GPE_BITMAP, GPE_DOMAIN);
	block[6] = bpf_htonl(host->node_id);
	block[7] = two_halves(p->ifindex, p->ifindex);
	if (hops)
		block[GPE_FRONT_WORDS] = ~0U;
}

/* Fills in the rest. */
static __always_inline void end_gpe(const struct outgoing_packet *p, __u64 now, const struct flow_number *number,
				    __be32 base, struct gpe_words *w, const __u8 family, const bool hops)
{
	__be32 *block = w->word + (family == 4 ? IP4_LEN : IP6_LEN) / 4 + GPE_UDP_WORDS;
	__be32 *rest = block + GPE_FRONT_WORDS + hops;

	block[5] = two_halves(GPE_DS_BITMAP, number->age_code);
	rest[0] = bpf_htonl(p->queue_packets & 0xffffff);
	rest[1] = bpf_htonl(now >> 32);
	rest[2] = bpf_htonl((__u32)now);
	rest[3] = bpf_htonl(number->sequence);
	rest[4] = bpf_htonl(p->queue_bytes);
	rest[5] = base;
	rest[6] = two_halves(0, 1);
}

static __always_inline int tag_gpe(struct __sk_buff *ctx, const void *l3, const struct host_settings *host,
				   struct outgoing_packet *p, struct source_flow *f, const __u8 family, const bool hops)
{
	const __u32 ip_len = family == 4 ? IP4_LEN : IP6_LEN, len = ip_len + GPE_ROOM + (hops ? 4 : 0);
	const struct vlan_aside no_vlan = {};
	struct flow_number number;
	struct gpe_words words;
	__be32 base = 0;
	__u64 now;

	if (is_tcp(p))
		base = p->l4.tcp.seq;
	else if (family == 4)
		base = bpf_htonl(bpf_ntohs(((const struct iphdr *)l3)->id));
	begin_gpe(l3, host, p, &words, family, hops);
	read_queue(ctx, p);
	if (bpf_skb_adjust_room(ctx, len, BPF_ADJ_ROOM_MAC, room_flags(p))) {
		count_missed(COUNT_SOURCE_CANNOT_RESIZE, 1, p->frame_len);
		return TCX_NEXT;
	}
	/* A number is taken only once there is room, because the sink would miss a number that is not sent. */
	now = now_ns(host);
	next_numbers(f, 1, now, false, &number);
	end_gpe(p, now, &number, base, &words, family, hops);
	if (put_bytes(ctx, ETH_HLEN, &words, len))
		return undo(ctx, p, &no_vlan);
	count_tagged(p, f, p->at.ip_len, false);
	note_crossed(host, p, 1, now);
	return TCX_NEXT;
}

static __always_inline int tag_straight_gpe(struct __sk_buff *ctx, void *data, void *end,
					    const struct host_settings *host, struct outgoing_packet *p,
					    struct source_flow *f, const __u8 family)
{
	void *l3 = data + ETH_HLEN;

	/* It was checked before, which the verifier may have forgotten. */
	if (l3 + (family == 4 ? IP4_LEN : IP6_LEN) > end)
		return TCX_NEXT;
	return budget(p) ? tag_gpe(ctx, l3, host, p, f, family, true) : tag_gpe(ctx, l3, host, p, f, family, false);
}

#endif
