/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds ICMP echo requests that may hold a lease question. */
#ifndef HOSTINT_LEASE_REQUEST_H
#define HOSTINT_LEASE_REQUEST_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "packet/headers.h"

struct icmp_echo {
	__u8 type;
	__u8 code;
	__sum16 check;
	__be16 id;
	__be16 number;
};

struct lease_echo {
	struct icmp_echo icmp;
	struct lease_message message;
};

struct lease_short_echo {
	struct icmp_echo icmp;
	struct lease_short_message message;
};

enum {
	ICMP_ECHO = 8,
	ICMPV6_ECHO = 128,
};

/* This echo request may hold a question. */
struct lease_request {
	__u32 icmp;     /* offset of the ICMP header */
	__u32 icmp_len; /* its length with the message, which tells the kinds of messages apart */
	__u8 type;      /* ICMP type of echo requests in this family */
	__be32 saddr[4];
	__be32 daddr[4];
};

static __always_inline bool is_lease_length(__u32 icmp_len)
{
	return icmp_len == sizeof(struct lease_echo) || icmp_len == sizeof(struct lease_short_echo);
}

/* Finds echo requests without IP options, whose length is exactly that of a question. */
static __always_inline bool find_request(void *data, void *end, struct lease_request *r)
{
	struct ethhdr *eth = data;
	__u32 l3 = ETH_HLEN;
	__be16 proto;

	if ((void *)(eth + 1) > end)
		return false;
	proto = eth->h_proto;
#pragma unroll
	for (int i = 0; i < MAX_VLAN_TAGS && is_vlan(proto); i++) {
		struct vlan_tag *tag = data + l3;

		if ((void *)(tag + 1) > end)
			return false;
		proto = tag->proto;
		l3 += VLAN_HLEN;
	}
	if (proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = data + l3;

		if ((void *)(ip + 1) > end || ip->version_ihl != 0x45 || ip->protocol != IPPROTO_ICMP ||
		    is_fragment(ip->frag_off))
			return false;
		r->icmp = l3 + IP4_LEN;
		r->icmp_len = bpf_ntohs(ip->tot_len) - IP4_LEN;
		r->type = ICMP_ECHO;
		map_addresses(ip, r->saddr, r->daddr);
	} else if (proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = data + l3;

		if ((void *)(ip + 1) > end || ip->nexthdr != IPPROTO_ICMPV6)
			return false;
		r->icmp = l3 + IP6_LEN;
		r->icmp_len = bpf_ntohs(ip->payload_len);
		r->type = ICMPV6_ECHO;
		__builtin_memcpy(r->daddr, ip->daddr, sizeof(r->daddr));
		__builtin_memcpy(r->saddr, ip->saddr, sizeof(r->saddr));
	} else {
		return false;
	}
	return is_lease_length(r->icmp_len);
}

#endif
