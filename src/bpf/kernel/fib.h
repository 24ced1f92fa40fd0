/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Asks the kernel's routing table whether a packet is for this host. */
#ifndef HOSTINT_KERNEL_FIB_H
#define HOSTINT_KERNEL_FIB_H

#include "kernel/kernel.h"

enum {
	FIB_FAMILY_IPV4 = 2,
	FIB_FAMILY_IPV6 = 10,
	FIB_NOT_FORWARDED = 4, /* for this host, or for a group */
	FIB_FORWARDING_OFF = 5,
	FIB_FOUND = 0,
	FIB_TUNNELLED = 6,
	FIB_NO_NEIGHBOUR = 7,
	FIB_TOO_LONG = 8, /* forwarded in fragments, or refused */
};

/* The layout of the kernel's struct bpf_fib_lookup, as far as it is used. */
struct fib_question {
	__u8 family;
	__u8 l4_protocol;
	__be16 sport;
	__be16 dport;
	__u16 tot_len;
	__u32 ifindex;
	__u32 flow_info;
	__be32 saddr[4]; /* IPv4 is in the first word */
	__be32 daddr[4];
	__u16 vlan_proto;
	__u16 vlan_tci;
	__u8 macs[12];
};

/* The kernel's own declaration of the helper names its struct, which the programs do not have. */
static long (*const fib_lookup)(void *ctx, struct fib_question *question, int len, __u32 flags) = (void *)69;

/* Where forwarding is off, a packet is for this host or for none. */
static __always_inline bool is_for_this_host(void *ctx, struct fib_question *question)
{
	long found = fib_lookup(ctx, question, sizeof(*question), 0);

	return found == FIB_NOT_FORWARDED || found == FIB_FORWARDING_OFF;
}

/* True if the host forwards the packet, as far as its routes say; the question then has the interface. */
static __always_inline bool is_forwarded(void *ctx, struct fib_question *question)
{
	long found = fib_lookup(ctx, question, sizeof(*question), 0);

	return found == FIB_FOUND || found == FIB_TUNNELLED || found == FIB_NO_NEIGHBOUR || found == FIB_TOO_LONG;
}

#endif
