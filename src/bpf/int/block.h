/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are an INT v0.5 block that hostint may change. */
#ifndef HOSTINT_INT_BLOCK_H
#define HOSTINT_INT_BLOCK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"

enum int_verdict {
	INT_VALID,
	INT_NOT_INT, /* no resemblance: the mark was set by another program */
	INT_BAD_SHIM,
	INT_BAD_VERSION,
	INT_BAD_BITMAP,
};

/* Returns how many entries transit hops pushed; of a valid block at most INT_MAX_PUSHED. */
static __always_inline __u32 int_pushed(const struct int_block *b)
{
	return b->total_hops - 1U;
}

/* Reads the first 12 bytes only. Transit hops may have pushed entries, and set E and M. */
static __always_inline enum int_verdict check_int_block(const struct int_block *b)
{
	__u32 pushed = int_pushed(b);
	bool shim = b->type == INT_TYPE && b->length == INT_BLOCK_WORDS + pushed * INT_INS_COUNT &&
		    !(b->flags & INT_FLAG_UNKNOWN) && (b->flags & INT_FLAG_DSCP || !b->dscp);
	bool version = !(b->version & ~INT_EXCEEDED) && (b->ins_count & ~INT_NO_ROOM) == INT_INS_COUNT &&
		       pushed <= INT_MAX_PUSHED && b->max_hops > pushed;
	bool bitmap = b->bitmap == bpf_htons(INT_BITMAP) && !b->reserved;

	if (shim && version && bitmap)
		return INT_VALID;
	/* Two of three parts agree by accident once in 2^40, so this is probably another version of INT. */
	if (version && bitmap)
		return INT_BAD_SHIM;
	if (shim && bitmap)
		return INT_BAD_VERSION;
	if (shim && version)
		return INT_BAD_BITMAP;
	return INT_NOT_INT;
}

#endif
