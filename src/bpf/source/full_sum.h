/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sum of a whole L4 segment, as sinks of the original Host-INT need it of an unfinished checksum. */
#ifndef HOSTINT_SOURCE_FULL_SUM_H
#define HOSTINT_SOURCE_FULL_SUM_H

#include "kernel/kernel.h"
#include "packet/checksum.h"
#include "source/outgoing.h"

enum {
	MAX_CHUNKS = 0x10000 / SUM_CHUNK,
};

/* Adds the index-th chunk of the segment. 0: the kernel refused to read. */
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
	/* From 1 on, for every kernel's verifier to see. */
	len = ((len - 1) & (SUM_CHUNK - 1)) + 1;
	/* An odd end counts as if zeros followed. */
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
