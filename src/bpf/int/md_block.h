/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are a block of INT-MD that hostint's source wrote, and that the sink may take out. */
#ifndef HOSTINT_INT_MD_BLOCK_H
#define HOSTINT_INT_MD_BLOCK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/md_head.h"

/* Returns how many entries transit hops pushed; of a valid block at most INT_MAX_PUSHED. */
static __always_inline __u32 md_pushed(const struct int_md_head *h)
{
	return (__u32)(h->length - INT_MD_BLOCK_WORDS) / GPE_PATH_WORDS;
}

/* Returns true if the source left a budget: hops may have used it. */
static __always_inline bool md_had_budget(const struct int_md_head *h)
{
	return h->remaining_hops || h->length > INT_MD_BLOCK_WORDS;
}

/* Says whether the source was hostint's: then the stack ends with what struct int_md_block has behind its head. */
static __always_inline bool is_own_md(const struct int_md_head *h)
{
	return h->hop_words == GPE_PATH_WORDS && h->bitmap == bpf_htons(GPE_PATH_BITMAP) &&
	       h->domain == bpf_htons(GPE_DOMAIN) && h->ds_bitmap == bpf_htons(INT_MD_DS_BITMAP) &&
	       !(h->ds_flags & bpf_htons(GPE_FLAG_UNKNOWN)) && h->length >= INT_MD_BLOCK_WORDS &&
	       h->length <= INT_MD_BLOCK_WORDS + INT_MAX_PUSHED * GPE_PATH_WORDS &&
	       md_pushed(h) * GPE_PATH_WORDS == (__u32)(h->length - INT_MD_BLOCK_WORDS);
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
