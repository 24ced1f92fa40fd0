/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says how many bytes each encapsulation adds to a packet. */
#ifndef HOSTINT_INT_ROOM_H
#define HOSTINT_INT_ROOM_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/layout.h"

static __always_inline __u32 int_room(const struct layout *at, __u32 encapsulation)
{
	if (encapsulation == ENCAP_EXTENSION_UDP)
		return EXTENSION_LEN;
	return encapsulation == ENCAP_VXLAN_GPE ? fixed_ip_len(at) + GPE_ROOM : INT_BLOCK_LEN;
}

#endif
