/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the size of a dropped packet: a superpacket's segments, and the bytes from the IP header on. */
#ifndef HOSTINT_DROP_SIZE_H
#define HOSTINT_DROP_SIZE_H

#include "kernel/kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct skb_shared_info {
	unsigned short gso_size;
	unsigned short gso_segs;
};

#pragma clang attribute pop

struct drop_size {
	__u32 segments;
	__u32 bytes;
};

/* The data may begin before the IP header, at it, or anywhere behind it, depending on how far the packet came. */
static __always_inline void find_size(struct sk_buff *skb, struct drop_size *size)
{
	struct skb_shared_info *shared = (void *)(skb->head + skb->end);
	long behind = (long)skb->data - (long)skb->head - skb->network_header;
	__u32 gso_size = BPF_CORE_READ(shared, gso_size), segments = 1;
	long bytes = (long)skb->len + behind;

	size->bytes = bytes > 0 ? bytes : skb->len;
	if (gso_size) {
		segments = BPF_CORE_READ(shared, gso_segs);
		/* Guests leave the number of segments to the host. */
		if (!segments)
			segments = (size->bytes + gso_size - 1) / gso_size;
	}
	size->segments = segments;
}

#endif
