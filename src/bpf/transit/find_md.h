/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the metadata stack of INT v2.1 (MD) behind the UDP header, or the first 20 bytes of the TCP header. */
#ifndef HOSTINT_TRANSIT_FIND_MD_H
#define HOSTINT_TRANSIT_FIND_MD_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "int/md_block.h"
#include "int/md_head.h"
#include "int/mx_block.h"
#include "packet/headers.h"
#include "packet/l4_front.h"
#include "transit/attachment.h"
#include "transit/passing.h"
#include "transit/remembered.h"
#include "transit/verdicts.h"

enum {
	ALIKE_LEN = 48, /* bytes behind the metadata header that tell packets from each other */
	LEAST_ALIKE_LEN = 16,
};

/* Returns true if the DSCP or the port announces INT-MD; ports of TCP announce nothing. */
static __always_inline bool announces_md(const struct passing_packet *p, __be16 dest, bool *by_port)
{
	if (!(carriers & CARRIER_INT_MD))
		return false;
	*by_port = md_port && p->at.protocol == IPPROTO_UDP && dest == md_port;
	return *by_port || has_md_mark(p->at.tos);
}

/* A sink reads no more entries than INT_MAX_PUSHED, whatever the source allows. */
static __always_inline __u8 least_budget(__u32 left, __u32 pushed)
{
	__u32 read = INT_MAX_PUSHED - pushed;

	return left < read ? left : read;
}

/* Takes what hostint's source wrote at the end of the stack. Returns false if that lies beyond `end`. */
static __always_inline bool take_own_md(const struct int_md_head *h, void *end, struct passing_packet *p)
{
	struct md_source source;

	if (!find_md_source(h, end, &source))
		return false;
	p->identity = identity_of(source.entry->node_id, source.rest->ts_low, source.rest->sequence, 0);
	p->source_node = source.entry->node_id;
	p->source_time = source.rest->ts_low;
	p->had_budget = md_had_budget(h);
	p->budget = least_budget(h->remaining_hops, md_pushed(h));
	return true;
}

/* Takes what hostint's source wrote in INT-MX. Nothing behind the block matters. */
static __always_inline enum transit_find take_own_mx(const struct int_mx_block *b, struct passing_packet *p)
{
	p->is_md = false;
	p->is_mx = true;
	p->is_sampled = is_mx_sampled(b);
	p->identity = identity_of(b->node_id, b->ingress_ts, b->sequence, 0);
	p->newest_node = UNKNOWN_WORD;
	p->source_node = b->node_id;
	p->source_time = b->ingress_ts;
	p->had_budget = true;
	p->budget = 0;
	p->head_len = INT_MX_BLOCK_LEN;
	p->entry_len = 0;
	return TRANSIT_FOUND;
}

/* Takes what a valid metadata header says. `words` is its length with the stack behind it. */
static __always_inline enum transit_find take_instructions(void *data, void *end, const struct int_md_head *h,
							   __u32 words, struct passing_packet *p)
{
	p->newest_node = UNKNOWN_WORD;
	if (bpf_ntohs(h->bitmap) & INT_MD_NODE && words > INT_MD_LEAST_WORDS) {
		const __be32 *newest = (const void *)(h + 1);

		if ((void *)(newest + 1) > end)
			return short_or_truncated(p, data, end);
		p->newest_node = *newest;
	}
	p->source_node = UNKNOWN_WORD;
	p->had_budget = false;
	p->budget = h->remaining_hops;
	p->head_len = INT_MD_HEAD_LEN;
	p->entry_len = h->hop_words * 4;
	p->bitmap = bpf_ntohs(h->bitmap);
	p->is_padded = h->hop_words > md_words(bpf_ntohs(h->bitmap));
	p->is_md = true;
	return TRANSIT_FOUND;
}

/* Returns TRANSIT_NO_INT if what is there has no resemblance to INT-MD. */
static __always_inline enum transit_find find_md(void *data, void *end, bool by_port, struct passing_packet *p)
{
	__u32 header_len = p->at.l4 - p->at.l3;
	enum int_verdict verdict;
	struct int_md_head *h;
	struct l4_front front;

	h = behind_l4(data, end, &p->at, sizeof(*h), &front, NULL);
	if (!h)
		return p->frame_len > (__u64)(end - data) ? TRANSIT_SHORT : TRANSIT_NO_INT;
	if (h->type == INT_MX_TYPE && check_mx_block((void *)h) == INT_VALID) {
		const struct int_mx_block *mx = (void *)h;

		if ((void *)(mx + 1) > end)
			return short_or_truncated(p, data, end);
		if (front.stated < front.len || p->at.ip_len < header_len + front.stated + INT_MX_BLOCK_LEN)
			return refuse_passing(p, COUNT_TRANSIT_BAD_LENGTH);
		p->l4_len = front.len;
		return take_own_mx(mx, p);
	}
	verdict = check_md_head(h, by_port);
	if (verdict == INT_NOT_INT)
		return TRANSIT_NO_INT;
	if (verdict != INT_VALID)
		return refuse_verdict(p, verdict);
	if (front.stated < front.len || p->at.ip_len < header_len + front.stated + 4 + h->length * 4)
		return refuse_passing(p, COUNT_TRANSIT_BAD_LENGTH);
	if (take_instructions(data, end, h, h->length, p) != TRANSIT_FOUND)
		return short_or_truncated(p, data, end);
	p->l4_len = front.len;
	p->is_full = h->length + h->hop_words > 0xff;
	p->is_unnumbered = !is_own_md(h);
	if (!p->is_unnumbered && !take_own_md(h, end, p))
		return short_or_truncated(p, data, end);
	return TRANSIT_FOUND;
}

/*
 * Sources number no packets, so what is behind the metadata header tells them from each other: the newest entries, which
 * have times as a rule, or the payload.
 */
static __always_inline void identify_md(struct __sk_buff *ctx, struct passing_packet *p)
{
	__u32 at = p->at.l4 + p->l4_len + INT_MD_HEAD_LEN, behind = p->at.l3 + p->at.ip_len - at;
	__be32 number = 0, id = 0;
	__u64 mixed = 0;

	__builtin_memset(p->entry, 0, ALIKE_LEN);
	if (behind >= ALIKE_LEN)
		bpf_skb_load_bytes(ctx, at, p->entry, ALIKE_LEN);
	else if (behind >= LEAST_ALIKE_LEN)
		bpf_skb_load_bytes(ctx, at, p->entry, LEAST_ALIKE_LEN);
	if (p->at.protocol == IPPROTO_TCP)
		bpf_skb_load_bytes(ctx, p->at.l4 + __builtin_offsetof(struct tcphdr, seq), &number, sizeof(number));
	if (p->at.family == 4)
		bpf_skb_load_bytes(ctx, p->at.l3 + __builtin_offsetof(struct iphdr, id), &id, 2);
#pragma unroll
	for (int i = 0; i < ALIKE_LEN / 4; i++) {
		mixed = (mixed ^ p->entry[i]) * 0x9e3779b97f4a7c15ULL;
		mixed ^= mixed >> 32;
	}
	p->identity = identity_of(mixed >> 32, (__u32)mixed, number, id << 16 | p->at.ip_len);
}

#endif
