/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Says where the packets of an encapsulation are counted in leases and grants, which have room for three. A source that
 * prefers ioam has no over-tcp-udp, so both have the same place.
 */
#ifndef HOSTINT_INT_SLOTS_H
#define HOSTINT_INT_SLOTS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

/* Returns more than there are places for what is no encapsulation. */
static __always_inline __u32 lease_slot(__u32 encapsulation)
{
	return (encapsulation == ENCAP_IOAM ? ENCAP_OVER_TCP_UDP : encapsulation) - 1;
}

#endif
