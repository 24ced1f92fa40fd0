/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are a block of INT over VXLAN-GPE that hostint may change. */
#ifndef HOSTINT_INT_GPE_BLOCK_H
#define HOSTINT_INT_GPE_BLOCK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"

/* Says whether the source asks hops for their entries; then these have the hop's latency. */
static __always_inline bool asks_hops(const struct gpe_block *b)
{
	return !!(b->bitmap & bpf_htons(INT_MD_LATENCY));
}

/* Returns the bytes that each entry has besides those of struct gpe_block: 0, or the word of a hop's latency. */
static __always_inline __u32 gpe_more(const struct gpe_block *b)
{
	return b->hop_words == GPE_PATH_WORDS ? (GPE_PATH_WORDS - GPE_HOP_WORDS) * 4 : 0;
}

/* Returns the bytes of all entries, the source's included. */
static __always_inline __u32 gpe_stack_len(const struct gpe_block *b)
{
	return (b->length - GPE_AROUND_WORDS) * 4;
}

/* Returns how many entries transit hops pushed; of a valid block at most INT_MAX_PUSHED. */
static __always_inline __u32 gpe_pushed(const struct gpe_block *b)
{
	return gpe_stack_len(b) / (GPE_HOP_WORDS * 4 + gpe_more(b)) - 1;
}

/* Returns the bytes that the block has besides those of struct gpe_block: words of latency, and entries of transit hops. */
static __always_inline __u32 gpe_grown(const struct gpe_block *b)
{
	return gpe_stack_len(b) - GPE_HOP_WORDS * 4;
}

/* Says whether the length is that of an entry of the source, and of at most INT_MAX_PUSHED pushed ones. */
static __always_inline bool is_gpe_length(const struct gpe_block *b)
{
	__u32 entry = GPE_HOP_WORDS * 4 + gpe_more(b), stack = gpe_stack_len(b);

	return b->length > GPE_AROUND_WORDS && !(stack % entry) && stack / entry <= INT_MAX_PUSHED + 1;
}

/* Says whether these are items that a source asks for, in as many words. */
static __always_inline bool has_gpe_items(const struct gpe_block *b)
{
	if (b->hop_words == GPE_PATH_WORDS)
		return b->bitmap == bpf_htons(GPE_PATH_BITMAP);
	return b->bitmap == bpf_htons(GPE_BITMAP) || b->bitmap == bpf_htons(GPE_LATENCY_BITMAP);
}

/* Reads the first 24 bytes only. */
static __always_inline enum int_verdict check_gpe_block(const struct gpe_block *b)
{
	if (b->vx_flags != GPE_VX_FLAGS || b->vx_next != GPE_VX_INT)
		return INT_NOT_INT;
	if (b->type != GPE_TYPE || !is_gpe_length(b) || (b->next != GPE_NEXT_IPV4 && b->next != GPE_NEXT_IPV6))
		return INT_BAD_SHIM;
	/* Transit hops may have set E and M. D asks for the packet to be discarded, which the sink does not do. */
	if ((b->version & ~GPE_EXCEEDED) != GPE_VERSION ||
	    (b->hop_words != GPE_HOP_WORDS && b->hop_words != GPE_PATH_WORDS))
		return INT_BAD_VERSION;
	if (!has_gpe_items(b) || b->domain != bpf_htons(GPE_DOMAIN) || b->ds_bitmap != bpf_htons(GPE_DS_BITMAP) ||
	    b->ds_flags & bpf_htons(GPE_FLAG_UNKNOWN))
		return INT_BAD_BITMAP;
	return INT_VALID;
}

/* What the source wrote into a valid block, below the entries that hops pushed. */
struct gpe_source {
	struct gpe_block *entry; /* its node and ports are those of the source */
	struct gpe_block *rest;  /* all fields from the queue, or what stands in its place, are those of the source */
	__u32 grown;             /* bytes by which the block is longer than struct gpe_block */
};

/* Returns false if it lies beyond `end`. */
static __always_inline bool find_gpe_source(struct gpe_block *b, void *end, struct gpe_source *source)
{
	void *rest, *entry;

	source->grown = gpe_grown(b);
	rest = (void *)b + (source->grown & 0xff);
	entry = (void *)b + ((source->grown - gpe_more(b)) & 0xff);
	barrier_var(rest);
	barrier_var(entry);
	source->rest = rest;
	source->entry = entry;
	return rest + sizeof(*b) <= end && entry + sizeof(*b) <= end;
}

/* Also accepts a block that transit hops have changed. */
static __always_inline bool is_gpe_block(const struct gpe_block *b)
{
	return b->vx_flags == GPE_VX_FLAGS && b->vx_next == GPE_VX_INT && b->type == GPE_TYPE && is_gpe_length(b) &&
	       b->domain == bpf_htons(GPE_DOMAIN);
}

#endif
