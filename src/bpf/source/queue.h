/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the queue of the interface that a packet leaves by. */
#ifndef HOSTINT_SOURCE_QUEUE_H
#define HOSTINT_SOURCE_QUEUE_H

#include "kernel/kernel.h"
#include "kernel/features.h"
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

#endif
