/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds where a packet's headers are: VLAN tags, IPv4 with options, IPv6 with extension headers. */
#ifndef HOSTINT_PACKET_LAYOUT_H
#define HOSTINT_PACKET_LAYOUT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "packet/headers.h"

enum {
	MIN_OPTIONS_LEN = 4,
	MAX_OPTIONS_LEN = 64, /* bytes after the fixed IP header that are read */
	MAX_L3 = ETH_HLEN + MAX_VLAN_TAGS * VLAN_HLEN,
	MAX_L4 = MAX_L3 + IP6_LEN + MAX_OPTIONS_LEN,
	PULL_LEN = 512, /* more than all headers that are read */
};

/* Offsets are from the frame's first byte. */
struct layout {
	__u32 layers; /* as in struct flow_key */
	__u16 l3;
	__u16 l4;
	__u16 protocol_at; /* offset of the byte that names the L4 protocol */
	__u16 ip_len;      /* length of the IP packet, with its header */
	__u8 family;       /* 4 or 6 */
	__u8 protocol;
	__u8 tos;
	__u8 ttl;         /* IPv6: hop limit */
	__u8 options_len; /* between the fixed IP header and the L4 header */
	__u8 fragment;
	__u8 later_fragment; /* not the first fragment, so without L4 header */
	__u8 dont_fragment;  /* IPv6: always */
	__u8 vlan_tags;      /* VLAN tags in the frame */
};

enum layout_verdict {
	LAYOUT_FOUND,
	LAYOUT_NOT_IP,
	LAYOUT_NO_L4,     /* IP, but neither TCP nor UDP */
	LAYOUT_TOO_DEEP,  /* more extension headers than are read */
	LAYOUT_MALFORMED, /* headers shorter than they claim */
	LAYOUT_SHORT,     /* headers lie beyond the bytes that can be read */
};

/* The barrier keeps the compiler from computing the pointer again, which would lose the checks made on it. */
static __always_inline void *at_offset(void *data, __u32 offset)
{
	void *p = data + (offset & 0x1ff);

	barrier_var(p);
	return p;
}

/*
 * Returns the bytes of options, which the caller must compare with MIN_OPTIONS_LEN. The compiler cannot merge the two
 * comparisons, so every kernel's verifier knows that the length is neither 0 nor too large.
 */
static __always_inline __u32 options_len(const struct layout *at)
{
	__u32 len = at->options_len;

	if (len > MAX_OPTIONS_LEN)
		len = 0;
	barrier_var(len);
	return len;
}

static __always_inline __u32 fixed_ip_len(const struct layout *at)
{
	return at->family == 4 ? IP4_LEN : IP6_LEN;
}

static __always_inline enum layout_verdict find_ipv4(void *data, void *end, __u32 l3, struct layout *at)
{
	struct iphdr *ip = data + l3;
	__u32 header_len;

	if ((void *)(ip + 1) > end)
		return LAYOUT_SHORT;
	if (!is_l4(ip->protocol))
		return LAYOUT_NO_L4;
	at->family = 4;
	at->l3 = l3;
	at->tos = ip->tos;
	at->ttl = ip->ttl;
	header_len = (ip->version_ihl & 15) * 4;
	if (ip->version_ihl >> 4 != 4 || header_len < IP4_LEN)
		return LAYOUT_MALFORMED;
	at->l4 = l3 + header_len;
	at->options_len = header_len - IP4_LEN;
	at->protocol_at = l3 + __builtin_offsetof(struct iphdr, protocol);
	at->protocol = ip->protocol;
	at->ip_len = bpf_ntohs(ip->tot_len);
	at->fragment = is_fragment(ip->frag_off);
	at->later_fragment = !!(ip->frag_off & bpf_htons(IP_OFFSET));
	at->dont_fragment = !!(ip->frag_off & bpf_htons(IP_DF));
	return LAYOUT_FOUND;
}

static __always_inline enum layout_verdict find_ipv6(void *data, void *end, __u32 l3, struct layout *at)
{
	struct ipv6hdr *ip = data + l3;
	__u32 l4 = l3 + IP6_LEN, named_at = l3 + __builtin_offsetof(struct ipv6hdr, nexthdr);
	__u32 ip_len;
	__u8 next;

	if ((void *)(ip + 1) > end)
		return LAYOUT_SHORT;
	at->family = 6;
	at->l3 = l3;
	at->tos = ipv6_class(ip);
	at->ttl = ip->hop_limit;
	if (bpf_ntohl(ip->version_class_flow) >> 28 != 6)
		return LAYOUT_MALFORMED;
	at->fragment = 0;
	at->later_fragment = 0;
	ip_len = bpf_ntohs(ip->payload_len) + IP6_LEN;
	next = ip->nexthdr;
#pragma unroll
	for (int i = 0; i < MAX_EXTENSION_HEADERS && !is_l4(next); i++) {
		__u8 *header = data + l4;

		if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS &&
		    next != IPPROTO_FRAGMENT)
			return LAYOUT_NO_L4;
		if ((void *)(header + 8) > end)
			return LAYOUT_SHORT;
		named_at = l4;
		if (next == IPPROTO_FRAGMENT) {
			at->fragment = 1;
			at->later_fragment = !!(*(__be16 *)(header + 2) & bpf_htons(0xfff8));
			l4 += 8;
		} else {
			l4 += (header[1] + 1) * 8;
		}
		next = header[0];
		if (l4 > l3 + IP6_LEN + MAX_OPTIONS_LEN)
			return LAYOUT_TOO_DEEP;
	}
	if (!is_l4(next))
		return LAYOUT_TOO_DEEP;
	at->l4 = l4;
	at->options_len = l4 - l3 - IP6_LEN;
	at->protocol_at = named_at;
	at->protocol = next;
	/* Longer packets (jumbograms) state 0, which is too short for the checks that follow. */
	at->ip_len = ip_len > 0xffff ? 0 : ip_len;
	at->dont_fragment = 1;
	return LAYOUT_FOUND;
}

/* outer is the id of a VLAN tag that the kernel keeps in metadata, in front of those in the frame; 0: none. */
static __always_inline enum layout_verdict find_layout(void *data, void *end, __u32 outer, struct layout *at)
{
	struct ethhdr *eth = data;
	enum layout_verdict verdict;
	__u32 l3 = ETH_HLEN, vlans = outer;
	__be16 proto;

	if ((void *)(eth + 1) > end)
		return LAYOUT_SHORT;
	proto = eth->h_proto;
	at->vlan_tags = 0;
#pragma unroll
	for (int i = 0; i < MAX_VLAN_TAGS && is_vlan(proto); i++) {
		struct vlan_tag *tag = data + l3;

		if ((void *)(tag + 1) > end)
			return LAYOUT_SHORT;
		vlans = vlans << 12 | (bpf_ntohs(tag->tci) & 0xfff);
		proto = tag->proto;
		l3 += VLAN_HLEN;
		at->vlan_tags++;
	}
	if (proto == bpf_htons(ETH_P_IP))
		verdict = find_ipv4(data, end, l3, at);
	else if (proto == bpf_htons(ETH_P_IPV6))
		verdict = find_ipv6(data, end, l3, at);
	else
		return LAYOUT_NOT_IP;
	at->layers = at->protocol | vlans << 8;
	return verdict;
}

/*
 * load_ip copies the fixed IP header out of the packet, store_ip into it; both return false if the packet ends before.
 * Each family has its own check and copy because the verifier believes a comparison with the packet's end only if the
 * length is a constant.
 */
static __always_inline bool load_ip(void *data, void *end, __u32 l3, __u8 family, void *to)
{
	void *ip = at_offset(data, l3);

	if (family == 4) {
		if (ip + IP4_LEN > end)
			return false;
		*(struct iphdr *)to = *(struct iphdr *)ip;
	} else {
		if (ip + IP6_LEN > end)
			return false;
		*(struct ipv6hdr *)to = *(struct ipv6hdr *)ip;
	}
	return true;
}

static __always_inline bool store_ip(void *data, void *end, __u32 l3, __u8 family, const void *from)
{
	void *ip = at_offset(data, l3);

	if (family == 4) {
		if (ip + IP4_LEN > end)
			return false;
		*(struct iphdr *)ip = *(struct iphdr *)from;
	} else {
		if (ip + IP6_LEN > end)
			return false;
		*(struct ipv6hdr *)ip = *(struct ipv6hdr *)from;
	}
	return true;
}

/* Fills in the addresses and layers of the IP packet that was found; returns false if the packet ends before. */
static __always_inline bool fill_key(void *data, void *end, const struct layout *at, struct flow_key *key)
{
	if (at->family == 4) {
		struct iphdr *ip = at_offset(data, at->l3);

		if ((void *)(ip + 1) > end)
			return false;
		map_addresses(ip, key->saddr, key->daddr);
	} else {
		struct ipv6hdr *ip = at_offset(data, at->l3);

		if ((void *)(ip + 1) > end)
			return false;
		__builtin_memcpy(key->saddr, ip->saddr, sizeof(key->saddr));
		__builtin_memcpy(key->daddr, ip->daddr, sizeof(key->daddr));
	}
	key->layers = at->layers;
	return true;
}

#endif
