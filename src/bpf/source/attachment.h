/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the options of an attachment. Each attachment has a program of its own, in which they are constants. */
#ifndef HOSTINT_SOURCE_ATTACHMENT_H
#define HOSTINT_SOURCE_ATTACHMENT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

const volatile __u32 encapsulation = ENCAP_OVER_TCP_UDP;
const volatile __u32 superpackets = SUPER_SKIP;
const volatile bool ioam_superpackets = false; /* whoever cuts them copies hop-by-hop options into each segment */
const volatile bool full_checksum = false;     /* for original Host-INT sinks */
const volatile __u32 stage_ifindex = 0;        /* the interface that segments superpackets */
const volatile __u32 stage_peer = 0;           /* the interface from which they come back tagged */
const volatile __u32 redirect_ifindex = 0;     /* on the staging interface: where all packets go next */

/* Only the user half uses this map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct source_key);
	__type(value, struct source_info);
} source_info SEC(".maps");

/* Says whether the packet came back from the staging interface. */
static __always_inline bool is_staged(struct __sk_buff *ctx)
{
	return stage_peer && ctx->ingress_ifindex == stage_peer;
}

#endif
