/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads when a packet arrived at the network card, by the card's clock. */
#ifndef HOSTINT_SINK_NIC_STAMP_H
#define HOSTINT_SINK_NIC_STAMP_H

#include "kernel/kernel.h"

const volatile bool nic_stamps = false;        /* this load has a program that reads the card's time */
const volatile bool have_room_to_grow = false; /* always false */

enum {
	NIC_WAIT_NS = 100000000, /* more than the time between a packet's arrival and the program */
	ROOM_TO_GROW = 4096,     /* instructions */
};

enum stamped_by {
	STAMPED_BY_KERNEL,
	STAMPED_BY_NIC,
	STAMPED_BY_METADATA,
};

extern int bpf_xdp_metadata_rx_timestamp(const struct xdp_md *ctx, __u64 *timestamp) __ksym __weak;

/* Returns 0 if there is no stamp. */
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
 * Returns the stamp in ns since the Unix epoch; the card's clock may show that or TAI. The stamp must lie shortly
 * before now. Any other one, as from a card whose clock is not set, is ignored (0).
 */
static __always_inline __u64 nic_arrival(__u64 stamp, __u64 now, __s32 tai_offset_s)
{
	if (now - stamp < NIC_WAIT_NS)
		return stamp;
	stamp -= tai_offset_s * 1000000000LL;
	return now - stamp < NIC_WAIT_NS ? stamp : 0;
}

/*
 * Makes the program longer at first: the verifier removes these instructions, which never run, before it adds its own.
 * A program that outgrows its pages is moved. For a program bound to a device, kernels up to now keep the old address,
 * and use it when the device goes away. The loader checks all the same that the program was not moved.
 */
#define leave_room_to_grow()                                                                      \
	do {                                                                                      \
		if (have_room_to_grow)                                                            \
			asm volatile(".rept %[n]\nr0 = 0\n.endr" ::[n] "i"(ROOM_TO_GROW) : "r0"); \
	} while (0)

#endif
