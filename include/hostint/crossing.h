/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Source, transit hops and sink count the packets that may get entries of hops here, so that losses between two of them
 * are differences. Each counts by the time that the source wrote into the packet, so all of them count the same packets
 * in the same block, whenever these come by.
 */
#ifndef HOSTINT_CROSSING_H
#define HOSTINT_CROSSING_H

enum crossing_limit {
	CROSSINGS = 4096,          /* source nodes, times destinations, times places of this host */
	CROSSING_BLOCKS = 16,      /* counts of a record; blocks with the same number % 16 share one */
	CROSSING_BLOCK_SHIFT = 30, /* a block is 2^30 ns of the source's time */
};

/* Where on a host packets are counted. */
enum crossing_place {
	CROSSING_TAGGED = 1,   /* by the source */
	CROSSING_ARRIVED = 2,  /* at the ingress of a transit hop */
	CROSSING_DEPARTED = 3, /* at its egress, in front of the queue */
	CROSSING_SENT = 4,     /* behind the queue */
	CROSSING_RECEIVED = 5, /* by the sink */
};

struct crossing_key {
	__u32 source_node;
	__u32 dest; /* of the destination address: dest_tag() */
	__u32 ifindex;
	__u32 place; /* enum crossing_place */
};

/* Packets since the record was made; superpackets count as their segments. All CPUs add to them. */
struct crossing {
	__u32 ttl;                      /* TTL or hop limit of the packets; 0: none came yet */
	__u32 ttl_from;                 /* the first block in which all packets have this one */
	__u64 packets[CROSSING_BLOCKS]; /* by the block's number % CROSSING_BLOCKS */
};

#endif
