/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is fixed at attach: each attachment has a program of its own. */
#ifndef HOSTINT_SOURCE_ATTACHMENT_H
#define HOSTINT_SOURCE_ATTACHMENT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

const volatile __u32 encapsulation = ENCAP_OVER_TCP_UDP;
const volatile __u32 superpackets = SUPER_SKIP;
const volatile bool full_checksum = false; /* for sinks of the original Host-INT */
const volatile __u32 stage_ifindex = 0;    /* where superpackets go to be segmented */
const volatile __u32 stage_peer = 0;       /* where they come from again, tagged: an interface index */
const volatile __u32 redirect_ifindex = 0; /* on the staging interface: where everything goes on to */

/* Written and read by the user half only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct source_key);
	__type(value, struct source_info);
} source_info SEC(".maps");

#endif
