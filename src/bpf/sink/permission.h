/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds out whether a packet's sender may tag packets: mostly from its flow's record, else from the grants. */
#ifndef HOSTINT_SINK_PERMISSION_H
#define HOSTINT_SINK_PERMISSION_H

#include "kernel/kernel.h"
#include "hostint/sink_flow.h"
#include "kernel/clock.h"
#include "kernel/ordered.h"
#include "sink/grants.h"
#include "sink/tagged.h"

/* Finds until when (coarse monotonic clock) the sender's packets may be stripped; leaves it, or 0, in the scratch. */
__noinline int look_up_sender(void)
{
	struct tagged_packet *p = tagged();

	if (!p)
		return 0;
	p->allowed_ns = allowed_until(p->facts.key.saddr, p->at.family, coarse_ns());
	return 0;
}

/* f is the flow's record, if there is one. If grants are looked at, what was found is left in the scratch. */
static __always_inline bool find_permission(const struct sink_flow *f, struct tagged_packet *p, bool locked)
{
	p->allowed_ns = 0;
	p->allowed_serial = grants_serial();
	if (f && remembers_allowed(f, p->allowed_serial))
		return true;
	/* What changes from here on changes the serial, too. */
	if (locked)
		barrier();
	else
		ordered_fence(&p->fence);
	look_up_sender();
	return p->allowed_ns;
}

#endif
