/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* When a packet came to the network card, by the card's clock. */
#ifndef HOSTINT_SINK_NIC_STAMP_H
#define HOSTINT_SINK_NIC_STAMP_H

#include "kernel/kernel.h"

/* What this load is for. */
const volatile bool nic_stamps = false;        /* a program that is told when packets came to the network card */
const volatile bool have_room_to_grow = false; /* never */

enum {
	NIC_WAIT_NS = 100000000, /* longer than packets wait for the program */
	ROOM_TO_GROW = 4096,     /* instructions */
};

enum stamped_by {
	STAMPED_BY_KERNEL,
	STAMPED_BY_NIC,
	STAMPED_BY_METADATA,
};

extern int bpf_xdp_metadata_rx_timestamp(const struct xdp_md *ctx, __u64 *timestamp) __ksym __weak;

/* 0: none. */
static __always_inline __u64 nic_stamp(struct xdp_md *ctx, enum stamped_by by)
{
	__u64 *meta = (void *)(long)ctx->data_meta, stamp = 0;

	if (by == STAMPED_BY_NIC && bpf_xdp_metadata_rx_timestamp(ctx, &stamp))
		return 0;
	if (by == STAMPED_BY_METADATA && (void *)(meta + 1) <= (void *)(long)ctx->data)
		return *meta;
	return stamp;
}

/*
 * The stamp as ns since the Unix epoch, from a card whose clock shows that or TAI. It has to lie before now, and not
 * long: else it is none (0), as of a card whose clock nobody sets.
 */
static __always_inline __u64 nic_arrival(__u64 stamp, __u64 now, __s32 tai_offset_s)
{
	if (now - stamp < NIC_WAIT_NS)
		return stamp;
	stamp -= tai_offset_s * 1000000000LL;
	return now - stamp < NIC_WAIT_NS ? stamp : 0;
}

/*
 * Never run: the verifier takes it out before it adds anything, and what is left is room. A program that outgrows its
 * pages is moved, which kernels up to now do not note where it is bound to a device; when the device goes, they follow
 * the old place. The loader looks whether this was moved all the same.
 */
#define leave_room_to_grow()                                                                      \
	do {                                                                                      \
		if (have_room_to_grow)                                                            \
			asm volatile(".rept %[n]\nr0 = 0\n.endr" ::[n] "i"(ROOM_TO_GROW) : "r0"); \
	} while (0)

#endif
