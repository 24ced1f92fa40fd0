/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the kernel's own description of the interface that a packet is at, where the kernel lets programs read it. */
#ifndef HOSTINT_KERNEL_DEVICE_OF_H
#define HOSTINT_KERNEL_DEVICE_OF_H

#include "kernel/kernel.h"
#include "kernel/features.h"

static __always_inline struct net_device *device_of(struct __sk_buff *ctx)
{
	struct sk_buff *skb = (void *)ctx;
	struct net_device *dev = NULL;

	if (have_kernel_ctx) {
		skb = bpf_cast_to_kern_ctx(ctx);
		return skb->dev;
	}
	/* Before 6.2 the context pointer is the skb's own address. */
	bpf_probe_read_kernel(&dev, sizeof(dev), (void *)ctx + bpf_core_field_offset(skb->dev));
	return dev;
}

#endif
