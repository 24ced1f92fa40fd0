/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the headers of over-tcp-udp and extension-udp from those of the original packet. */
#ifndef HOSTINT_SOURCE_PUSH_H
#define HOSTINT_SOURCE_PUSH_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "source/attachment.h"
#include "source/budget.h"
#include "source/flow_numbers.h"
#include "source/outgoing.h"

static __always_inline void fill_block(struct int_block *b, const struct outgoing_packet *p, __u32 node_id, __u64 now,
				       const struct flow_number *number)
{
	b->type = INT_TYPE;
	b->flags = full_checksum ? 0 : INT_FLAG_CHECKSUM | number->age_code;
	if (budget(p))
		b->flags |= INT_FLAG_BUDGET;
	b->length = INT_BLOCK_WORDS;
	b->dscp = 0;
	b->version = 0;
	b->ins_count = INT_INS_COUNT;
	b->max_hops = p->stack ? 1 + budget(p) : INT_MAX_HOPS;
	b->total_hops = 1;
	b->bitmap = bpf_htons(INT_BITMAP);
	b->reserved = 0;
	b->node_id = bpf_htonl(node_id);
	b->ingress_port = bpf_htons(p->ifindex);
	b->egress_port = b->ingress_port;
	b->ingress_ts = bpf_htonl((__u32)now);
	b->egress_ts = b->ingress_ts;
	b->sequence = bpf_htonl(number->sequence);
	b->tail1 = 0;
	b->tail2 = 0;
}

/* Changes the fixed IP header, which look() copied from the packet. */
static __always_inline void change_out_ip(struct outgoing_packet *p, __u8 tos, __u32 ip_len, __u8 protocol)
{
	if (p->at.family == 4) {
		ip_change(out_ipv4(p), tos, ip_len, protocol);
		return;
	}
	ipv6_change(out_ipv6(p), tos, ip_len - IP6_LEN);
	if (!p->at.options_len)
		out_ipv6(p)->nexthdr = protocol;
}

/*
 * Returns the checksum of the extra UDP header, which IPv6 requires. Once the original segment's checksum is finished,
 * the segment adds up to minus its pseudo header, whose addresses are also those of the new pseudo header.
 */
static __always_inline __u16 extension_checksum(const struct outgoing_packet *p, const struct udphdr *udp,
						const struct int_block *block)
{
	__u32 old_len = p->at.ip_len - (p->at.l4 - p->at.l3);
	__u64 sum = (__u64)csum_neg(bpf_htons(p->at.protocol)) + csum_neg(bpf_htons(old_len));

	if (p->at.protocol == IPPROTO_UDP && !p->l4.udp.check)
		return 0;
	sum += bpf_htons(IPPROTO_UDP) + udp->len + csum_words(udp, UDP_LEN) + csum_words(block, INT_BLOCK_LEN);
	return csum_udp(csum_neg(csum_fold(sum)));
}

/* The original packet's L4 header does not change, and neither does its checksum, finished or not. */
static __always_inline void push_extension(struct outgoing_packet *p)
{
	struct udphdr *udp = &p->out.udp.udp;
	struct int_block *block = &p->out.udp.block;

	change_out_ip(p, p->at.tos, p->at.ip_len + EXTENSION_LEN, IPPROTO_UDP);
	udp->source = p->l4.udp.source;
	udp->dest = extension_port;
	udp->len = bpf_htons(p->at.ip_len - (p->at.l4 - p->at.l3) + EXTENSION_LEN);
	udp->check = 0;
	*(__u8 *)&block->tail1 = p->at.protocol;
	if (p->at.family == 6)
		udp->check = extension_checksum(p, udp, block);
}

/*
 * Updates the checksum of a TCP segment that now has INT after its first 20 bytes, without reading the payload. If it
 * is unfinished, the field holds only the pseudo header's sum. The device or the kernel will then add up everything
 * from the old L4 start on, and store the result at the old place of the field, which is now the tail's first word. So
 * the first word keeps the seed. The second word adds the TCP header, which is no longer in that sum, and subtracts the
 * words of INT that are.
 */
static __always_inline void tcp_checksum(struct tcphdr *tcp, void *block, const __u32 len, bool unfinished)
{
	const __u16 added = bpf_htons(len);
	__u16 *tail = block + len - 4, seed = tcp->check, header;

	if (!unfinished) {
		tcp->check = csum_tcp(
			csum_fold((__u64)seed + csum_neg(added) + csum_neg(csum_fold(csum_words(block, len)))));
		return;
	}
	tcp->check = 0;
	header = csum_fold(csum_words(tcp, TCP_BASE_LEN));
	tcp->check = csum_neg(csum_fold((__u64)added + header + csum_words(block, len - TCP_BASE_LEN)));
	tail[0] = seed;
	tail[1] = csum_fold((__u64)header + csum_neg(csum_fold(csum_words(block + len - TCP_BASE_LEN, 16))));
}

/* Does the same as tcp_checksum. The old place of the field is the tail's second word, and the length changes, too. */
static __always_inline void udp_checksum(struct udphdr *udp, void *block, const __u32 len, bool unfinished)
{
	const __u16 added = bpf_htons(len);
	__u16 *tail = block + len - 4, seed = udp->check, old_header;

	if (unfinished) {
		udp->check = 0;
		old_header = csum_fold(csum_words(udp, UDP_LEN));
		udp->len = bpf_htons(bpf_ntohs(udp->len) + len);
		udp->check = csum_udp(csum_neg(
			csum_fold((__u64)added + csum_words(udp, UDP_LEN) + csum_words(block, len - UDP_LEN))));
		tail[0] = csum_fold((__u64)old_header + csum_neg(csum_fold(csum_words(block + len - UDP_LEN, 4))));
		tail[1] = seed;
		return;
	}
	udp->len = bpf_htons(bpf_ntohs(udp->len) + len);
	if (seed) /* 0: the sender uses no checksum, so none is added */
		udp->check = csum_udp(csum_fold((__u64)seed + csum_neg(added) + csum_neg(added) +
						csum_neg(csum_fold(csum_words(block, len)))));
}

/* A Host-INT sink assumes that the tail is 0, so an unfinished checksum is finished here, with the payload's sum. */
static __always_inline void push_over_tcp_udp(struct outgoing_packet *p)
{
	bool unfinished = p->unfinished && !full_checksum;
	__u8 dscp = full_checksum ? 0 : p->at.tos & ~3;
	__u8 flag = full_checksum ? 0 : INT_FLAG_DSCP;

	change_out_ip(p, (p->at.tos & ~tos_mask) | tos_value, p->at.ip_len + INT_BLOCK_LEN, p->at.protocol);
	if (p->at.protocol == IPPROTO_TCP) {
		p->out.tcp.block.flags |= flag;
		p->out.tcp.block.dscp = dscp;
		p->out.tcp.tcp = p->l4.tcp;
		if (full_checksum && p->unfinished)
			p->out.tcp.tcp.check = csum_tcp(csum_neg(p->sum));
		tcp_checksum(&p->out.tcp.tcp, &p->out.tcp.block, INT_BLOCK_LEN, unfinished);
	} else {
		p->out.udp.block.flags |= flag;
		p->out.udp.block.dscp = dscp;
		p->out.udp.udp = p->l4.udp;
		if (full_checksum && p->unfinished)
			p->out.udp.udp.check = csum_udp(csum_neg(p->sum));
		udp_checksum(&p->out.udp.udp, &p->out.udp.block, INT_BLOCK_LEN, unfinished);
	}
}

#endif
