/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the packet that the source is working on: its facts, and the headers that will be written. */
#ifndef HOSTINT_SOURCE_OUTGOING_H
#define HOSTINT_SOURCE_OUTGOING_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/ioam.h"
#include "hostint/missed.h"
#include "hostint/wire.h"
#include "kernel/single_value.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "source/attachment.h"
#include "watch/list.h"

enum {
	SUM_CHUNK = 512,
};

struct outgoing_packet {
	struct layout at;
	struct flow_key key;
	union {
		struct udphdr udp;
		struct tcphdr tcp;
	} l4;
	__u64 frame_len;
	__u32 l4_len; /* length of the fixed part of the L4 header */
	__u32 l4_header_len;
	__u32 ifindex;
	__u32 encapsulation; /* chosen for this packet */
	__u32 segments;
	__u32 segment_size; /* 0: no superpacket */
	__u64 now_ns;       /* coarse monotonic clock; not of static destinations */
	__u64 leased_ns;    /* until then the form holds without looking at the lease */
	__u32 reason;  /* enum source_counter, of a packet that stays untagged; COUNT_SOURCE_MAX: follows from left */
	__u32 untold;  /* packets of the flow that the lease's counts lack */
	__u32 longest; /* as in struct source_lease */
	__u32 leases_serial; /* before the look at the lease */
	__u32 fence;
	__u8 form;      /* enum flow_form */
	__u8 left;      /* enum flow_left */
	__u8 told_as;   /* place of the untold packets in the lease's counts */
	__u8 stack;     /* as in struct source_flow */
	bool at_xdp;    /* only extension-udp is possible */
	bool begins;    /* the flow begins with this packet, whether the table had a record of its key or not */
	bool repeats;   /* the segment has no new data */
	bool is_unseen; /* in options: if it is tagged, the sink counts it at once */
	__s16 timeouts; /* what timeouts_of() says of a segment that may be repeated */
	struct watching watching;
	__u32 queue_packets;
	__u32 queue_bytes;
	__u16 sum;       /* of the whole L4 segment, for Host-INT sinks */
	bool unfinished; /* the L4 checksum is left to the device */
	bool fixed_gso;
	bool sink_gets_segments; /* of superpackets of UDP: the sink strips none of them whole */
	struct missed_key pair;  /* where the packet is counted; the stack has no room for it */
	__u8 options[MAX_OPTIONS_LEN];
	/* The headers that will be stored; the fixed IP header ends where the body begins. */
	struct {
		__u8 base[IP6_LEN];
		union {
			struct {
				struct udphdr udp;
				struct int_block block;
			} udp;
			struct {
				struct tcphdr tcp;
				struct int_block block;
			} tcp;
			struct {
				struct udphdr udp;
				struct int_md_block block;
			} md_udp;
			struct {
				struct tcphdr tcp;
				struct int_md_block block;
			} md_tcp;
			struct {
				struct udphdr udp;
				struct gpe_block block;
				__be32 latency; /* room for the hop latency, which stands within the block */
			} gpe;
			struct {
				struct ioam_head head;
				__be32 room[(IOAM_MOST_LEN - IOAM_HEAD_LEN) / 4];
			} ioam;
		};
	} out;
	__u8 chunk[SUM_CHUNK + 4];
};

/* Each CPU works on one packet at a time. kernel/single_value.h says why it is not kept on the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct outgoing_packet);
} source_scratch SEC(".maps");

static __always_inline struct outgoing_packet *outgoing(void)
{
	return single_value(&source_scratch);
}

static __always_inline bool is_tcp(const struct outgoing_packet *p)
{
	return p->at.protocol == IPPROTO_TCP;
}

static __always_inline bool is_ioam(const struct outgoing_packet *p)
{
	return encapsulation == ENCAP_IOAM && p->encapsulation == ENCAP_IOAM;
}

/* Says whether packets for which the setting names no form that passes get another one. */
static __always_inline bool chooses_form(void)
{
	return encapsulation == ENCAP_TUNNEL || encapsulation == ENCAP_IOAM;
}

static __always_inline void *out_ip(struct outgoing_packet *p)
{
	return p->out.base + IP6_LEN - fixed_ip_len(&p->at);
}

static __always_inline struct iphdr *out_ipv4(struct outgoing_packet *p)
{
	return (void *)(p->out.base + IP6_LEN - IP4_LEN);
}

static __always_inline struct ipv6hdr *out_ipv6(struct outgoing_packet *p)
{
	return (void *)p->out.base;
}

#endif
