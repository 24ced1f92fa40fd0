/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the mark of tagged packets, and their budget. Both are set when a source or its peer is attached. */
#ifndef HOSTINT_INT_MARK_H
#define HOSTINT_INT_MARK_H

#include "kernel/kernel.h"

const volatile __u8 tos_value = 0x04;
const volatile __u8 tos_mask = 0x04;
const volatile __be16 extension_port = 0; /* in network byte order */
const volatile __u32 max_hops = 0;        /* transit hops that may push entries where the sink reads them */

/* The mark of INT-MD. */
const volatile __u8 md_tos_value = 0;
const volatile __u8 md_tos_mask = 0; /* 0: the DSCP marks no INT-MD */

const volatile bool is_mx = false;  /* packets with this mark are in INT-MX, and hops change nothing in them */
const volatile __u32 mx_sample = 0; /* of their numbers, the multiples of 2^mx_sample are reported */

static __always_inline bool has_md_mark(__u8 tos)
{
	return md_tos_mask && (tos & md_tos_mask) == md_tos_value;
}

/* Says whether the packet may have INT behind its L4 header. */
static __always_inline bool has_any_mark(__u8 tos)
{
	return (tos & tos_mask) == tos_value || has_md_mark(tos);
}

#endif
