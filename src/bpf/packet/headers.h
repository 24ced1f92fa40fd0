/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares Ethernet, VLAN, IP, UDP and TCP headers as they are on the wire. They are never relocated. */
#ifndef HOSTINT_PACKET_HEADERS_H
#define HOSTINT_PACKET_HEADERS_H

#include "kernel/kernel.h"

enum {
	ETH_HLEN = 14,
	ETH_P_IP = 0x0800,
	ETH_P_IPV6 = 0x86dd,
	ETH_P_8021Q = 0x8100,
	ETH_P_8021AD = 0x88a8,
	VLAN_HLEN = 4,
	VLAN_NUMBER = 0xfff, /* in the tag control information */
	IPPROTO_HOPOPTS = 0,
	IPPROTO_ICMP = 1,
	IPPROTO_ROUTING = 43,
	IPPROTO_FRAGMENT = 44,
	IPPROTO_ICMPV6 = 58,
	IPPROTO_DSTOPTS = 60,
	IPPROTO_TCP = 6,
	IPPROTO_UDP = 17,
	IP_DF = 0x4000,
	IP_MF = 0x2000,
	IP_OFFSET = 0x1fff,
};

struct ethhdr {
	__u8 h_dest[6];
	__u8 h_source[6];
	__be16 h_proto;
} __attribute__((packed));

struct iphdr {
	__u8 version_ihl;
	__u8 tos;
	__be16 tot_len;
	__be16 id;
	__be16 frag_off;
	__u8 ttl;
	__u8 protocol;
	__sum16 check;
	__be32 saddr;
	__be32 daddr;
};

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

struct ipv6hdr {
	__be32 version_class_flow; /* version 4, traffic class 8, flow label 20 */
	__be16 payload_len;
	__u8 nexthdr;
	__u8 hop_limit;
	__be32 saddr[4];
	__be32 daddr[4];
};

struct udphdr {
	__be16 source;
	__be16 dest;
	__be16 len;
	__sum16 check;
};

struct tcphdr {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack_seq;
	__u8 doff; /* data offset in words << 4 */
	__u8 flags;
	__be16 window;
	__sum16 check;
	__be16 urg_ptr;
};

enum tcp_flag {
	TCP_FIN = 1,
	TCP_SYN = 2,
	TCP_RST = 4,
};

enum {
	IP4_LEN = sizeof(struct iphdr),
	IP6_LEN = sizeof(struct ipv6hdr),
	MAX_VLAN_TAGS = 2,
	MAX_EXTENSION_HEADERS = 4, /* IPv6 extension headers that are read */
};

static __always_inline bool is_fragment(__be16 frag_off)
{
	return frag_off & bpf_htons(IP_MF | IP_OFFSET);
}

static __always_inline bool is_vlan(__be16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD);
}

/* Writes IPv4 addresses as IPv6 does, ::ffff:a.b.c.d. */
static __always_inline void map_addresses(const struct iphdr *ip, __be32 *saddr, __be32 *daddr)
{
	saddr[0] = saddr[1] = daddr[0] = daddr[1] = 0;
	saddr[2] = daddr[2] = bpf_htonl(0xffff);
	saddr[3] = ip->saddr;
	daddr[3] = ip->daddr;
}

/* Compares without a branch for each word, as the verifier would follow each branch. */
static __always_inline bool same_addresses(const __be32 *saddr, const __be32 *daddr, const __be32 *other_saddr,
					   const __be32 *other_daddr)
{
	__u32 differ = 0;

#pragma unroll
	for (int i = 0; i < 4; i++)
		differ |= (saddr[i] ^ other_saddr[i]) | (daddr[i] ^ other_daddr[i]);
	return !differ;
}

static __always_inline bool is_l4(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

static __always_inline __u8 ipv6_class(const struct ipv6hdr *ip)
{
	return bpf_ntohl(ip->version_class_flow) >> 20;
}

#endif
