/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Restores a received packet's headers as the sender wrote them: lengths, checksums, DSCP. */
#ifndef HOSTINT_SINK_RESTORE_H
#define HOSTINT_SINK_RESTORE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "sink/tagged.h"

/* Returns the bytes that are taken out of the packet. */
static __always_inline __u32 int_len(const struct tagged_packet *p)
{
	return (p->at.ip_len - p->orig_len) & 0x1ff;
}

/*
 * Returns the L4 checksum without the INT block, if all transit hops updated it. This is right for finished checksums,
 * and for those that the sender's stack left to a device that never finished them; see hostint-wire(7).
 */
static __always_inline __u16 checksum_without_int(__u16 check, const struct tagged_packet *p)
{
	return csum_fold((__u64)check + bpf_htons(INT_BLOCK_LEN + p->grown) + p->int_check);
}

/* Adds up the pseudo header of L4 with this length. The words of a mapped address that IPv4 has not add up to 0. */
static __always_inline __u64 pseudo_words(const struct tagged_packet *p, __u16 len)
{
	return csum_words(p->facts.key.saddr, 16) + csum_words(p->facts.key.daddr, 16) + bpf_htons(len) +
	       bpf_htons((__u8)p->facts.key.layers);
}

static __always_inline void restore_ip(struct tagged_packet *p, __u8 tos, __u16 ip_len)
{
	if (p->at.family == 4)
		ip_change(&p->base.ip4, tos, ip_len, p->base.ip4.protocol);
	else
		ipv6_change(&p->base.ip6, tos, ip_len - IP6_LEN);
}

static __always_inline void restore_behind_l4(struct tagged_packet *p, const struct sink_settings *set)
{
	__u16 fresh = csum_neg(p->stale);
	__u8 ecn = p->at.tos & 3;

	restore_ip(p, p->dscp ? (p->dscp & ~3) | ecn : p->at.tos & ~set->tos_mask, p->orig_len);
	if (p->l4_len == TCP_BASE_LEN) {
		p->l4.tcp.check = csum_tcp(csum_fold((__u64)checksum_without_int(p->l4.tcp.check, p) + fresh));
		return;
	}
	/* The UDP length is in the header and in the pseudo header, so it counts twice. */
	if (p->l4.udp.check)
		p->l4.udp.check = csum_udp(csum_fold((__u64)checksum_without_int(p->l4.udp.check, p) +
						     bpf_htons(INT_BLOCK_LEN + p->grown) + fresh));
	p->l4.udp.len = bpf_htons(bpf_ntohs(p->l4.udp.len) - INT_BLOCK_LEN - p->grown);
}

/* The last header before the extra one names UDP; the original protocol is in the flow's key. */
static __always_inline void restore_extension(struct tagged_packet *p)
{
	__u8 protocol = p->facts.key.layers;

	if (p->at.family == 4) {
		ip_change(&p->base.ip4, p->at.tos, p->orig_len, protocol);
		return;
	}
	ipv6_change(&p->base.ip6, p->at.tos, p->orig_len - IP6_LEN);
	if (!p->at.options_len)
		p->base.ip6.nexthdr = protocol;
}

/* Congestion, traffic class and hop limit are taken from the outer header, as if there had been no tunnel. */
static __always_inline void restore_gpe(struct tagged_packet *p)
{
	if (p->at.family == 4) {
		ip_change_ttl(&p->base.ip4, p->outer_ttl);
		ip_change(&p->base.ip4, p->outer_tos, p->orig_len, p->base.ip4.protocol);
		return;
	}
	ipv6_change(&p->base.ip6, p->outer_tos, p->orig_len - IP6_LEN);
	p->base.ip6.hop_limit = p->outer_ttl;
}

static __always_inline void restore_ioam(struct tagged_packet *p)
{
	p->base.ip6.payload_len = bpf_htons(p->orig_len - IP6_LEN);
	p->base.ip6.nexthdr = p->at.protocol;
}

static __always_inline void restore_headers(struct tagged_packet *p, const struct sink_settings *set)
{
	switch (p->facts.encapsulation) {
	case ENCAP_OVER_TCP_UDP:
	case ENCAP_INT_MD:
		restore_behind_l4(p, set);
		break;
	case ENCAP_EXTENSION_UDP:
		restore_extension(p);
		break;
	case ENCAP_IOAM:
		restore_ioam(p);
		break;
	default:
		restore_gpe(p);
	}
}

#endif
