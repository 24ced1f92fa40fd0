/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Says where the packets of an encapsulation are counted in leases and grants, which have room for three. A source that
 * prefers int-md, ioam or options has no over-tcp-udp, so they have the same place.
 */
#ifndef HOSTINT_INT_SLOTS_H
#define HOSTINT_INT_SLOTS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease_table.h"

/* Returns more than there are places for what is no encapsulation. */
static __always_inline __u32 lease_slot(__u32 encapsulation)
{
	bool is_first = encapsulation >= ENCAP_INT_MD && encapsulation <= ENCAP_OPTIONS;

	return (is_first ? ENCAP_OVER_TCP_UDP : encapsulation) - 1;
}

/* Says whether the form of a flow is an encapsulation. */
static __always_inline bool is_own_form(__u8 form)
{
	return lease_slot(form) < LEASE_ENCAPSULATIONS;
}

#endif
