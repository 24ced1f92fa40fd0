/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are a block of INT-MX that hostint's source wrote, and which packets are reported. */
#ifndef HOSTINT_INT_MX_BLOCK_H
#define HOSTINT_INT_MX_BLOCK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/md_block.h"

static __always_inline __u32 mx_sample_of(const struct int_mx_block *b)
{
	return (bpf_ntohs(b->ds_flags) & INT_MX_SAMPLE) >> INT_MX_SAMPLE_SHIFT;
}

/* Reads the first 16 bytes only. What is not hostint's has no number by which reports about a packet find each other. */
static __always_inline enum int_verdict check_mx_block(const struct int_mx_block *b)
{
	const __u8 *r = b->reserved;

	if (b->type != INT_MX_TYPE)
		return INT_BAD_SHIM;
	if (b->version != INT_MD_VERSION || r[0] || r[1] || r[2])
		return INT_BAD_VERSION;
	if (b->length != INT_MX_WORDS)
		return INT_BAD_SHIM;
	if (b->bitmap != bpf_htons(INT_MX_BITMAP) || b->domain != bpf_htons(GPE_DOMAIN) ||
	    b->ds_bitmap != bpf_htons(INT_MX_DS_BITMAP) || b->ds_flags & bpf_htons(INT_MX_FLAG_UNKNOWN) ||
	    mx_sample_of(b) > INT_MX_MOST_SAMPLE)
		return INT_BAD_BITMAP;
	return INT_VALID;
}

/* Says whether a sink takes these bytes out, in either mode. Reads the first 16 bytes only. */
static __always_inline bool is_md_or_mx(const void *block)
{
	return check_md_block(block) == INT_VALID || check_mx_block(block) == INT_VALID;
}

/* Says whether hops and sink report the packet: all of them choose the same ones. */
static __always_inline bool is_mx_sampled(const struct int_mx_block *b)
{
	return !(bpf_ntohl(b->sequence) & ((1U << mx_sample_of(b)) - 1));
}

#endif
