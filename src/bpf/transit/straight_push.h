/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pushes the entry on the straight way: the headers are built word by word, as transit/push.h does it for any packet, and
 * stored with the entry at once.
 */
#ifndef HOSTINT_TRANSIT_STRAIGHT_PUSH_H
#define HOSTINT_TRANSIT_STRAIGHT_PUSH_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/vlan_aside.h"
#include "transit/counters.h"
#include "transit/exceeded.h"
#include "transit/passing.h"
#include "transit/push.h"

/* The headers in front of the newest entry, and the new one. */
struct grown_front {
	__be32 word[(IP6_LEN + UDP_LEN + GPE_HEAD_LEN) / 4 + ENTRY_WORDS];
};

static __always_inline __be32 with_low_half(__be32 word, __u16 half)
{
	return (word & bpf_htonl(0xffff0000)) | bpf_htonl(half);
}

static __always_inline __u16 low_half(__be32 word)
{
	return bpf_ntohl(word);
}

/* The length in the IP header, and the checksum of that of IPv4. */
static __always_inline void grow_ip_words(__be32 *ip, __u32 ip_len, const __u8 family)
{
	__u64 sum;

	if (family == 6) {
		ip[1] = (ip[1] & bpf_htonl(0xffff)) | bpf_htonl((ip_len - IP6_LEN) << 16);
		return;
	}
	sum = (__u64)csum_neg(low_half(ip[2])) + csum_neg(low_half(ip[0])) + ip_len;
	ip[0] = with_low_half(ip[0], ip_len);
	ip[2] = with_low_half(ip[2], csum_neg(csum_fold(sum)));
}

/* The lengths in the block; returns what that adds to the sum. */
static __always_inline __u64 grow_block_words(__be32 *block, const bool is_gpe)
{
	const __be32 words = is_gpe ? bpf_htonl(GPE_PATH_WORDS << 16) : bpf_htonl(INT_INS_COUNT << 8);

	/* No byte of a valid block is so large that it carries to the next one. */
	if (is_gpe) {
		block[2] += words;
		block[3] -= bpf_htonl(1); /* remaining_hops */
		return (__u64)words + csum_neg(bpf_htons(1));
	}
	block[0] += words;
	block[1] += bpf_htonl(1); /* total_hops */
	return (__u64)words + bpf_htonl(1);
}

/* The checksum behind L4's ports, and the length of UDP, which counts twice: in the header and in the pseudo header. */
static __always_inline void grow_l4_words(const struct passing_packet *p, __be32 *l4, __u64 added, const __u32 l4_len)
{
	__u16 len = bpf_htons(p->entry_len), check;

	if (l4_len == TCP_BASE_LEN) {
		check = check_with(p, bpf_htons(bpf_ntohl(l4[4]) >> 16), added + len);
		l4[4] = (l4[4] & bpf_htonl(0xffff)) | bpf_htonl((__u32)bpf_ntohs(check) << 16);
		return;
	}
	check = check_with(p, bpf_htons(low_half(l4[1])), added + len + len);
	l4[1] = bpf_htonl(((bpf_ntohl(l4[1]) >> 16) + p->entry_len) << 16 | bpf_ntohs(check));
}

/* Of the lengths all but p's are constants. */
static __always_inline int push_usual(struct __sk_buff *ctx, struct passing_packet *p, const __u8 family,
				      const __u32 l4_len, const __u32 head_len)
{
	const __u32 ip_len = family == 4 ? IP4_LEN : IP6_LEN, len = ip_len + l4_len + head_len;
	const bool is_gpe = head_len == GPE_HEAD_LEN;
	const __u32 entry_len = is_gpe ? GPE_PATH_WORDS * 4 : INT_HOP_LEN;
	const __be32 *l3 = (void *)(long)ctx->data + ETH_HLEN;
	const struct vlan_aside no_vlan = {};
	struct grown_front front;
	__u64 added;

	/* It was checked before, which the verifier may have forgotten. */
	if ((void *)l3 + len > (void *)(long)ctx->data_end)
		return TCX_NEXT;
#pragma unroll
	for (__u32 i = 0; i < len / 4; i++)
		front.word[i] = l3[i];
	added = grow_block_words(front.word + (ip_len + l4_len) / 4, is_gpe);
#pragma unroll
	for (__u32 i = 0; i < entry_len / 4; i++) {
		front.word[len / 4 + i] = p->entry[i];
		added += p->entry[i];
	}
	grow_ip_words(front.word, p->at.ip_len + entry_len, family);
	grow_l4_words(p, front.word + ip_len / 4, added, l4_len);
	if (bpf_skb_adjust_room(ctx, entry_len, BPF_ADJ_ROOM_MAC, 0)) {
		count_transit(COUNT_TRANSIT_CANNOT_RESIZE, 1, p->frame_len);
		return TCX_NEXT;
	}
	if (!store_front(ctx, &front, len + entry_len))
		return undo_push(ctx, p, 0, &no_vlan);
	count_pushed(p, 1);
	return TCX_NEXT;
}

#endif
