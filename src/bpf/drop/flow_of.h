/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the flow that a packet belongs to from its headers in the kernel's memory. */
#ifndef HOSTINT_DROP_FLOW_OF_H
#define HOSTINT_DROP_FLOW_OF_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "hostint/wire.h"
#include "kernel/single_value.h"
#include "packet/headers.h"

enum drop_header {
	DROP_ETH_IPV4 = 0x0800,
	DROP_ETH_IPV6 = 0x86dd,
	DROP_IPV4_LEN = 20,
	DROP_IPV6_LEN = 40,
	DROP_PORTS_LEN = 4,
	DROP_FRAGMENT_OFFSET = 0x1fff, /* in an IPv4 header */
	DROP_FRAGMENT6_OFFSET = 0xfff8,
	DROP_EXTENSIONS = 4, /* IPv6 extension headers that are skipped at most */
};

enum drop_protocol {
	DROP_HOP_BY_HOP = 0,
	DROP_ICMP = 1,
	DROP_TCP = 6,
	DROP_UDP = 17,
	DROP_ROUTING = 43,
	DROP_FRAGMENT = 44,
	DROP_AUTHENTICATION = 51,
	DROP_ICMPV6 = 58,
	DROP_DESTINATION = 60,
	DROP_SCTP = 132,
	DROP_UDPLITE = 136,
};

enum drop_tcp {
	TCP_LENGTH_AT = 12,
	TCP_FLAGS_AT = 13,
	TCP_SYN_RST = 6,
};

/* A part of a packet's linear data; offsets are from skb->head. */
struct drop_headers {
	unsigned char *head;
	__u32 at;
	__u32 end;
	__u8 tos; /* of the outer IP header */
};

/*
 * What rare headers are looked for in, by functions that are neither static nor inlined. The verifier walks those once, and
 * not for each way that leads to them; on old kernels they take integers alone.
 */
struct header_search {
	__u64 head;
	__u32 at;
	__u32 end;
	struct flow_key flow;  /* inside of a tunnel */
	struct flow_key outer; /* the tunnel's own */
	__u32 id;
	__u32 kind;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct header_search);
} header_search SEC(".maps");

static __always_inline struct header_search *begin_search(const struct drop_headers *h)
{
	struct header_search *search = single_value(&header_search);

	if (!search)
		return NULL;
	search->head = (__u64)h->head;
	search->at = h->at;
	search->end = h->end;
	return search;
}

/* Returns false beyond the end of the linear data. */
static __always_inline bool read_at(const struct drop_headers *h, __u32 at, void *to, __u32 len)
{
	return at + len <= h->end && !bpf_probe_read_kernel(to, len, h->head + at);
}

/* The same for what reads packets of all kinds. */
static __always_inline bool read_kernel_bytes(const void *headers, __u32 at, void *to, __u32 len)
{
	return read_at(headers, at, to, len);
}

static __always_inline bool has_ports(__u8 protocol)
{
	return protocol == DROP_TCP || protocol == DROP_UDP || protocol == DROP_SCTP || protocol == DROP_UDPLITE;
}

/* Reads the ports, if the protocol has some; a packet that is too short has none. */
static __always_inline void read_ports(const struct drop_headers *h, __u8 protocol, struct flow_key *key)
{
	__be16 ports[2];

	if (!has_ports(protocol) || !read_at(h, h->at, ports, sizeof(ports)))
		return;
	key->sport = ports[0];
	key->dport = ports[1];
}

static __always_inline bool find_ipv4_flow(struct drop_headers *h, struct flow_key *key)
{
	__u8 header_len, ip[DROP_IPV4_LEN + DROP_PORTS_LEN];
	/* Most headers have no options, so one read gets the ports, too. */
	bool has_more = read_at(h, h->at, ip, sizeof(ip));
	__be16 fragment;

	if (!has_more && !read_at(h, h->at, ip, DROP_IPV4_LEN))
		return false;
	if (ip[0] >> 4 != 4)
		return false;
	header_len = (ip[0] & 0xf) * 4;
	h->tos = ip[1];
	if (header_len < DROP_IPV4_LEN)
		return false;
	key->saddr[2] = key->daddr[2] = bpf_htonl(0xffff);
	__builtin_memcpy(&key->saddr[3], ip + 12, 4);
	__builtin_memcpy(&key->daddr[3], ip + 16, 4);
	key->layers = ip[9];
	__builtin_memcpy(&fragment, ip + 6, 2);
	h->at += header_len;
	if (fragment & bpf_htons(DROP_FRAGMENT_OFFSET))
		return true;
	if (!has_more || header_len != DROP_IPV4_LEN)
		read_ports(h, ip[9], key);
	else if (has_ports(ip[9]))
		__builtin_memcpy(&key->sport, ip + DROP_IPV4_LEN, DROP_PORTS_LEN);
	return true;
}

/* One comparison, where five would make the verifier walk many more ways. */
static __always_inline bool is_extension(__u8 protocol)
{
	const __u64 all = 1ull << DROP_HOP_BY_HOP | 1ull << DROP_ROUTING | 1ull << DROP_FRAGMENT |
			  1ull << DROP_AUTHENTICATION | 1ull << DROP_DESTINATION;

	return protocol < 64 && all >> protocol & 1;
}

static __always_inline bool find_ipv6_flow(struct drop_headers *h, struct flow_key *key)
{
	__u8 ip[DROP_IPV6_LEN], next;

	if (!read_at(h, h->at, ip, sizeof(ip)) || ip[0] >> 4 != 6)
		return false;
	__builtin_memcpy(key->saddr, ip + 8, 16);
	__builtin_memcpy(key->daddr, ip + 24, 16);
	next = ip[6];
	h->tos = ip[0] << 4 | ip[1] >> 4;
	h->at += DROP_IPV6_LEN;
	for (int i = 0; i < DROP_EXTENSIONS; i++) {
		__u8 extension[4];
		__be16 fragment;

		if (!is_extension(next))
			break;
		if (!read_at(h, h->at, extension, sizeof(extension)))
			break;
		__builtin_memcpy(&fragment, extension + 2, 2);
		/* Only the first fragment has ports. */
		if (next == DROP_FRAGMENT && fragment & bpf_htons(DROP_FRAGMENT6_OFFSET)) {
			key->layers = extension[0];
			return true;
		}
		h->at += next == DROP_FRAGMENT       ? 8 :
			 next == DROP_AUTHENTICATION ? (extension[1] + 2) * 4 :
						       (extension[1] + 1) * 8;
		next = extension[0];
	}
	key->layers = next;
	read_ports(h, next, key);
	return true;
}

/*
 * Returns the Ethertype behind VLAN tags in the data, or 0. The network header of such a packet is behind the tags, or at
 * the first one: that depends on the driver or device that put them there. The type in front of it tells.
 */
__noinline int skip_tags(void)
{
	struct header_search *search = single_value(&header_search);
	struct drop_headers h = {};
	__be16 type = 0;

	if (!search)
		return 0;
	h.head = (unsigned char *)search->head;
	h.at = search->at;
	h.end = search->end;
	if (h.at < sizeof(type) || !read_at(&h, h.at - sizeof(type), &type, sizeof(type)))
		return 0;
	for (int tags = 0; tags < MAX_VLAN_TAGS && is_vlan(type); tags++) {
		if (!read_at(&h, h.at + sizeof(type), &type, sizeof(type)))
			return 0;
		h.at += VLAN_HLEN;
	}
	search->at = h.at;
	return type;
}

/* Returns false if the packet is not IP, or its headers are not there. The key was all zeros before. */
static __always_inline bool find_flow(struct drop_headers *h, __be16 protocol, struct flow_key *key)
{
	/* The verifier then knows less of the offset, and takes the other way for a part of this one: so it comes first. */
	if (__builtin_expect(is_vlan(protocol), true)) {
		struct header_search *search = begin_search(h);

		if (!search)
			return false;
		protocol = skip_tags();
		h->at = search->at;
	}
	switch (bpf_ntohs(protocol)) {
	case DROP_ETH_IPV4:
		return find_ipv4_flow(h, key);
	case DROP_ETH_IPV6:
		return find_ipv6_flow(h, key);
	default:
		return false;
	}
}

/* The same of a packet; the headers are then at the transport header. */
static __always_inline bool read_headers(struct sk_buff *skb, struct drop_headers *h, struct flow_key *key)
{
	h->head = skb->head;
	h->at = skb->network_header;
	h->end = skb->tail;
	return find_flow(h, skb->protocol, key);
}

/* True for a TCP segment of this many bytes from the transport header on that only acknowledges, or ends its direction. */
static __always_inline bool is_bare_ack(const struct drop_headers *h, const struct flow_key *key, __u32 bytes)
{
	__u8 tcp[TCP_FLAGS_AT + 1];

	if (key->layers != DROP_TCP || (!key->sport && !key->dport) || !read_at(h, h->at, tcp, sizeof(tcp)))
		return false;
	return !(tcp[TCP_FLAGS_AT] & TCP_SYN_RST) && bytes <= (tcp[TCP_LENGTH_AT] >> 4) * 4u;
}

static __always_inline bool is_multicast(const struct flow_key *key)
{
	__u8 first = *(const __u8 *)key->daddr, mapped = *(const __u8 *)&key->daddr[3];
	bool is_ipv4 = !key->daddr[0] && !key->daddr[1] && key->daddr[2] == bpf_htonl(0xffff);

	return is_ipv4 ? mapped >> 4 == 0xe || key->daddr[3] == 0xffffffff : first == 0xff;
}

static __always_inline bool is_port_of_probes(__be16 port)
{
	return (__u16)(bpf_ntohs(port) - LEASE_PROBE_PORT) < LEASE_PROBES;
}

/*
 * True for a packet by which hostint finds out what passes, and for its answer: no application waits for it. With INT the
 * ports are those behind it.
 */
static __always_inline bool tries_a_path(const struct flow_key *key, bool is_tagged)
{
	return (is_tagged && key->dport == bpf_htons(GPE_PORT) && is_port_of_probes(key->sport)) ||
	       (key->dport == bpf_htons(LEASE_STRAY_PORT) && is_port_of_probes(key->sport)) ||
	       (key->sport == bpf_htons(LEASE_STRAY_PORT) && is_port_of_probes(key->dport));
}

static __always_inline bool is_icmp(const struct flow_key *key)
{
	return key->layers == DROP_ICMP || key->layers == DROP_ICMPV6;
}

#endif
