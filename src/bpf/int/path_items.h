/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says which items the entries of transit hops have that a source of INT v2.1 asks for, and so its own entry. */
#ifndef HOSTINT_INT_PATH_ITEMS_H
#define HOSTINT_INT_PATH_ITEMS_H

#include "kernel/kernel.h"
#include "hostint/wire.h"

const volatile bool without_queue = false; /* the user wants more room for hops */

/* The words of an entry. */
static __always_inline __u32 path_words(void)
{
	return without_queue ? GPE_HOP_WORDS : GPE_PATH_WORDS;
}

static __always_inline __u16 path_bitmap(void)
{
	return without_queue ? GPE_LATENCY_BITMAP : GPE_PATH_BITMAP;
}

#endif
