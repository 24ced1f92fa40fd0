/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the IP packet inside of a tunnel over UDP: VXLAN, Geneve or GTP-U. */
#ifndef HOSTINT_PACKET_TUNNEL_H
#define HOSTINT_PACKET_TUNNEL_H

#include "kernel/kernel.h"
#include "hostint/tunnel.h"
#include "hostint/wire.h"
#include "packet/headers.h"

enum {
	PORT_VXLAN = 4789,
	PORT_VXLAN_OF_OLD = 8472, /* Linux's own from before the assignment */
	PORT_GTP_U = 2152,
	TUNNEL_HLEN = 8,
	VXLAN_HAS_ID = 0x08,
	GENEVE_CONTROL = 0x80, /* in the second byte: not a packet of users */
	GENEVE_BRIDGED = 0x6558,
	GTP_VERSION_1 = 0x30, /* and not GTP' */
	GTP_VERSION = 0xf0,
	GTP_USER_DATA = 255,
	GTP_OPTIONAL = 0x07, /* one of these flags: 4 bytes follow */
	GTP_HAS_EXTENSION = 0x04,
	GTP_EXTENSIONS = 4, /* extension headers that are skipped at most */
};

/* Copies bytes of a packet from an offset on. Returns false beyond its end. */
typedef bool read_bytes(const void *packet, __u32 at, void *to, __u32 len);

/* The IP packet inside. */
struct tunnelled {
	__u32 at; /* offset of its header */
	__u32 id; /* VNI or TEID */
	__u8 version;
};

static __always_inline enum tunnel_kind tunnel_of_port(__be16 port)
{
	if (port == bpf_htons(PORT_VXLAN) || port == bpf_htons(PORT_VXLAN_OF_OLD))
		return TUNNEL_VXLAN;
	if (port == bpf_htons(GENEVE_PORT))
		return TUNNEL_GENEVE;
	return port == bpf_htons(PORT_GTP_U) ? TUNNEL_GTP_U : TUNNEL_NONE;
}

static __always_inline bool find_behind_ethertype(__be16 type, __u32 at, struct tunnelled *in)
{
	in->at = at;
	in->version = type == bpf_htons(ETH_P_IP) ? 4 : 6;
	return type == bpf_htons(ETH_P_IP) || type == bpf_htons(ETH_P_IPV6);
}

/* Behind an Ethernet header and its VLAN tags. */
static __always_inline bool find_in_frame(const void *packet, read_bytes *read, __u32 at, struct tunnelled *in)
{
	at += __builtin_offsetof(struct ethhdr, h_proto);
	for (int tags = 0; tags <= MAX_VLAN_TAGS; tags++) {
		__be16 type;

		if (!read(packet, at, &type, sizeof(type)))
			return false;
		if (!is_vlan(type))
			return find_behind_ethertype(type, at + sizeof(type), in);
		at += VLAN_HLEN;
	}
	return false;
}

static __always_inline bool find_in_geneve(const void *packet, read_bytes *read, __u32 at, const __u8 *head,
					   struct tunnelled *in)
{
	__be16 type;

	if (head[0] & ~GENEVE_WORDS || head[1] & GENEVE_CONTROL)
		return false;
	at += TUNNEL_HLEN + (head[0] & GENEVE_WORDS) * 4;
	__builtin_memcpy(&type, head + 2, sizeof(type));
	if (type == bpf_htons(GENEVE_BRIDGED))
		return find_in_frame(packet, read, at, in);
	return find_behind_ethertype(type, at, in);
}

/* Returns the offset behind the extension headers, or 0 if they are damaged or too many. `at` is behind the first type. */
static __always_inline __u32 skip_gtp_extensions(const void *packet, read_bytes *read, __u32 at)
{
	for (int i = 0; i <= GTP_EXTENSIONS; i++) {
		__u8 type, words;

		if (!read(packet, at - sizeof(type), &type, sizeof(type)))
			return 0;
		if (!type)
			return at;
		if (!read(packet, at, &words, sizeof(words)) || !words)
			return 0;
		at += words * 4;
	}
	return 0;
}

static __always_inline bool find_in_gtp_u(const void *packet, read_bytes *read, __u32 at, const __u8 *head,
					  struct tunnelled *in)
{
	__u8 first;

	if ((head[0] & GTP_VERSION) != GTP_VERSION_1 || head[1] != GTP_USER_DATA)
		return false;
	at += TUNNEL_HLEN;
	if (head[0] & GTP_OPTIONAL)
		at += 4;
	if (head[0] & GTP_HAS_EXTENSION)
		at = skip_gtp_extensions(packet, read, at);
	if (!at || !read(packet, at, &first, sizeof(first)))
		return false;
	in->at = at;
	in->version = first >> 4;
	return in->version == 4 || in->version == 6;
}

/* `at` is the offset behind the UDP header. Returns false if there is no IP packet inside, or the headers are damaged. */
static __always_inline bool find_tunnelled_ip(const void *packet, read_bytes *read, __u32 at, enum tunnel_kind kind,
					      struct tunnelled *in)
{
	__u8 head[TUNNEL_HLEN];
	__be32 id;

	if (!read(packet, at, head, sizeof(head)))
		return false;
	__builtin_memcpy(&id, head + 4, sizeof(id));
	in->id = kind == TUNNEL_GTP_U ? bpf_ntohl(id) : bpf_ntohl(id) >> 8;
	switch (kind) {
	case TUNNEL_VXLAN:
		return head[0] & VXLAN_HAS_ID && find_in_frame(packet, read, at + TUNNEL_HLEN, in);
	case TUNNEL_GENEVE:
		return find_in_geneve(packet, read, at, head, in);
	default:
		return find_in_gtp_u(packet, read, at, head, in);
	}
}

#endif
