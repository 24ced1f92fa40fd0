/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are a block of INT-MD that hostint's source wrote, and that the sink may take out. */
#ifndef HOSTINT_INT_MD_BLOCK_H
#define HOSTINT_INT_MD_BLOCK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/md_head.h"

/* Returns the words of all entries, the source's included. */
static __always_inline __u32 md_stack_words(const struct int_md_head *h)
{
	return h->length - INT_MD_AROUND_WORDS;
}

/* Returns how many entries transit hops pushed; of a valid block at most INT_MAX_PUSHED. */
static __always_inline __u32 md_pushed(const struct int_md_head *h)
{
	return md_stack_words(h) / (h->hop_words == GPE_PATH_WORDS ? GPE_PATH_WORDS : GPE_HOP_WORDS) - 1;
}

/* Returns true if the source left a budget: hops may have used it. */
static __always_inline bool md_had_budget(const struct int_md_head *h)
{
	return h->remaining_hops || md_pushed(h);
}

/* Says whether these are items that a source asks for, in as many words. */
static __always_inline bool has_md_items(const struct int_md_head *h)
{
	if (h->hop_words == GPE_PATH_WORDS)
		return h->bitmap == bpf_htons(GPE_PATH_BITMAP);
	return h->hop_words == GPE_HOP_WORDS && h->bitmap == bpf_htons(GPE_LATENCY_BITMAP);
}

/* Says whether the source was hostint's: then the stack ends with what struct int_md_block has behind its head. */
static __always_inline bool is_own_md(const struct int_md_head *h)
{
	return has_md_items(h) && h->domain == bpf_htons(GPE_DOMAIN) && h->ds_bitmap == bpf_htons(INT_MD_DS_BITMAP) &&
	       !(h->ds_flags & bpf_htons(GPE_FLAG_UNKNOWN)) && h->length > INT_MD_AROUND_WORDS &&
	       md_pushed(h) <= INT_MAX_PUSHED && (md_pushed(h) + 1) * h->hop_words == md_stack_words(h);
}

/* What hostint's source wrote into its block, below the entries that hops pushed. */
struct md_source {
	const struct int_md_block *entry; /* its node, ports and latency are those of the source */
	const struct int_md_end *rest;
	__u32 grown; /* bytes of the entries that hops pushed */
	bool has_queue;
};

/* Returns false if it lies beyond `end`. */
static __always_inline bool find_md_source(const struct int_md_head *h, void *end, struct md_source *source)
{
	__u32 stack_len = md_stack_words(h) * 4;
	const void *entry, *rest;

	source->has_queue = h->hop_words == GPE_PATH_WORDS;
	source->grown = stack_len - h->hop_words * 4;
	entry = (const void *)h + (source->grown & 0xff);
	rest = (const void *)(h + 1) + ((stack_len - __builtin_offsetof(struct int_md_end, sequence)) & 0xff);
	barrier_var(entry);
	barrier_var(rest);
	source->entry = entry;
	source->rest = rest;
	return entry + __builtin_offsetof(struct int_md_block, queue) <= end && rest + sizeof(*source->rest) <= end;
}

/* Tells hostint's INT-MD from its other blocks. It is for probes, whose tags confirm it later. */
static __always_inline bool begins_own_md(const struct int_md_head *h)
{
	return h->type == INT_MD_TYPE && *(const __be32 *)&h->bitmap == bpf_htonl(GPE_PATH_BITMAP << 16 | GPE_DOMAIN);
}

/*
 * Reads the first 16 bytes only. Transit hops may have pushed entries, and set E and M. D asks for the packet to be
 * discarded, which the sink does not do; and of other sources it does not know what is in a stack.
 */
static __always_inline enum int_verdict check_md_block(const struct int_md_head *h)
{
	enum int_verdict verdict = check_md_head(h, false);

	if (verdict != INT_VALID)
		return verdict;
	if (h->version & ~(INT_MD_VERSION | INT_MD_EXCEEDED))
		return INT_BAD_VERSION;
	return is_own_md(h) ? INT_VALID : INT_BAD_BITMAP;
}

#endif
