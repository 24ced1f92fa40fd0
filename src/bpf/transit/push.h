/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pushes the entry: the kernel makes room behind the Ethernet header, then all headers and the entry are stored at once. */
#ifndef HOSTINT_TRANSIT_PUSH_H
#define HOSTINT_TRANSIT_PUSH_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "packet/vlan_aside.h"
#include "transit/attachment.h"
#include "transit/counters.h"
#include "transit/exceeded.h"
#include "transit/passing.h"

/* Returns the length of the headers in front of the newest entry, which the verifier then knows to be in bounds. */
static __always_inline __u32 front_len(const struct passing_packet *p)
{
	__u32 len = p->at.l4 - p->at.l3 + p->l4_len + p->head_len;

	if (len > MAX_FRONT)
		len = 0;
	barrier_var(len);
	/* The comparison may be of a copy, of which older verifiers learn nothing. */
	return len & FRONT_MASK;
}

/* Changes a byte of the block and adds what changes to the sum; `at` must be a constant. */
static __always_inline void change_byte(__u8 *block, __u32 at, __u8 value, __u64 *added)
{
	__u16 *word = (__u16 *)(block + (at & ~1U));

	*added += csum_neg(*word);
	block[at] = value;
	*added += *word;
}

/* The option is longer, and so are all options. */
static __always_inline void grow_geneve(__u8 *l4, __u8 *block, __u8 words, __u64 *added)
{
	struct geneve_option *option = (void *)block;

	change_byte(l4, UDP_LEN, l4[UDP_LEN] + words, added);
	change_byte(block, __builtin_offsetof(struct geneve_option, words), option->words + words, added);
}

/* Adds the entry to the headers that were loaded: to the block's and all other lengths, and to the L4 checksum. */
static __always_inline void grow_headers(struct passing_packet *p)
{
	void *l4 = p->front + ((p->at.l4 - p->at.l3) & 0x7f), *block = l4 + (p->l4_len & 0xff);
	__u64 added = csum_words(p->entry, ENTRY_WORDS * 4) + bpf_htons(p->entry_len);
	__u32 ip_len = p->at.ip_len + p->entry_len;
	__u8 words = p->entry_len / 4;

	if (p->is_md) {
		struct int_md_head *h = block;

		/* The words behind are all ones, which add nothing. */
		added += csum_words(p->entry + ENTRY_WORDS, (MD_FILLED_WORDS - ENTRY_WORDS) * 4);
		if (p->is_geneve)
			grow_geneve(l4, block, words, &added);
		else
			change_byte(block, __builtin_offsetof(struct int_md_head, length), h->length + words, &added);
		change_byte(block, __builtin_offsetof(struct int_md_head, remaining_hops), h->remaining_hops - 1,
			    &added);
	} else if (p->is_gpe) {
		struct gpe_block *b = block;

		change_byte(block, __builtin_offsetof(struct gpe_block, length), b->length + words, &added);
		change_byte(block, __builtin_offsetof(struct gpe_block, remaining_hops), b->remaining_hops - 1, &added);
	} else {
		struct int_block *b = block;

		change_byte(block, __builtin_offsetof(struct int_block, length), b->length + words, &added);
		change_byte(block, __builtin_offsetof(struct int_block, total_hops), b->total_hops + 1, &added);
	}
	if (p->at.family == 4)
		ip_change((struct iphdr *)p->front, p->at.tos, ip_len, p->at.protocol);
	else
		ipv6_change((struct ipv6hdr *)p->front, p->at.tos, ip_len - IP6_LEN);
	if (p->at.protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = l4;

		tcp->check = check_with(p, tcp->check, added);
	} else {
		struct udphdr *udp = l4;

		/* The length is in the header and in the pseudo header, so it counts twice. */
		udp->check = check_with(p, udp->check, added + bpf_htons(p->entry_len));
		udp->len = bpf_htons(bpf_ntohs(udp->len) + p->entry_len);
	}
}

static __always_inline bool refuses(enum push_step step)
{
	return refused_steps & step;
}

static __always_inline bool put_tag_back(struct __sk_buff *ctx, const struct vlan_aside *vlan)
{
	return !refuses(STEP_VLAN) && put_vlan_back(ctx, vlan);
}

/* The store may be refused before anything is written: it gives the packet its own copy of the headers. */
static __always_inline bool store_front(struct __sk_buff *ctx, const void *front, __u32 len)
{
	return !refuses(STEP_STORE) && !put_bytes(ctx, ETH_HLEN, front, len);
}

static __always_inline bool store_grown(struct __sk_buff *ctx, struct passing_packet *p)
{
	__u32 len = front_len(p);

	if (!len)
		return false;
	if (p->is_md)
		__builtin_memcpy(p->front + len, p->entry, MD_ENTRY_WORDS * 4);
	else
		__builtin_memcpy(p->front + len, p->entry, ENTRY_WORDS * 4);
	len += p->entry_len & 0x7f;
	barrier_var(len);
	if (len < IP4_LEN)
		return false;
	/* One comparison of both bounds would be of a copy, of which older verifiers learn nothing. */
	barrier_var(len);
	return len < sizeof(p->front) && store_front(ctx, p->front, len);
}

static __always_inline bool load_front(struct __sk_buff *ctx, struct passing_packet *p)
{
	__u32 len = front_len(p);

	/* Not 0 as the verifiers of 5.10 to 6.12 see it, too. */
	barrier_var(len);
	return len >= IP4_LEN && !bpf_skb_load_bytes(ctx, p->at.l3, p->front, len);
}

/* Removes the room again if nothing could be written into it. If that fails, the packet is dropped. */
static __always_inline int undo_push(struct __sk_buff *ctx, const struct passing_packet *p, __u64 fixed_gso,
				     const struct vlan_aside *vlan)
{
	if (!refuses(STEP_UNDO) && !bpf_skb_adjust_room(ctx, -(__s32)p->entry_len, BPF_ADJ_ROOM_MAC, fixed_gso) &&
	    put_tag_back(ctx, vlan)) {
		count_transit(COUNT_TRANSIT_UNDONE, 1, p->frame_len);
		return TCX_NEXT;
	}
	count_transit(COUNT_TRANSIT_DROPPED, 1, p->frame_len);
	return TCX_DROP;
}

static __always_inline void count_pushed(const struct passing_packet *p, __u32 segments)
{
	count_transit(COUNT_TRANSIT_PUSHED, segments ?: 1, p->frame_len);
	if (!p->is_arrival_known)
		count_transit(COUNT_TRANSIT_NO_ARRIVAL, 1, p->frame_len);
	if (p->is_md && p->is_padded)
		count_transit(COUNT_TRANSIT_PADDED, 1, p->frame_len);
}

static __always_inline int push_entry(struct __sk_buff *ctx, struct passing_packet *p)
{
	/* The kernel must not make segments shorter: the source's numbers count by their size. */
	__u64 fixed_gso = ctx->gso_size ? BPF_F_ADJ_ROOM_FIXED_GSO : 0;
	__u32 segments = ctx->gso_size ? ctx->gso_segs : 1;
	struct vlan_aside vlan = {};

	if (!load_front(ctx, p) || !put_vlan_aside(ctx, p->at.vlan_tags, &vlan)) {
		count_transit(COUNT_TRANSIT_CANNOT_RESIZE, 1, p->frame_len);
		return TCX_NEXT;
	}
	if (refuses(STEP_ROOM) || bpf_skb_adjust_room(ctx, p->entry_len, BPF_ADJ_ROOM_MAC, fixed_gso)) {
		if (put_tag_back(ctx, &vlan)) {
			count_transit(COUNT_TRANSIT_CANNOT_RESIZE, 1, p->frame_len);
			return TCX_NEXT;
		}
		count_transit(COUNT_TRANSIT_DROPPED, 1, p->frame_len);
		return TCX_DROP;
	}
	grow_headers(p);
	if (!store_grown(ctx, p))
		return undo_push(ctx, p, fixed_gso, &vlan);
	if (!put_tag_back(ctx, &vlan)) {
		count_transit(COUNT_TRANSIT_DROPPED, 1, p->frame_len);
		return TCX_DROP;
	}
	count_pushed(p, segments);
	return TCX_NEXT;
}

#endif
