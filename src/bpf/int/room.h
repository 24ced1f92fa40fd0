/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says how many bytes each encapsulation adds to a packet, and the entries of transit hops after it. */
#ifndef HOSTINT_INT_ROOM_H
#define HOSTINT_INT_ROOM_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "int/ioam_room.h"
#include "int/mark.h"
#include "int/path_items.h"
#include "packet/layout.h"

enum {
	SHORTEST_MTU = 576, /* no link between IPv4 hosts has a smaller one */
};

static __always_inline __u32 int_room(const struct layout *at, __u32 encapsulation)
{
	if (encapsulation == ENCAP_EXTENSION_UDP)
		return EXTENSION_LEN;
	if (encapsulation == ENCAP_IOAM)
		return IOAM_HEAD_LEN;
	if (encapsulation == ENCAP_INT_MD)
		return is_mx ? INT_MX_BLOCK_LEN : INT_MD_BLOCK_LEN;
	return encapsulation == ENCAP_VXLAN_GPE ? fixed_ip_len(at) + GPE_ROOM : INT_BLOCK_LEN;
}

/*
 * Returns the bytes by which a packet is longer because it asks this number of hops for their entries; less than none if the
 * source's own entry is shorter then.
 */
static __always_inline __s32 asking_room(__u32 encapsulation, __u32 hops)
{
	if (encapsulation == ENCAP_IOAM)
		return ioam_room(hops);
	if (!hops)
		return 0;
	if (encapsulation == ENCAP_INT_MD)
		return without_queue ? INT_MD_BRIEF_LEN - INT_MD_BLOCK_LEN : 0;
	return encapsulation == ENCAP_VXLAN_GPE && !without_queue ? (GPE_PATH_WORDS - GPE_HOP_WORDS) * 4 : 0;
}

/* Returns that, and the bytes of all entries. */
static __always_inline __s32 hops_room(__u32 encapsulation, __u32 hops)
{
	__u32 entry = encapsulation == ENCAP_IOAM                                       ? 0 :
		      encapsulation == ENCAP_VXLAN_GPE || encapsulation == ENCAP_INT_MD ? path_words() * 4 :
											  INT_HOP_LEN;

	return asking_room(encapsulation, hops) + hops * entry;
}

#endif
