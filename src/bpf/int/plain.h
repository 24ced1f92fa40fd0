/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Recognises most packets without INT by a few instructions. Packets with VLAN tags, options or extension headers are
 * left to the functions that read all headers.
 */
#ifndef HOSTINT_INT_PLAIN_H
#define HOSTINT_INT_PLAIN_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "packet/headers.h"

enum {
	NO_TOS = 1, /* with a mask of 0: no packet has it */
};

/* How packets with INT are recognised; each packet with the other ToS, or to other_port, must be read, too, and UDP to tunnel_port. */
struct int_marks {
	__u8 tos_value;
	__u8 tos_mask;
	__u8 other_tos_value;
	__u8 other_tos_mask;
	__be16 extension_port;
	__be16 other_port;
	__be16 tunnel_port; /* 0: none */
	__u8 option_words;  /* TCP headers of as many words, and UDP with options, must be read; 0: none */
};

/* Returns true if the packet cannot have INT; if it returns false, the packet must be read. */
static __always_inline bool has_no_mark(void *data, void *end, const struct int_marks *marks)
{
	struct ethhdr *eth = data;
	struct udphdr *udp;
	__u8 protocol, tos;
	__u16 len;

	if ((void *)(eth + 1) > end)
		return true;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		udp = (void *)(ip + 1);
		if ((void *)udp > end || ip->version_ihl != 0x45)
			return false;
		tos = ip->tos;
		protocol = ip->protocol;
		len = bpf_ntohs(ip->tot_len) - IP4_LEN;
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		udp = (void *)(ip + 1);
		if ((void *)udp > end)
			return false;
		tos = ipv6_class(ip);
		protocol = ip->nexthdr;
		len = bpf_ntohs(ip->payload_len);
	} else {
		return !is_vlan(eth->h_proto);
	}
	if ((tos & marks->tos_mask) == marks->tos_value || (tos & marks->other_tos_mask) == marks->other_tos_value)
		return false;
	if ((void *)(udp + 1) > end)
		return false;
	/* The ports of TCP have the same place. */
	if (udp->dest == marks->other_port)
		return false;
	if (protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = (void *)udp;

		if (!marks->option_words)
			return true;
		return (void *)(tcp + 1) <= end && tcp->doff >> 4 < marks->option_words;
	}
	if (marks->option_words && bpf_ntohs(udp->len) != len)
		return false;
	if (marks->tunnel_port && udp->dest == marks->tunnel_port)
		return false;
	return protocol == IPPROTO_UDP && udp->dest != marks->extension_port && udp->dest != bpf_htons(GPE_PORT);
}

#endif
