/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts the packets that arrive and onto which transit hops may have pushed, before the sink decides about them. */
#ifndef HOSTINT_SINK_CROSSING_H
#define HOSTINT_SINK_CROSSING_H

#include "kernel/kernel.h"
#include "int/crossings.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "sink/tagged.h"

__noinline int note_received(__u32 ifindex)
{
	const struct host_settings *host = get_host_settings();
	struct tagged_packet *p = tagged();
	__u32 segments;

	if (!host || !p)
		return 0;
	segments = p->bad_segment ? p->bad_segment : p->facts.count;
	return count_crossing(p->facts.source_node, dest_tag(p->facts.key.daddr), ifindex,
			      crossing_of(CROSSING_RECEIVED, p->at.ttl, segments),
			      block_of(now_ns(host), p->facts.ingress_ts));
}

#endif
