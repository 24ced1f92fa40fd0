/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the kernel's queueing disciplines. */
#ifndef HOSTINT_QUEUE_QDISC_H
#define HOSTINT_QUEUE_QDISC_H

#include "kernel/kernel.h"
#include "hostint/queue.h"

enum {
	TCQ_F_CPUSTATS = 0x20,
};

/* A queue without a lock counts its packets for each CPU apart; what it has in all is not known. */
static __always_inline bool counts_by_cpu(struct Qdisc *sch)
{
	return sch->flags & TCQ_F_CPUSTATS;
}

/* Finds which queue of which interface it is. */
static __always_inline void find_key(struct Qdisc *sch, struct queue_key *key)
{
	struct netdev_queue *queue = sch->dev_queue;
	struct net_device *dev = queue->dev;

	key->ifindex = dev->ifindex;
	key->queue = ((__u64)queue - (__u64)dev->_tx) / bpf_core_type_size(struct netdev_queue);
}

static __always_inline __u32 queue_netns(struct Qdisc *sch)
{
	return sch->dev_queue->dev->nd_net.net->ns.inum;
}

#endif
