/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the packet that the sink is working on, as it was read before any change. */
#ifndef HOSTINT_SINK_TAGGED_H
#define HOSTINT_SINK_TAGGED_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/lease.h"
#include "hostint/sink_path.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "kernel/single_value.h"
#include "packet/headers.h"
#include "packet/l4_front.h"
#include "packet/layout.h"
#include "sink/arrival.h"
#include "sink/counters.h"

struct tagged_packet {
	struct layout at;
	struct layout inner; /* vxlan-gpe: layout of the original packet */
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} base;             /* fixed IP header; vxlan-gpe: of the original packet */
	union l4_header l4; /* L4 header with the flow's ports; extension-udp, vxlan-gpe: of the original packet */
	__u8 options[MAX_OPTIONS_LEN];
	struct arrival_facts facts;
	struct flow_news news;
	struct lease_probe probe;
	__u32 probe_form; /* enum lease_form, by the headers around the probe */
	__u64 frame_len;
	__u64 allowed_ns;     /* what allowed_until() found; 0: not looked up, because the flow's record knows it */
	__u32 allowed_serial; /* of the grants before the look */
	__u32 fence;
	__u16 l4_len;
	__u16 orig_len; /* length of the IP packet as sent */
	__u8 outer_tos; /* vxlan-gpe: as the path may have changed it */
	__u8 outer_ttl;
	__u16 int_check; /* folded sum of the INT block's words */
	__u8 dscp;       /* original DSCP << 2, and bit 0 set; 0: not stated */
	__u8 has_queue;
	__u8 by_host_int;
	__u8 bad_segment; /* superpackets: number of segments if it is not known which ones they are; else 0 */
	__u32 queue_packets;
	__u32 queue_bytes;
	__u32 egress_ts;
	__u16 ingress_port;
	__u16 headers_len; /* vxlan-gpe: length of the IP and L4 headers of each segment */
	__u64 nic_ns;      /* arrival time by the network card; 0: unknown */
	__u16 grown; /* bytes by which the block is longer than as it is without pushed hops and further items; in INT-MD
			      than struct int_block */
	__u16 hops_at;   /* offset of the newest entry */
	bool no_area;    /* what stands behind the datagram's data is no INT */
	bool behind_l4;  /* INT stands behind the L4 header, whose checksum counts it: over-tcp-udp, INT-MD */
	bool had_budget; /* hops may have pushed entries */
	__u8 hops;       /* entries that transit hops pushed */
	__u8 hop_words;  /* words of each entry */
	__u16 hop_items; /* its instruction bitmap */
	__u8 checked;    /* enum checksum_proof */
	__u16 stale;     /* what transit hops changed without updating the L4 checksum */
	/* These are filled if the checksum is verified: sink/whole_sum.h, sink/pushers.h. */
	__u32 rest_at;
	__u16 rest_len;
	__u16 rest_sum;
	__u16 leftover;
	__u16 leftover_unfinished;
	__u16 explained;
	__u16 changes[INT_MAX_PUSHED];
	__be32 entries[INT_MAX_PUSHED][MAX_HOP_WORDS]; /* newest first */
	/* These are filled if the packet's times are counted: sink/paths.h. */
	struct sink_path path;
	__u64 path_id;
	__u32 hop_ingress[INT_MAX_PUSHED];    /* newest first */
	__u32 hop_egress[2 * INT_MAX_PUSHED]; /* newest first, and then the source's */
};

/* What the L4 checksum of a packet in over-tcp-udp or INT-MD proves. */
enum checksum_proof {
	CHECKSUM_UNCHECKED,
	CHECKSUM_RIGHT,
	CHECKSUM_WRONG,
	CHECKSUM_PROVES_NOTHING, /* the packet cannot be read to its end */
};

enum sink_read {
	SINK_NOT_MARKED,
	SINK_REFUSED, /* counted */
	SINK_SHORT,   /* INT is announced, but lies beyond the bytes that can be read */
	SINK_TAGGED,
	SINK_PROBE,
	SINK_BEHIND_L4,   /* marked by its DSCP: read_behind_l4() reads the rest */
	SINK_IN_OPTION,   /* in an option of its TCP header: read_int_option() reads it */
	SINK_BEHIND_DATA, /* perhaps in an option behind its data: read_datagram_option() finds out */
};

/* Each CPU works on one packet at a time. kernel/single_value.h says why it is not kept on the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tagged_packet);
} sink_scratch SEC(".maps");

static __always_inline struct tagged_packet *tagged(void)
{
	return single_value(&sink_scratch);
}

static __always_inline enum sink_read refuse(enum sink_counter reason, __u64 frame_len)
{
	count_sink(reason, 1, frame_len);
	return SINK_REFUSED;
}

/* If bytes are missing at `end`, the packet is short if the frame has more of them, and refused if not. */
static __always_inline enum sink_read short_or_refuse(void *data, void *end, enum sink_counter reason, __u64 frame_len)
{
	return frame_len > (__u64)(end - data) ? SINK_SHORT : refuse(reason, frame_len);
}

static __always_inline enum sink_read refuse_block(enum int_verdict verdict, __u64 frame_len)
{
	switch (verdict) {
	case INT_BAD_SHIM:
		return refuse(COUNT_SINK_BAD_SHIM, frame_len);
	case INT_BAD_VERSION:
		return refuse(COUNT_SINK_BAD_VERSION, frame_len);
	case INT_BAD_BITMAP:
		return refuse(COUNT_SINK_BAD_BITMAP, frame_len);
	default:
		return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
	}
}

#endif
