// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The source's peer: adapts answers to tagged packets to a local stack that does not know of INT. It runs at the
 * ingress of an interface at whose egress packets are tagged. clamp_mss() (peer/mss.h) changes a SYN, translate_error()
 * (peer/icmp_error.h) an ICMP error; all other packets pass unmodified.
 */
#include "kernel/kernel.h"
#include "packet/ip_headers.h"
#include "peer/counters.h"
#include "peer/mss.h"
#include "peer/icmp_error.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Recognises most packets, UDP and TCP without SYN, by a few instructions. If it returns false, they are read. */
static __always_inline bool is_data(struct __sk_buff *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct tcphdr *tcp;
	__u8 protocol;

	if ((void *)(eth + 1) > end)
		return false;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		tcp = (void *)(ip + 1);
		if ((void *)tcp > end || ip->version_ihl != 0x45)
			return false;
		protocol = ip->protocol;
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		tcp = (void *)(ip + 1);
		if ((void *)tcp > end)
			return false;
		protocol = ip->nexthdr;
	} else {
		return false;
	}
	if (protocol == IPPROTO_UDP)
		return true;
	return protocol == IPPROTO_TCP && (void *)(tcp + 1) <= end && !(tcp->flags & TCP_SYN);
}

SEC("tc")
int source_peer(struct __sk_buff *ctx)
{
	struct ip_headers ip;

	/* The budget has to know how often the host's programs ran. */
	count_peer(COUNT_PEER_SEEN, ctx->len);
	if (is_data(ctx) || !read_outer_ip(ctx, &ip))
		return TCX_NEXT;
	if (ip.protocol == IPPROTO_TCP)
		clamp_mss(ctx, &ip);
	else if (ip.protocol == (ip.version == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		translate_error(ctx, &ip);
	return TCX_NEXT;
}
