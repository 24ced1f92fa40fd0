/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the kernel's structures of the interface that a packet leaves by: its queue and its MTU. */
#ifndef HOSTINT_SOURCE_QUEUE_H
#define HOSTINT_SOURCE_QUEUE_H

#include "kernel/kernel.h"
#include "kernel/device_mtu.h"
#include "kernel/features.h"
#include "source/attachment.h"
#include "source/outgoing.h"

/* Reads the length of the root queue, which is 0 for qdiscs that count on each CPU separately. */
static __always_inline void read_queue(struct __sk_buff *ctx, struct outgoing_packet *p)
{
	struct sk_buff *skb;

	p->queue_packets = 0;
	p->queue_bytes = 0;
	if (!have_kernel_ctx)
		return;
	skb = bpf_cast_to_kern_ctx(ctx);
	p->queue_packets = skb->dev->qdisc->q.qlen;
	p->queue_bytes = skb->dev->qdisc->qstats.backlog;
}

/* Returns the same as device_mtu, but without a call of the kernel. */
static __always_inline __u32 skb_mtu(struct __sk_buff *ctx)
{
	struct sk_buff *skb;
	__u32 mtu;

	if (fixed_mtu || redirect_ifindex || !have_kernel_ctx)
		return device_mtu(ctx, redirect_ifindex);
	skb = bpf_cast_to_kern_ctx(ctx);
	mtu = skb->dev->mtu;
	return mtu < 0xffff ? mtu : 0xffff;
}

#endif
