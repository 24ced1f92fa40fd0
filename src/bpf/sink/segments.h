/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds which segments of a superpacket a packet has, when the superpacket's headers were copied into each segment. */
#ifndef HOSTINT_SINK_SEGMENTS_H
#define HOSTINT_SINK_SEGMENTS_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "sink/tagged.h"

/* What the source says of the superpacket, and where the packet begins in it. */
struct whole_packet {
	__u32 base;
	__u32 size;
	__u32 count;
	__u32 begin; /* TCP sequence number, or the outer header's IPv4 id */
	bool is_tcp;
};

/*
 * Finds which of the superpacket's segments the packet has: one, or several if the packet was not split or was merged
 * again. The number of the first segment becomes that of the packet. Returns false if that cannot be known.
 */
static __always_inline bool has_known_segments(struct tagged_packet *p, __u32 payload, struct whole_packet of)
{
	__u32 index, segments;

	p->facts.count = 1;
	if (of.count <= 1)
		return true;
	if (!of.size || !payload || of.count > GPE_MAX_SEGMENTS)
		return false;
	if (of.is_tcp) {
		__u32 offset = of.begin - of.base;

		index = offset / of.size;
		if (index * of.size != offset)
			return false;
	} else {
		index = (__u16)(of.begin - of.base);
	}
	segments = (payload + of.size - 1) / of.size;
	if (index >= of.count || segments > of.count - index)
		return false;
	p->facts.count = segments;
	p->facts.sequence += index;
	return true;
}

/* Returns how many segments the packet probably has if it cannot be known which. */
static __always_inline __u8 guess_segments(__u32 size, __u32 payload)
{
	__u32 segments = size ? (payload + size - 1) / size : 1;

	return segments && segments <= GPE_MAX_SEGMENTS ? segments : 1;
}

static __always_inline void find_segments(struct tagged_packet *p, __u32 payload, struct whole_packet of)
{
	p->bad_segment = has_known_segments(p, payload, of) ? 0 : guess_segments(of.size, payload);
}

#endif
