/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel knows of the queue that a packet goes into. */
#ifndef HOSTINT_SOURCE_QUEUE_H
#define HOSTINT_SOURCE_QUEUE_H

#include "kernel/kernel.h"
#include "kernel/device_mtu.h"
#include "kernel/features.h"
#include "source/attachment.h"
#include "source/outgoing.h"

/* The root queue; qdiscs that count for each CPU apart say 0. */
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

/* As device_mtu, without a call. */
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
