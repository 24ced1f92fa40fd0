/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads how many bytes wait in the queue of the interface by which a packet leaves. */
#ifndef HOSTINT_TRANSIT_QUEUE_BYTES_H
#define HOSTINT_TRANSIT_QUEUE_BYTES_H

#include "kernel/kernel.h"
#include "kernel/device_of.h"

enum {
	QDISC_OF_QUEUES = 0x08,     /* the qdiscs of the device's queues hold the packets (mq, mqprio) */
	QDISC_COUNTS_BY_CPU = 0x20, /* pfifo_fast: its sum is not kept */
	MOST_TX_QUEUES = 64,
	QUEUE_UNKNOWN = -1,
	QUEUE_MOST = 0x7fffffff,
};

static __always_inline __s64 bytes_in(struct Qdisc *qdisc)
{
	if (BPF_CORE_READ(qdisc, flags) & QDISC_COUNTS_BY_CPU)
		return QUEUE_UNKNOWN;
	return BPF_CORE_READ(qdisc, qstats.backlog);
}

/* Returns the bytes of the longest queue; those of queues beyond the first 64 are not read. */
static __always_inline __s64 longest_of_queues(struct net_device *dev)
{
	__u32 count = BPF_CORE_READ(dev, real_num_tx_queues);
	void *queues = BPF_CORE_READ(dev, _tx);
	__s64 longest = QUEUE_UNKNOWN;

	for (__u32 i = 0; i < MOST_TX_QUEUES && i < count; i++) {
		struct netdev_queue *queue = queues + i * bpf_core_type_size(struct netdev_queue);
		__s64 bytes = bytes_in(BPF_CORE_READ(queue, qdisc));

		if (bytes > longest)
			longest = bytes;
	}
	return longest;
}

/*
 * Returns the bytes, or QUEUE_UNKNOWN. Many queues take long to read, so that is done only if `reads_all`. It is not static:
 * kernel/single_value.h says why.
 */
__noinline int queue_bytes(struct __sk_buff *ctx, int reads_all)
{
	struct net_device *dev;
	struct Qdisc *qdisc;
	__s64 bytes;

	if (!have_kernel_reads)
		return QUEUE_UNKNOWN;
	dev = device_of(ctx);
	qdisc = BPF_CORE_READ(dev, qdisc);
	if (!qdisc)
		return QUEUE_UNKNOWN;
	if (!(BPF_CORE_READ(qdisc, flags) & QDISC_OF_QUEUES))
		bytes = bytes_in(qdisc);
	else
		bytes = reads_all ? longest_of_queues(dev) : QUEUE_UNKNOWN;
	return bytes < QUEUE_MOST ? bytes : QUEUE_MOST;
}

#endif
