/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says how many transit hops may push their entries onto a packet, and how long it may become with them. */
#ifndef HOSTINT_SOURCE_BUDGET_H
#define HOSTINT_SOURCE_BUDGET_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "int/mark.h"
#include "int/path_items.h"
#include "int/room.h"
#include "source/attachment.h"
#include "source/outgoing.h"

/*
 * Only a sink that reads stacks gets entries; older ones demand the word that Host-INT writes, which is 0 here. That word is
 * also written where a sink reads stacks, but no hop is to push, or the sink cannot read the items that the user wants: if
 * an older sink takes its place, it strips until the lease ends. One entry, which that word allows, is read.
 */
static __always_inline __u8 most_entries(const struct source_lease *lease)
{
	__u32 read = lease->stack, wanted = max_hops + 1;
	bool reads_items = !without_queue || lease->items;

	if (full_checksum || (read > 1 && (!max_hops || !reads_items)))
		return 0;
	return read < wanted ? read : wanted;
}

/* Returns the number of transit hops that may push. */
static __always_inline __u32 budget(const struct outgoing_packet *p)
{
	__u32 granted = p->stack ? p->stack - 1 : 0;

	return granted < max_hops ? granted : max_hops;
}

/* Returns the bytes that the source adds. */
static __always_inline __u32 source_room(const struct outgoing_packet *p, __u32 encapsulation)
{
	return int_room(&p->at, encapsulation) + asking_room(encapsulation, budget(p));
}

/* Returns the bytes that the source and all transit hops may add. */
static __always_inline __u32 path_room(const struct outgoing_packet *p, __u32 encapsulation)
{
	return int_room(&p->at, encapsulation) + hops_room(encapsulation, budget(p));
}

#endif
