/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognises the options of TCP and UDP that hold INT. */
#ifndef HOSTINT_INT_IN_OPTION_H
#define HOSTINT_INT_IN_OPTION_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "packet/checksum.h"

static __always_inline bool is_option_of(const struct int_option *option, __u8 kind)
{
	return option->kind == kind && option->length == INT_OPTION_LEN && option->id == bpf_htons(INT_OPTION_ID);
}

static __always_inline bool is_int_option(const struct int_option *option)
{
	return is_option_of(option, INT_OPTION_KIND);
}

/* The length of the area for INT behind a datagram of this UDP length: what is checked begins at an even place. */
static __always_inline __u32 datagram_room(__u32 udp_len)
{
	return INT_DATAGRAM_LEN + (udp_len & 1);
}

/* The sum of such an area and of its length. */
static __always_inline __u16 datagram_sum(const struct datagram_option *area, __u32 room)
{
	return csum_fold(csum_words(area, sizeof(*area)) + bpf_htons(room));
}

#endif
