/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A packet that carries INT: what is taken from it before anything is changed. */
#ifndef HOSTINT_SINK_TAGGED_H
#define HOSTINT_SINK_TAGGED_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "int/block.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/arrival.h"
#include "sink/counters.h"

struct tagged_packet {
	struct layout at;
	struct layout inner; /* vxlan-gpe: the original packet's */
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} base; /* fixed IP header; vxlan-gpe: the original packet's */
	union {
		struct udphdr udp;
		struct tcphdr tcp;
	} l4; /* as ports are read from it; extension-udp, vxlan-gpe: the original one */
	__u8 options[MAX_OPTIONS_LEN];
	struct arrival_facts facts;
	struct flow_news news;
	__u64 frame_len;
	__u64 allowed_ns;
	__u16 l4_len;
	__u16 orig_len; /* IP packet as sent */
	__u8 outer_tos; /* vxlan-gpe: what the way made of it */
	__u8 outer_ttl;
	__u16 int_check; /* the INT block's words, folded */
	__u8 dscp;
	__u8 has_queue;
	__u8 by_host_int;
	__u8 bad_segment;
	__u32 queue_packets;
	__u32 queue_bytes;
	__u32 egress_ts;
	__u16 ingress_port;
	__u16 headers_len; /* vxlan-gpe: IP and L4 headers of each segment */
	__u64 nic_ns;      /* arrival by the network card's clock; 0: unknown */
};

enum sink_read {
	SINK_NOT_MARKED,
	SINK_REFUSED, /* counted */
	SINK_SHORT,   /* INT announced, but its bytes are not at hand */
	SINK_TAGGED,
};

/*
 * One packet at a time and CPU. Not on the stack: the verifier remembers every constant that was stored
 * there and would walk the rest of the program once for each combination.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tagged_packet);
} sink_scratch SEC(".maps");

static __always_inline struct tagged_packet *tagged(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sink_scratch, &zero);
}

static __always_inline enum sink_read refuse(enum sink_counter reason, __u64 frame_len)
{
	count_sink(reason, 1, frame_len);
	return SINK_REFUSED;
}

/* Bytes behind `end`: short as long as the frame has more of them. */
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
