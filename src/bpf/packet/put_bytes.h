/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Overwrites bytes of a packet at TC. */
#ifndef HOSTINT_PACKET_PUT_BYTES_H
#define HOSTINT_PACKET_PUT_BYTES_H

#include "kernel/kernel.h"

/*
 * Some network cards tell the sum over the whole packet (CHECKSUM_COMPLETE). It must follow each change, else the kernel
 * sums each packet again and logs "hw csum failure". Not for a change that bpf_l4_csum_replace makes up for: together
 * they leave the sum as it is.
 */
static __always_inline long put_bytes(struct __sk_buff *ctx, __u32 at, const void *from, __u32 len)
{
	return bpf_skb_store_bytes(ctx, at, from, len, BPF_F_RECOMPUTE_CSUM);
}

#endif
