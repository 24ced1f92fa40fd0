/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says whether TCP segments in the reverse direction of a received packet may be tagged. */
#ifndef HOSTINT_PEER_TAGGING_H
#define HOSTINT_PEER_TAGGING_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "lease/pairs.h"
#include "packet/ip_headers.h"
#include "watch/places.h"

/*
 * Without a lease a connection begins untagged and stays so, and needs no room. While the sink is being asked, the
 * answer may come before the connection begins to be tagged.
 */
static __always_inline bool is_lease_open(const struct source_lease *lease)
{
	if (!lease || (lease->state != LEASE_GRANTED && lease->state != LEASE_ASKING))
		return false;
	return lease->version != LEASE_VERSION_2 ||
	       lease->ways & (WAY_TCP_OVER | WAY_TCP_EXTENSION | WAY_TCP_GPE | WAY_UNPROVED);
}

/* The reverse direction goes from the packet's destination to its source. */
static __always_inline void fill_reverse_pair(const struct ip_headers *ip, struct address_pair *pair)
{
	if (ip->version == 6) {
		__builtin_memcpy(pair->saddr, ip->daddr, sizeof(pair->saddr));
		__builtin_memcpy(pair->daddr, ip->saddr, sizeof(pair->daddr));
		return;
	}
	pair->saddr[0] = pair->saddr[1] = pair->daddr[0] = pair->daddr[1] = 0;
	pair->saddr[2] = pair->daddr[2] = bpf_htonl(0xffff);
	pair->saddr[3] = ip->daddr[0];
	pair->daddr[3] = ip->saddr[0];
}

static __always_inline bool may_tag_reverse(const struct ip_headers *ip)
{
	const struct watch_place *to = find_watched(ip->saddr, ip->version);
	struct address_pair pair;

	if (!to)
		return false;
	if (to->flags & WATCH_STATIC)
		return true;
	fill_reverse_pair(ip, &pair);
	return is_lease_open(bpf_map_lookup_elem(&source_leases, &pair));
}

#endif
