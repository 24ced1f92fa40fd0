/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Adds up a whole L4 segment. Original Host-INT sinks need this where the checksum is unfinished. */
#ifndef HOSTINT_SOURCE_FULL_SUM_H
#define HOSTINT_SOURCE_FULL_SUM_H

#include "kernel/kernel.h"
#include "packet/checksum.h"
#include "source/outgoing.h"

enum {
	MAX_CHUNKS = 0x10000 / SUM_CHUNK,
};

/* Adds the chunk of this index to the sum; returns 0 if the kernel refused to read it. */
__noinline int add_chunk(struct __sk_buff *ctx, __u32 index)
{
	struct outgoing_packet *p = outgoing();
	__u32 offset = index * SUM_CHUNK, len;
	__s64 sum;

	if (!p)
		return 0;
	len = p->at.ip_len - (p->at.l4 - p->at.l3) - offset;
	if (len > SUM_CHUNK)
		len = SUM_CHUNK;
	/* This shows every kernel's verifier that the length is at least 1. */
	len = ((len - 1) & (SUM_CHUNK - 1)) + 1;
	/* Zeros follow a chunk whose length is not a multiple of 4. */
	*(__u32 *)(p->chunk + (len & (SUM_CHUNK - 4))) = 0;
	if (bpf_skb_load_bytes(ctx, p->at.l4 + offset, p->chunk, len))
		return 0;
	sum = bpf_csum_diff(0, 0, (__be32 *)p->chunk, (len + 3) & ~3U, p->sum);
	if (sum < 0)
		return 0;
	p->sum = csum_fold(sum);
	return 1;
}

__noinline int sum_segment(struct __sk_buff *ctx)
{
	struct outgoing_packet *p = outgoing();

	if (!p)
		return 0;
	p->sum = 0;
	for (__u32 i = 0; i < MAX_CHUNKS; i++) {
		if (i * SUM_CHUNK >= (__u32)(p->at.ip_len - (p->at.l4 - p->at.l3)))
			break;
		if (!add_chunk(ctx, i))
			return 0;
	}
	return 1;
}

#endif
