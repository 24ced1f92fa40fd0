/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Computes the headers without INT of a packet on the straight way, word by word, as sink/restore.h does it for any packet.
 * They are those in front of the payload (over-tcp-udp), or the IP header alone.
 */
#ifndef HOSTINT_SINK_STRAIGHT_RESTORE_H
#define HOSTINT_SINK_STRAIGHT_RESTORE_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"

enum {
	IP4_WORDS = IP4_LEN / 4,
	IP6_WORDS = IP6_LEN / 4,
};

/* An IP header, and a UDP header or the fixed part of a TCP header behind it. */
struct straight_words {
	__u32 word[IP6_WORDS + TCP_BASE_LEN / 4];
};

static __always_inline __u32 two_bytes_and_word(__u8 first, __u8 second, __be16 last)
{
	return bpf_htonl((__u32)first << 24 | (__u32)second << 16 | bpf_ntohs(last));
}

/* The IPv4 header of another ToS, length, TTL and protocol. */
static __always_inline void restore_ipv4_words(const struct iphdr *ip, __u8 tos, __u32 ip_len, __u8 ttl, __u8 protocol,
					       struct straight_words *to)
{
	const __u16 *old = (const __u16 *)ip;
	__u64 sum = (__u64)csum_neg(ip->check) + csum_neg(old[0]) + csum_neg(old[1]) + csum_neg(old[4]);

	sum += bpf_htons(0x4500 | tos) + bpf_htons(ip_len) + bpf_htons((__u16)ttl << 8 | protocol);
	to->word[0] = bpf_htonl(0x45000000U | (__u32)tos << 16 | ip_len);
	to->word[1] = ((const __u32 *)ip)[1];
	to->word[2] = two_bytes_and_word(ttl, protocol, csum_neg(csum_fold(sum)));
	to->word[3] = ip->saddr;
	to->word[4] = ip->daddr;
}

/* The IPv6 header of another traffic class, length, next header and hop limit. */
static __always_inline void restore_ipv6_words(const struct ipv6hdr *ip, __u8 class, __u32 ip_len, __u8 next,
					       __u8 hop_limit, struct straight_words *to)
{
	to->word[0] = (ip->version_class_flow & bpf_htonl(0xf00fffff)) | bpf_htonl((__u32) class << 20);
	to->word[1] = bpf_htonl((ip_len - IP6_LEN) << 16 | (__u32)next << 8 | hop_limit);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		to->word[2 + i] = ip->saddr[i];
		to->word[6 + i] = ip->daddr[i];
	}
}

/* Sums of 32-bit words and of their halves are the same in one's complement. */
static __always_inline __u64 block_sum(const struct int_block *b)
{
	const __u32 *word = (const __u32 *)b;
	__u64 sum = 0;

#pragma unroll
	for (int i = 0; i < INT_BLOCK_WORDS; i++)
		sum += word[i];
	return sum;
}

/* The UDP header without the block behind it, whose length counts twice, and without which a checksum of 0 stays 0. */
static __always_inline void restore_udp_words(const struct udphdr *udp, const struct int_block *b, __u32 *to)
{
	__u16 check = udp->check;

	if (check)
		check = csum_udp(csum_fold(check + 2 * bpf_htons(INT_BLOCK_LEN) + block_sum(b)));
	to[0] = *(const __u32 *)udp;
	to[1] = bpf_htonl((bpf_ntohs(udp->len) - INT_BLOCK_LEN) << 16 | bpf_ntohs(check));
}

static __always_inline void restore_tcp_words(const struct tcphdr *tcp, const struct int_block *b, __u32 *to)
{
	const __u32 *word = (const __u32 *)tcp;
	__u16 check = csum_tcp(csum_fold(tcp->check + bpf_htons(INT_BLOCK_LEN) + block_sum(b)));

	to[0] = word[0];
	to[1] = word[1];
	to[2] = word[2];
	to[3] = word[3];
	to[4] = bpf_htonl((__u32)bpf_ntohs(check) << 16 | bpf_ntohs(tcp->urg_ptr));
}

/* The headers of a packet in over-tcp-udp; all of them and the block can be read. */
static __always_inline void restore_over_words(void *data, struct straight_words *to, const __u8 family, const bool tcp)
{
	const __u32 words = family == 4 ? IP4_WORDS : IP6_WORDS;
	void *l3 = data + ETH_HLEN, *l4 = l3 + words * 4;
	const struct int_block *b = l4 + (tcp ? TCP_BASE_LEN : UDP_LEN);

	if (family == 4) {
		const struct iphdr *ip = l3;

		restore_ipv4_words(ip, (b->dscp & ~3) | (ip->tos & 3), bpf_ntohs(ip->tot_len) - INT_BLOCK_LEN, ip->ttl,
				   ip->protocol, to);
	} else {
		const struct ipv6hdr *ip = l3;

		restore_ipv6_words(ip, (b->dscp & ~3) | (ipv6_class(ip) & 3),
				   bpf_ntohs(ip->payload_len) + IP6_LEN - INT_BLOCK_LEN, ip->nexthdr, ip->hop_limit,
				   to);
	}
	if (tcp)
		restore_tcp_words(l4, b, to->word + words);
	else
		restore_udp_words(l4, b, to->word + words);
}

/* The IP header of a packet in extension-udp, whose original protocol is in the block. */
static __always_inline void restore_extension_words(void *data, struct straight_words *to, __u8 protocol,
						    const __u8 family)
{
	if (family == 4) {
		const struct iphdr *ip = data + ETH_HLEN;

		restore_ipv4_words(ip, ip->tos, bpf_ntohs(ip->tot_len) - EXTENSION_LEN, ip->ttl, protocol, to);
	} else {
		const struct ipv6hdr *ip = data + ETH_HLEN;

		restore_ipv6_words(ip, ipv6_class(ip), bpf_ntohs(ip->payload_len) + IP6_LEN - EXTENSION_LEN, protocol,
				   ip->hop_limit, to);
	}
}

/* The original IP header behind the block of vxlan-gpe, with what the path made of the outer one. */
static __always_inline void restore_gpe_words(void *data, const void *inner, struct straight_words *to,
					      const __u8 family)
{
	if (family == 4) {
		const struct iphdr *ip = inner, *outer = data + ETH_HLEN;

		restore_ipv4_words(ip, outer->tos, bpf_ntohs(ip->tot_len), outer->ttl, ip->protocol, to);
	} else {
		const struct ipv6hdr *ip = inner, *outer = data + ETH_HLEN;

		restore_ipv6_words(ip, ipv6_class(outer), bpf_ntohs(ip->payload_len) + IP6_LEN, ip->nexthdr,
				   outer->hop_limit, to);
	}
}

#endif
