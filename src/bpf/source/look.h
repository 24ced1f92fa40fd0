/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looks at a packet's headers and decides whether it may be tagged. Nothing is changed yet. */
#ifndef HOSTINT_SOURCE_LOOK_H
#define HOSTINT_SOURCE_LOOK_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/ioam.h"
#include "hostint/lease.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/mark.h"
#include "int/mx_block.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "source/counters.h"
#include "source/missed.h"
#include "source/outgoing.h"
#include "source/watch_rules.h"
#include "watch/list.h"

enum source_look {
	SOURCE_LEAVE, /* counted, if it is not a probe */
	SOURCE_SHORT, /* headers lie beyond the bytes that can be read */
	SOURCE_WATCHED,
};

static __always_inline enum source_look leave(enum source_counter reason, __u64 bytes)
{
	count_source(reason, 1, bytes);
	return SOURCE_LEAVE;
}

/* Leaves a packet that cannot be tagged, whatever the lease. */
static __always_inline enum source_look leave_packet(const struct outgoing_packet *p, enum source_counter reason)
{
	if (p->watching.watched >= WATCHED)
		count_missed(reason, p->segments > 1 ? p->segments : 1, p->frame_len);
	else
		count_source(reason, 1, p->frame_len);
	return SOURCE_LEAVE;
}

static __always_inline enum source_look leave_unwatched(const struct outgoing_packet *p)
{
	if (p->watching.watched == NOT_SAMPLED)
		count_missed(COUNT_SOURCE_NOT_SAMPLED, p->segments > 1 ? p->segments : 1, p->frame_len);
	else
		count_source(p->watching.watched == EXCLUDED ? COUNT_SOURCE_EXCLUDED : COUNT_SOURCE_UNWATCHED, 1,
			     p->frame_len);
	return SOURCE_LEAVE;
}

/* Tagged packets and probes of a lease use these ports; those of TCP have the same place. */
static __always_inline bool is_to_own_port(const struct outgoing_packet *p)
{
	return p->l4.udp.dest == extension_port || p->l4.udp.dest == bpf_htons(GPE_PORT) ||
	       p->l4.udp.dest == bpf_htons(LEASE_STRAY_PORT);
}

/* Says whether a sink would find INT in the packet as it is. */
static __always_inline bool has_int(const struct outgoing_packet *p, void *l4, void *end)
{
	struct int_block *block = l4 + (p->at.protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN);

	if (is_to_own_port(p))
		return true;
	if (has_md_mark(p->at.tos) && (void *)(block + 1) <= end && is_md_or_mx(block))
		return true;
	return (p->at.tos & tos_mask) == tos_value && (void *)(block + 1) <= end && check_int_block(block) == INT_VALID;
}

/* Says whether hostint's own options stand where others would be; only probes in ioam come here with them. */
static __always_inline bool has_ioam(void *data, void *end, const struct outgoing_packet *p)
{
	struct ioam_head *head = at_offset(data, p->at.l3 + IP6_LEN);

	return p->at.family == 6 && (void *)(head + 1) <= end && head->own_type == IOAM_OWN_TYPE &&
	       head->own_magic == bpf_htons(IOAM_MAGIC);
}

/* Probes leave as they are, and are not worth a count: nothing is wrong with them. */
static __always_inline bool is_lease_probe(const struct outgoing_packet *p)
{
	__u16 number = bpf_ntohs(p->l4.udp.source) - LEASE_PROBE_PORT;

	return number < LEASE_PROBES && is_to_own_port(p);
}

static __always_inline bool is_report(const struct host_settings *host, __be16 dport)
{
	for (__u32 i = 0; i < MAX_REPORT_PORTS; i++)
		if (i < host->report_port_count && host->report_port[i] == dport)
			return true;
	return false;
}

static __always_inline bool is_group(void *data, const struct outgoing_packet *p)
{
	__be32 first = p->key.daddr[0], last = p->key.daddr[3];

	if (*(__u8 *)data & 1)
		return true;
	if (p->at.family == 6)
		return (first & bpf_htonl(0xff000000)) == bpf_htonl(0xff000000);
	/* 224.0.0.0/4 and limited broadcast */
	return (last & bpf_htonl(0xf0000000)) == bpf_htonl(0xe0000000) || last == 0xffffffff;
}

/* Most packets are not watched, so those leave as early as possible. */
static __always_inline enum source_look look(void *data, void *end, __u32 outer_vlan, __u32 vlan_tags,
					     const struct host_settings *host, struct outgoing_packet *p)
{
	enum layout_verdict found = find_layout(data, end, outer_vlan, &p->at);
	__u64 frame_len = p->frame_len;
	bool more = frame_len > (__u64)(end - data);
	__u32 header_len;
	void *l4;

	if (found == LAYOUT_NOT_IP || found == LAYOUT_NO_L4)
		return leave(COUNT_SOURCE_OTHER_PROTOCOL, frame_len);
	if (found == LAYOUT_SHORT)
		return more ? SOURCE_SHORT : leave(COUNT_SOURCE_OTHER_PROTOCOL, frame_len);
	barrier();
	if (!fill_key(data, end, &p->at, &p->key))
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (p->watching.watched == WATCH_UNKNOWN)
		watch_destination();
	if (p->watching.watched < WATCH_UNDECIDED)
		return leave_unwatched(p);
	p->l4_header_len = 0;
	if (found == LAYOUT_TOO_DEEP) {
		/* Where the L4 header begins is not known, so headers of further segments count no bytes. */
		p->at.l4 = p->at.l3;
		p->at.ip_len = frame_len - p->at.l3;
		return encapsulation == ENCAP_IOAM && has_ioam(data, end, p) ? SOURCE_LEAVE :
									       leave_packet(p, COUNT_SOURCE_IP_OPTIONS);
	}
	if (found == LAYOUT_MALFORMED)
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (p->at.vlan_tags + vlan_tags > 2)
		return leave_packet(p, COUNT_SOURCE_VLAN);
	if (is_group(data, p))
		return leave_packet(p, COUNT_SOURCE_GROUP_ADDRESS);
	if (p->at.fragment)
		return leave_packet(p, COUNT_SOURCE_FRAGMENT);
	/* This header will stand before INT; it is changed later. */
	if (!load_ip(data, end, p->at.l3, p->at.family, out_ip(p)))
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	l4 = at_offset(data, p->at.l4);
	if (l4 + UDP_LEN > end)
		return more ? SOURCE_SHORT : leave(COUNT_SOURCE_MALFORMED, frame_len);
	header_len = p->at.l4 - p->at.l3;
	p->l4.udp = *(struct udphdr *)l4;
	p->l4_len = UDP_LEN;
	p->l4_header_len = UDP_LEN;
	if (p->at.protocol == IPPROTO_TCP) {
		if (l4 + TCP_BASE_LEN > end)
			return more ? SOURCE_SHORT : leave(COUNT_SOURCE_MALFORMED, frame_len);
		p->l4.tcp = *(struct tcphdr *)l4;
		p->l4_len = TCP_BASE_LEN;
		p->l4_header_len = (p->l4.tcp.doff >> 4) * 4;
	}
	p->key.sport = p->l4.udp.source;
	p->key.dport = p->l4.udp.dest;
	if (p->watching.watched == WATCH_UNDECIDED) {
		decide();
		if (p->watching.watched < WATCHED)
			return leave_unwatched(p);
	}
	/* BIG TCP packets are longer than an IP header can state. */
	if (p->segments > 1 && frame_len - p->at.l3 > 0xffff)
		return leave_packet(p, COUNT_SOURCE_SUPERPACKET);
	if (p->l4_header_len < p->l4_len || p->at.ip_len < header_len + p->l4_header_len ||
	    p->at.ip_len > frame_len - p->at.l3)
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (is_lease_probe(p))
		return SOURCE_LEAVE;
	if (p->at.protocol == IPPROTO_UDP) {
		if (bpf_ntohs(p->l4.udp.len) != p->at.ip_len - header_len)
			return leave(COUNT_SOURCE_MALFORMED, frame_len);
		if (is_report(host, p->l4.udp.dest))
			return leave(COUNT_SOURCE_REPORT, frame_len);
	}
	if (has_any_mark(p->at.tos) && more && l4 + TCP_BASE_LEN + INT_BLOCK_LEN > end)
		return SOURCE_SHORT;
	if (has_int(p, l4, end))
		return leave(COUNT_SOURCE_HAS_INT, frame_len);
	return SOURCE_WATCHED;
}

#endif
