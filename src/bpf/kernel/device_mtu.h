/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the length of the longest IP packet that an interface sends. */
#ifndef HOSTINT_KERNEL_DEVICE_MTU_H
#define HOSTINT_KERNEL_DEVICE_MTU_H

#include "kernel/kernel.h"
#include "kernel/features.h"

const volatile __u32 fixed_mtu = 0; /* 0: the device's own */

/* An ifindex of 0 means the interface that the program runs on. */
static __always_inline __u32 device_mtu(void *ctx, __u32 ifindex)
{
	__u32 mtu = 0;

	if (fixed_mtu)
		return fixed_mtu;
	if (have_check_mtu)
		bpf_check_mtu(ctx, ifindex, &mtu, 0, 0);
	/* The loopback device claims one byte more than an IPv4 packet can have. */
	return mtu < 0xffff ? mtu : 0xffff;
}

/* Returns the same, without a call of the kernel where that is possible. */
static __always_inline __u32 skb_mtu(struct __sk_buff *ctx, __u32 ifindex)
{
	struct sk_buff *skb;
	__u32 mtu;

	if (fixed_mtu || ifindex || !have_kernel_ctx)
		return device_mtu(ctx, ifindex);
	skb = bpf_cast_to_kern_ctx(ctx);
	mtu = skb->dev->mtu;
	return mtu < 0xffff ? mtu : 0xffff;
}

#endif
