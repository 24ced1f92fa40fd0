/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Puts an option with INT behind a datagram's data (RFC 9868). The UDP length stays, so receivers that do not know options
 * take the data as it was sent. Checksums over the IP packet's whole length hold, too: with its own checksum, the area of
 * options adds up to minus its length, by which the length in a pseudo header may differ.
 */
#ifndef HOSTINT_SOURCE_DATAGRAM_OPTION_H
#define HOSTINT_SOURCE_DATAGRAM_OPTION_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/int_option.h"
#include "int/option.h"
#include "kernel/clock.h"
#include "kernel/device_mtu.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "packet/put_bytes.h"
#include "source/attachment.h"
#include "source/checksum.h"
#include "source/flow_numbers.h"
#include "source/missed.h"
#include "source/option_fill.h"
#include "source/outgoing.h"
#include "source/plan.h"
#include "source/tagged.h"

/* Says whether there may be options behind the datagram; if not, it is counted. */
static __always_inline bool takes_option(struct __sk_buff *ctx, struct outgoing_packet *p, const struct source_flow *f)
{
	__u32 room = datagram_room(bpf_ntohs(p->l4.udp.len));

	p->segments = 1;
	if (ctx->gso_size) {
		leave_superpacket(ctx, p);
		return false;
	}
	/* Something is behind the IP packet. */
	if (p->frame_len != p->at.l3 + p->at.ip_len) {
		count_missed(COUNT_SOURCE_NO_OPTION, 1, p->frame_len);
		return false;
	}
	if (check_size(p, room, path_limit(p, f, skb_mtu(ctx, redirect_ifindex))) != SOURCE_WATCHED)
		return false;
	if (read_checksum_state(ctx, p))
		return true;
	count_missed(COUNT_SOURCE_NO_CHECKSUM_STATE, 1, p->frame_len);
	return false;
}

/* Counts in the IP header the room behind the datagram. Returns false if nothing was written. */
static __always_inline bool lengthen_ip(struct __sk_buff *ctx, struct outgoing_packet *p, __u32 room)
{
	__u16 len = p->at.ip_len + room;

	if (p->at.family == 4) {
		struct iphdr *ip = out_ipv4(p);

		ip_change(ip, ip->tos, len, ip->protocol);
		return !put_bytes(ctx, p->at.l3, ip, IP4_LEN);
	}
	ipv6_change(out_ipv6(p), p->at.tos, len - IP6_LEN);
	return !put_bytes(ctx, p->at.l3, out_ipv6(p), IP6_LEN);
}

/*
 * A device that finishes the checksum adds up to the packet's end, so what it begins with takes the area's length back.
 * Returns false if that could not be written.
 */
static __always_inline bool keep_checksum(struct __sk_buff *ctx, const struct outgoing_packet *p, __u32 room)
{
	__u16 begun = csum_fold((__u64)p->l4.udp.check + bpf_htons(room));

	return !p->unfinished ||
	       !put_bytes(ctx, p->at.l4 + __builtin_offsetof(struct udphdr, check), &begun, sizeof(begun));
}

/* f is the record of the flow, or NULL if there was no room for it. */
static __always_inline int tag_datagram(struct __sk_buff *ctx, const struct host_settings *host,
					struct outgoing_packet *p, struct source_flow *f, bool locked)
{
	__u32 udp_len = bpf_ntohs(p->l4.udp.len), room = datagram_room(udp_len), at = p->at.l4 + udp_len;
	struct int_option option = { .kind = INT_DATAGRAM_KIND, .length = INT_OPTION_LEN };
	struct datagram_option area = {};
	struct flow_number number;
	__u8 padding = 0;
	__u64 now;

	if (!f || bpf_skb_change_tail(ctx, p->frame_len + room, 0)) {
		count_missed(f ? COUNT_SOURCE_CANNOT_RESIZE : COUNT_SOURCE_TABLE_FULL, 1, p->frame_len);
		return TCX_NEXT;
	}
	p->encapsulation = ENCAP_OPTIONS;
	now = now_ns(host);
	next_numbers(f, 1, now, locked, &number);
	option.id = bpf_htons(INT_OPTION_ID);
	option.size = bpf_htons(udp_len - UDP_LEN);
	fill_content(&option, host, &number, now);
	area.option = option;
	area.check = csum_neg(datagram_sum(&area, room));
	if ((udp_len & 1 && put_bytes(ctx, at, &padding, sizeof(padding))) ||
	    put_bytes(ctx, at + (udp_len & 1), &area, sizeof(area)) || !keep_checksum(ctx, p, room) ||
	    !lengthen_ip(ctx, p, room)) {
		count_source(COUNT_SOURCE_DROPPED, 1, p->frame_len);
		return TCX_DROP;
	}
	count_tagged(p, f, p->at.ip_len, locked);
	return TCX_NEXT;
}

#endif
