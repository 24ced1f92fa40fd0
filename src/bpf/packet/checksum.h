/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Computes and updates one's complement sums (RFC 1071, RFC 1624), in network byte order. */
#ifndef HOSTINT_PACKET_CHECKSUM_H
#define HOSTINT_PACKET_CHECKSUM_H

#include "kernel/kernel.h"
#include "packet/headers.h"

static __always_inline __u16 csum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Adds up bytes / 2 words; bytes must be a constant, so that the loop is unrolled. */
static __always_inline __u64 csum_words(const void *data, int bytes)
{
	const __u16 *word = data;
	__u64 sum = 0;
#pragma unroll
	for (int i = 0; i < bytes / 2; i++)
		sum += word[i];
	return sum;
}

/* Returns minus x in one's complement. */
static __always_inline __u16 csum_neg(__u16 x)
{
	return ~x;
}

/* A computed UDP checksum of 0 is sent as 0xffff (RFC 768). */
static __always_inline __u16 csum_udp(__u16 check)
{
	return check ? check : 0xffff;
}

/* Senders never compute 0xffff, as the sum of bytes that are not all zero is not 0. */
static __always_inline __u16 csum_tcp(__u16 check)
{
	return check == 0xffff ? 0 : check;
}

/* There are two zeros. */
static __always_inline __u16 csum_zero(__u16 sum)
{
	return sum == 0xffff ? 0 : sum;
}

/* Changes ToS, length and protocol of an IPv4 header, and its checksum. */
static __always_inline void ip_change(struct iphdr *ip, __u8 tos, __u16 tot_len, __u8 protocol)
{
	__u16 *words = (__u16 *)ip;
	__u64 sum = (__u64)csum_neg(ip->check) + csum_neg(words[0]) + csum_neg(words[1]) + csum_neg(words[4]);

	ip->tos = tos;
	ip->tot_len = bpf_htons(tot_len);
	ip->protocol = protocol;
	ip->check = csum_neg(csum_fold(sum + words[0] + words[1] + words[4]));
}

static __always_inline void ip_change_ttl(struct iphdr *ip, __u8 ttl)
{
	__u16 *word = (__u16 *)&ip->ttl;
	__u64 sum = (__u64)csum_neg(ip->check) + csum_neg(*word);

	ip->ttl = ttl;
	ip->check = csum_neg(csum_fold(sum + *word));
}

static __always_inline void ipv6_change(struct ipv6hdr *ip, __u8 class, __u16 payload_len)
{
	ip->version_class_flow = (ip->version_class_flow & bpf_htonl(0xf00fffff)) | bpf_htonl((__u32) class << 20);
	ip->payload_len = bpf_htons(payload_len);
}

#endif
