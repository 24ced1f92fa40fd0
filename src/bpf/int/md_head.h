/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether bytes are the headers of INT v2.1 (MD) behind TCP or UDP that a transit hop may change. */
#ifndef HOSTINT_INT_MD_HEAD_H
#define HOSTINT_INT_MD_HEAD_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"

enum {
	NPT_PROTOCOL = 2, /* the largest number that says what `original` is */
};

/* Returns the words that the instructions ask for; those of the domain are not in it. */
static __always_inline __u32 md_words(__u32 bitmap)
{
	return __builtin_popcount(bitmap) + __builtin_popcount(bitmap & INT_MD_LONG);
}

/*
 * Checks what follows the version. Bits that v2.1 reserves must be 0: there is no way to tell what a hop would have to do if
 * one of them is set, and other programs' bytes look like INT less often.
 */
static __always_inline enum int_verdict check_md_instructions(const struct int_md_head *h)
{
	if (h->version & ~(INT_MD_VERSION | INT_MD_FLAGS) || h->reserved || h->hop_words > INT_MD_MOST_WORDS)
		return INT_BAD_VERSION;
	if (!h->hop_words || h->hop_words < md_words(bpf_ntohs(h->bitmap)))
		return INT_BAD_BITMAP;
	return INT_VALID;
}

static __always_inline enum int_verdict check_md_head(const struct int_md_head *h, bool by_port)
{
	__u32 replaced = h->type >> 2 & 3, type = h->type & 0xf0;

	if (h->type == INT_V1_SHIM && h->version >> 4 <= 1)
		return INT_BAD_VERSION;
	if (type != INT_MD_TYPE && type != INT_DESTINATION_TYPE && type != INT_MX_TYPE)
		return INT_NOT_INT;
	if ((h->version & 0xf0) != INT_MD_VERSION)
		return type == INT_MD_TYPE ? INT_BAD_VERSION : INT_NOT_INT;
	if (type != INT_MD_TYPE || h->type & 3 || replaced > (by_port ? NPT_PROTOCOL : 0) ||
	    h->length < INT_MD_LEAST_WORDS)
		return INT_BAD_SHIM;
	return check_md_instructions(h);
}

#endif
