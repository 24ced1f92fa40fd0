/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The sink keeps the quickest packets of each source node: they bound the difference of two hosts' clocks, because a
 * packet takes no negative time.
 */
#ifndef HOSTINT_SINK_MINIMA_H
#define HOSTINT_SINK_MINIMA_H

enum sink_minima_shape {
	MINIMA_SHIFT = 29,   /* a sub-window has 2^29 ns, 537 ms; it begins at a multiple of that */
	MINIMA_WINDOWS = 4,  /* sub-windows of a node; each takes the place of the fourth before it */
	MINIMA_BITS = 12,    /* a node's place is given by this many bits of its hash */
	MINIMA_NODES = 4096, /* 1 << MINIMA_BITS */
};

/* Everything is written under the lock. The node is that of all sub-windows. */
struct sink_minima {
	struct bpf_spin_lock lock;
	__u32 source_node;
	__u64 arrived_ns[MINIMA_WINDOWS]; /* since the Unix epoch, by the kernel's clock; 0: none */
	__s32 latency_ns[MINIMA_WINDOWS]; /* low 32 bits of the difference of both clocks' stamps */
	__u64 spare;
};

#endif
