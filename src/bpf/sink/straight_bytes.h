/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first bytes of blocks just as a source of hostint writes them, compared eight at a time. */
#ifndef HOSTINT_SINK_STRAIGHT_BYTES_H
#define HOSTINT_SINK_STRAIGHT_BYTES_H

#include "kernel/kernel.h"
#include "hostint/wire.h"

/* The eight bytes of a block that begin with a field, when the block has these fields and is 0 elsewhere. */
#define BYTES_FROM(type, field, ...) \
	(*(const __u64 *)((const void *)&(struct type){ __VA_ARGS__ } + __builtin_offsetof(struct type, field)))

/* Compares eight bytes of the packet, but for those bits that are 0 in the mask. */
static __always_inline bool are_bytes(const void *at, __u64 mask, __u64 bytes)
{
	return (*(const __u64 *)at & mask) == bytes;
}

/*
 * The first bytes of a block that the source of hostint wrote: the checksum counts the tail, the DSCP is stated if it was
 * changed. It may have a budget, and it may state the flow's age.
 */
static __always_inline bool is_straight_block(const struct int_block *b, const bool has_dscp)
{
	const __u64 mask = BYTES_FROM(int_block, type, .type = 0xff, .flags = 0xff & ~(INT_FLAG_BUDGET | INT_FLOW_AGE),
				      .length = 0xff, .dscp = has_dscp ? 0 : 0xff, .version = 0xff, .ins_count = 0xff,
				      .total_hops = 0xff);
	const __u64 bytes = BYTES_FROM(int_block, type, .type = INT_TYPE,
				       .flags = INT_FLAG_CHECKSUM | (has_dscp ? INT_FLAG_DSCP : 0),
				       .length = INT_BLOCK_WORDS, .ins_count = INT_INS_COUNT, .total_hops = 1);

	return are_bytes(b, mask, bytes);
}

/* The same of a block over VXLAN-GPE, whose hops are asked for their latency, too, or not. */
static __always_inline bool is_straight_gpe_shim(const struct gpe_block *b, const __u8 next, const bool is_path)
{
	const __u64 mask = BYTES_FROM(gpe_block, type, .type = 0xff, .length = 0xff, .next = 0xff,
				      .version = 0xff & ~GPE_EXCEEDED, .hop_words = 0xff);
	const __u64 bytes = BYTES_FROM(gpe_block, type, .type = GPE_TYPE, .length = is_path ? GPE_WORDS + 1 : GPE_WORDS,
				       .next = next, .version = GPE_VERSION,
				       .hop_words = is_path ? GPE_PATH_WORDS : GPE_HOP_WORDS);

	return are_bytes(&b->type, mask, bytes);
}

static __always_inline bool are_straight_gpe_items(const struct gpe_block *b, const bool is_path)
{
	const __u64 mask = BYTES_FROM(gpe_block, bitmap, .bitmap = 0xffff, .domain = 0xffff, .ds_bitmap = 0xffff,
				      .ds_flags = bpf_htons(0xffff & ~GPE_FLOW_AGE));
	const __u64 bytes = BYTES_FROM(gpe_block, bitmap, .bitmap = bpf_htons(is_path ? GPE_PATH_BITMAP : GPE_BITMAP),
				       .domain = bpf_htons(GPE_DOMAIN), .ds_bitmap = bpf_htons(GPE_DS_BITMAP));

	return are_bytes(&b->bitmap, mask, bytes);
}

#endif
