/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the room for INT that TCP segments in the reverse direction of a received packet need. */
#ifndef HOSTINT_PEER_TAGGING_H
#define HOSTINT_PEER_TAGGING_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "lease/pairs.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "int/path_items.h"
#include "int/room.h"
#include "packet/ip_headers.h"
#include "peer/attachment.h"
#include "watch/places.h"

static __always_inline __u32 configured_room(__u8 version)
{
	return version == 4 ? room_ipv4 : room_ipv6;
}

/* Returns the number of transit hops that may push. A sink that is still being asked may turn out to read all of it. */
static __always_inline __u32 granted_hops(const struct source_lease *lease)
{
	__u32 read = lease->stack && (!without_queue || lease->items) ? lease->stack - 1 : 0;

	return lease->state == LEASE_ASKING || read > max_hops ? max_hops : read;
}

/*
 * Returns the bytes that source and transit hops add to a segment for this lease, or 0 if segments go untagged. Without
 * a lease a connection begins untagged and stays so, and needs no room. While the sink is being asked, the answer may
 * come before the connection begins. A proved sink gets TCP in the form that passes the path, whatever the interface
 * prefers. In option the stack makes room by itself.
 */
static __always_inline __u32 leased_room(const struct source_lease *lease, __u8 version)
{
	__u32 hops;

	if (tcp_in_options || !lease || (lease->state != LEASE_GRANTED && lease->state != LEASE_ASKING))
		return 0;
	hops = granted_hops(lease);
	if (!lease->has_answer)
		return configured_room(version) + hops_room(ENCAP_VXLAN_GPE, hops);
	if (lease->ways & WAY_TCP_GPE)
		return GPE_ROOM + (version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
		       hops_room(ENCAP_VXLAN_GPE, hops);
	if (version == 6 && lease->ways & WAY_IOAM)
		return IOAM_HEAD_LEN + hops_room(ENCAP_IOAM, hops);
	if (lease->ways & WAY_TCP_EXTENSION)
		return EXTENSION_LEN + hops_room(ENCAP_EXTENSION_UDP, hops);
	return lease->ways & WAY_TCP_OVER ? INT_BLOCK_LEN + hops_room(ENCAP_OVER_TCP_UDP, hops) : 0;
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

/*
 * Returns the room for INT that segments in the reverse direction of a packet need, or 0. Leaves in longest the length of
 * the longest packet that may go there with INT, if a lease limits it, else 0.
 */
static __always_inline __u32 reverse_room(const struct ip_headers *ip, __u32 *longest)
{
	const struct watch_place *to = find_watched(ip->saddr, ip->version);
	const struct source_lease *lease;
	struct address_pair pair;

	*longest = 0;
	if (!to)
		return 0;
	if (to->flags & WATCH_STATIC)
		return configured_room(ip->version) +
		       (md_tos_mask && !without_queue ? hops_room(ENCAP_INT_MD, max_hops) : 0);
	fill_reverse_pair(ip, &pair);
	lease = bpf_map_lookup_elem(&source_leases, &pair);
	if (lease)
		*longest = lease->longest;
	return leased_room(lease, ip->version);
}

#endif
