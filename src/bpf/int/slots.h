/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Says where the packets of an encapsulation are counted in leases and grants, which have room for three. A source that
 * prefers int-md, ioam or options has no over-tcp-udp, so they have the same place. But datagrams in options have that of
 * extension-udp: a device may drop them and not segments, which are more and would hide that.
 */
#ifndef HOSTINT_INT_SLOTS_H
#define HOSTINT_INT_SLOTS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease_table.h"
#include "packet/headers.h"

/* Returns more than there are places for what is no encapsulation. */
static __always_inline __u32 lease_slot(__u32 encapsulation, __u8 protocol)
{
	bool is_first = encapsulation >= ENCAP_INT_MD && encapsulation <= ENCAP_OPTIONS;

	if (encapsulation == ENCAP_OPTIONS && protocol == IPPROTO_UDP)
		return ENCAP_EXTENSION_UDP - 1;
	return (is_first ? ENCAP_OVER_TCP_UDP : encapsulation) - 1;
}

/*
 * Adds packets at this place, if it is one. The compiler must not see that the mask changes nothing: old kernels lose the bound
 * that a comparison of 32 bits shows (5.10).
 */
static __always_inline void add_packets_at(__u64 *counts, __u32 place, __u64 packets)
{
	if (place >= LEASE_ENCAPSULATIONS)
		return;
	barrier_var(place);
	__sync_fetch_and_add(&counts[place & 3], packets);
}

/* Says whether the form of a flow is an encapsulation. */
static __always_inline bool is_own_form(__u8 form)
{
	return lease_slot(form, IPPROTO_TCP) < LEASE_ENCAPSULATIONS;
}

#endif
