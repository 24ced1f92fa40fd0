/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are a block of INT over VXLAN-GPE that hostint may change. */
#ifndef HOSTINT_INT_GPE_BLOCK_H
#define HOSTINT_INT_GPE_BLOCK_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"

static __always_inline enum int_verdict check_gpe_block(const struct gpe_block *b)
{
	if (b->vx_flags != GPE_VX_FLAGS || b->vx_next != GPE_VX_INT)
		return INT_NOT_INT;
	if (b->type != GPE_TYPE || b->length != GPE_WORDS || (b->next != GPE_NEXT_IPV4 && b->next != GPE_NEXT_IPV6))
		return INT_BAD_SHIM;
	/* Transit hops may have set E and M. D asks for the packet to be discarded, which the sink does not do. */
	if ((b->version & 0xf9) != GPE_VERSION || b->hop_words != GPE_HOP_WORDS)
		return INT_BAD_VERSION;
	if (b->bitmap != bpf_htons(GPE_BITMAP) || b->domain != bpf_htons(GPE_DOMAIN) ||
	    b->ds_bitmap != bpf_htons(GPE_DS_BITMAP) || b->ds_flags & bpf_htons(GPE_FLAG_UNKNOWN))
		return INT_BAD_BITMAP;
	return INT_VALID;
}

/* Also accepts a block that transit hops have changed. */
static __always_inline bool is_gpe_block(const struct gpe_block *b)
{
	return b->vx_flags == GPE_VX_FLAGS && b->vx_next == GPE_VX_INT && b->type == GPE_TYPE &&
	       b->length == GPE_WORDS && b->domain == bpf_htons(GPE_DOMAIN);
}

#endif
