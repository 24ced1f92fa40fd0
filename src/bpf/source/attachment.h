/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is fixed at attach: each attachment has a program of its own. */
#ifndef HOSTINT_SOURCE_ATTACHMENT_H
#define HOSTINT_SOURCE_ATTACHMENT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

const volatile __u32 encapsulation = ENCAP_OVER_TCP_UDP;
const volatile __u8 tos_value = 0x04;
const volatile __u8 tos_mask = 0x04;
const volatile __be16 extension_port = 0; /* network order */
const volatile __u32 superpackets = SUPER_SKIP;
const volatile bool full_checksum = false; /* for sinks of the original Host-INT */
const volatile __u32 stage_ifindex = 0;    /* where superpackets go to be segmented */
const volatile __u32 stage_peer = 0;       /* where they come from again, tagged: an interface index */
const volatile __u32 redirect_ifindex = 0; /* on the staging interface: where everything goes on to */

#endif
