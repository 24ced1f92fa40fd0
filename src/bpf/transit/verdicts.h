/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Refuses packets whose INT a hop may not change, and notes the reason. */
#ifndef HOSTINT_TRANSIT_VERDICTS_H
#define HOSTINT_TRANSIT_VERDICTS_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "int/block.h"
#include "transit/passing.h"

static __always_inline enum transit_find refuse_passing(struct passing_packet *p, enum transit_counter reason)
{
	p->reason = reason;
	return TRANSIT_REFUSED;
}

/* If bytes are missing at `end`, the packet is short if the frame has more of them. */
static __always_inline enum transit_find short_or_truncated(struct passing_packet *p, void *data, void *end)
{
	return p->frame_len > (__u64)(end - data) ? TRANSIT_SHORT : refuse_passing(p, COUNT_TRANSIT_TRUNCATED);
}

static __always_inline enum transit_find refuse_verdict(struct passing_packet *p, enum int_verdict verdict)
{
	switch (verdict) {
	case INT_BAD_SHIM:
		return refuse_passing(p, COUNT_TRANSIT_BAD_SHIM);
	case INT_BAD_VERSION:
		return refuse_passing(p, COUNT_TRANSIT_BAD_VERSION);
	case INT_BAD_BITMAP:
		return refuse_passing(p, COUNT_TRANSIT_BAD_BITMAP);
	default:
		return refuse_passing(p, COUNT_TRANSIT_FOREIGN_MARK);
	}
}

#endif
