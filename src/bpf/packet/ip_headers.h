/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads IPv4 or IPv6 headers anywhere in a packet, with their options and extension headers. */
#ifndef HOSTINT_PACKET_IP_HEADERS_H
#define HOSTINT_PACKET_IP_HEADERS_H

#include "kernel/kernel.h"
#include "kernel/features.h"
#include "packet/headers.h"

/* Offsets are from the frame's first byte. */
struct ip_headers {
	__u32 start;
	__u32 l4;
	__u32 end;         /* end of the packet by the header's length field */
	__u32 protocol_at; /* offset of the byte that names the L4 protocol */
	__u8 version;
	__u8 protocol;
	__u8 tos;
	__be32 saddr[4]; /* IPv4 is in the first word, the others are 0 */
	__be32 daddr[4];
};

static __always_inline bool read_ipv4(struct __sk_buff *ctx, __u32 at, struct ip_headers *h)
{
	struct iphdr ip;

	if (bpf_skb_load_bytes(ctx, at, &ip, sizeof(ip)))
		return false;
	if (ip.version_ihl >> 4 != 4 || (ip.version_ihl & 15) < 5 || is_fragment(ip.frag_off))
		return false;
	h->l4 = at + (ip.version_ihl & 15) * 4;
	h->end = at + bpf_ntohs(ip.tot_len);
	h->protocol_at = at + __builtin_offsetof(struct iphdr, protocol);
	h->protocol = ip.protocol;
	h->tos = ip.tos;
	h->saddr[0] = ip.saddr;
	h->daddr[0] = ip.daddr;
	return true;
}

static __always_inline bool is_extension_header(__u8 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING || protocol == IPPROTO_DSTOPTS;
}

static __always_inline bool read_ipv6(struct __sk_buff *ctx, __u32 at, struct ip_headers *h)
{
	struct ipv6hdr ip;
	struct {
		__u8 next;
		__u8 len; /* in units of 8 bytes, less one */
	} extension;

	if (bpf_skb_load_bytes(ctx, at, &ip, sizeof(ip)))
		return false;
	if (bpf_ntohl(ip.version_class_flow) >> 28 != 6)
		return false;
	h->l4 = at + sizeof(ip);
	h->end = h->l4 + bpf_ntohs(ip.payload_len);
	h->protocol_at = at + __builtin_offsetof(struct ipv6hdr, nexthdr);
	h->protocol = ip.nexthdr;
	h->tos = bpf_ntohl(ip.version_class_flow) >> 20;
	__builtin_memcpy(h->saddr, ip.saddr, sizeof(h->saddr));
	__builtin_memcpy(h->daddr, ip.daddr, sizeof(h->daddr));
	for (int i = 0; i < MAX_EXTENSION_HEADERS; i++) {
		if (!is_extension_header(h->protocol))
			return true;
		if (bpf_skb_load_bytes(ctx, h->l4, &extension, sizeof(extension)))
			return false;
		h->protocol_at = h->l4;
		h->protocol = extension.next;
		h->l4 += (extension.len + 1) * 8;
	}
	return !is_extension_header(h->protocol);
}

/* Returns false if there is no such header, or only a fragment after it. */
static __always_inline bool read_ip(struct __sk_buff *ctx, __u32 at, __u8 version, struct ip_headers *h)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->start = at;
	h->version = version;
	return version == 4 ? read_ipv4(ctx, at, h) : read_ipv6(ctx, at, h);
}

/*
 * Returns the offset of the Ethertype after the VLAN tags in the frame, or 0 if there is none. It is not static, so
 * that the verifier walks the rest once for any offset, instead of once for each number of tags.
 */
__noinline __u32 find_ethertype(struct __sk_buff *ctx)
{
	__u32 at = __builtin_offsetof(struct ethhdr, h_proto);
	__be16 type;

	for (int tags = 0; tags <= MAX_VLAN_TAGS; tags++) {
		if (bpf_skb_load_bytes(ctx, at, &type, sizeof(type)))
			return 0;
		if (!is_vlan(type))
			return at;
		at += 4;
	}
	return 0;
}

/* Since 6.9 generic XDP may pass on a copy of the packet, of which TC ingress does not see the Ethernet header. */
static __always_inline bool begins_with_ip(struct __sk_buff *ctx)
{
	struct sk_buff *skb;

	if (!have_kernel_ctx)
		return false;
	skb = bpf_cast_to_kern_ctx(ctx);
	return skb->data == skb->head + skb->network_header;
}

/* Reads the packet's own IP headers, not those of a packet inside it. */
static __always_inline bool read_outer_ip(struct __sk_buff *ctx, struct ip_headers *h)
{
	__u32 type_at;
	__be16 type;

	if (begins_with_ip(ctx)) {
		if (ctx->protocol == bpf_htons(ETH_P_IP))
			return read_ip(ctx, 0, 4, h);
		return ctx->protocol == bpf_htons(ETH_P_IPV6) && read_ip(ctx, 0, 6, h);
	}
	type_at = find_ethertype(ctx);
	if (!type_at || bpf_skb_load_bytes(ctx, type_at, &type, sizeof(type)))
		return false;
	if (type == bpf_htons(ETH_P_IP))
		return read_ip(ctx, type_at + sizeof(type), 4, h);
	return type == bpf_htons(ETH_P_IPV6) && read_ip(ctx, type_at + sizeof(type), 6, h);
}

#endif
