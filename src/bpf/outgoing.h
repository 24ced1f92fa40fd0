/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A packet that may be tagged: what is known of it before anything is changed. */
#ifndef HOSTINT_OUTGOING_H
#define HOSTINT_OUTGOING_H

enum {
	SHORTEST_MTU = 576, /* no link that carries IPv4 hosts has a smaller one */
	SUM_CHUNK = 512,
};

struct outgoing_packet {
	struct layout at;
	struct flow_key key;
	union {
		struct udphdr udp;
		struct tcphdr tcp;
	} l4;
	__u64 frame_len;
	__u32 l4_len; /* fixed part */
	__u32 l4_header_len;
	__u32 ifindex;
	__u32 encapsulation; /* chosen for this packet */
	__u32 segments;
	__u32 segment_size; /* 0: no superpacket */
	__u64 leased_ns;
	enum watched watched; /* unless UNWATCHED known already */
	__u32 queue_packets;
	__u32 queue_bytes;
	__u16 sum;       /* of the whole L4 segment, if the sink is one of Host-INT */
	bool unfinished; /* the L4 checksum is left to the device */
	bool fixed_gso;
	__u8 options[MAX_OPTIONS_LEN];
	/* What is stored: the fixed IP header ends where the body begins. */
	struct {
		__u8 base[IP6_LEN];
		union {
			struct {
				struct udphdr udp;
				struct int_block block;
			} udp;
			struct {
				struct tcphdr tcp;
				struct int_block block;
			} tcp;
			struct {
				struct udphdr udp;
				struct gpe_block block;
			} gpe;
		};
	} out;
	__u8 chunk[SUM_CHUNK + 4];
};

/* One packet at a time and CPU; see the sink's scratch. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct outgoing_packet);
} source_scratch SEC(".maps");

static __always_inline struct outgoing_packet *get_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&source_scratch, &zero);
}

static __always_inline __u32 base_len(const struct outgoing_packet *p)
{
	return p->at.family == 4 ? IP4_LEN : IP6_LEN;
}

/* Bytes that this encapsulation adds to the packet. */
static __always_inline __u32 added_len(const struct outgoing_packet *p, __u32 encap)
{
	if (encap == ENCAP_VXLAN_GPE)
		return base_len(p) + GPE_ROOM;
	return encap == ENCAP_EXTENSION_UDP ? EXTENSION_LEN : INT_BLOCK_LEN;
}

static __always_inline void *out_ip(struct outgoing_packet *p)
{
	return p->out.base + IP6_LEN - base_len(p);
}

static __always_inline struct iphdr *out_ipv4(struct outgoing_packet *p)
{
	return (void *)(p->out.base + IP6_LEN - IP4_LEN);
}

static __always_inline struct ipv6hdr *out_ipv6(struct outgoing_packet *p)
{
	return (void *)p->out.base;
}

enum source_look {
	SOURCE_LEAVE, /* counted */
	SOURCE_SHORT, /* headers lie beyond the bytes at hand */
	SOURCE_WATCHED,
};

static __always_inline enum source_look leave(enum source_counter reason, __u64 bytes)
{
	count_source(reason, 1, bytes);
	return SOURCE_LEAVE;
}

/* Would a sink take the packet for one with INT as it is? */
static __always_inline bool has_int(const struct outgoing_packet *p, void *l4, void *end)
{
	struct int_block *block = l4 + (p->at.protocol == IPPROTO_TCP ? TCP_BASE_LEN : UDP_LEN);

	if (p->at.protocol == IPPROTO_UDP &&
	    (p->l4.udp.dest == extension_port || p->l4.udp.dest == bpf_htons(GPE_PORT)))
		return true;
	return (p->at.tos & tos_mask) == tos_value && (void *)(block + 1) <= end && check_int_block(block) == INT_VALID;
}

static __always_inline bool is_report(const struct host_settings *host, __be16 dport)
{
	for (__u32 i = 0; i < MAX_REPORT_PORTS; i++)
		if (i < host->report_port_count && host->report_port[i] == dport)
			return true;
	return false;
}

static __always_inline bool is_group(void *data, const struct outgoing_packet *p)
{
	__be32 first = p->key.daddr[0], last = p->key.daddr[3];

	if (*(__u8 *)data & 1)
		return true;
	if (p->at.family == 6)
		return (first & bpf_htonl(0xff000000)) == bpf_htonl(0xff000000);
	/* 224.0.0.0/4 and limited broadcast */
	return (last & bpf_htonl(0xf0000000)) == bpf_htonl(0xe0000000) || last == 0xffffffff;
}

/* Looks at the headers; changes nothing. Unwatched packets, nearly all, leave as early as possible. */
static __always_inline enum source_look look(void *data, void *end, __u32 outer_vlan, __u32 vlan_tags,
					     const struct host_settings *host, struct outgoing_packet *p)
{
	enum layout_verdict found = find_layout(data, end, outer_vlan, &p->at);
	__u64 frame_len = p->frame_len;
	bool more = frame_len > (__u64)(end - data);
	__u32 header_len;
	void *l4;

	if (found == LAYOUT_NOT_IP || found == LAYOUT_NO_L4)
		return leave(COUNT_SOURCE_OTHER_PROTOCOL, frame_len);
	if (found == LAYOUT_SHORT)
		return more ? SOURCE_SHORT : leave(COUNT_SOURCE_OTHER_PROTOCOL, frame_len);
	barrier();
	if (!fill_key(data, end, &p->at, &p->key))
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (!p->watched)
		p->watched = p->at.family == 4 ? watched4(p->key.daddr[3]) : watched6(p->key.daddr);
	if (!p->watched)
		return leave(COUNT_SOURCE_UNWATCHED, frame_len);
	if (found == LAYOUT_TOO_DEEP)
		return leave(COUNT_SOURCE_IP_OPTIONS, frame_len);
	if (found == LAYOUT_MALFORMED)
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (p->at.vlan_tags + vlan_tags > 2)
		return leave(COUNT_SOURCE_VLAN, frame_len);
	if (is_group(data, p))
		return leave(COUNT_SOURCE_GROUP_ADDRESS, frame_len);
	if (p->at.fragment)
		return leave(COUNT_SOURCE_FRAGMENT, frame_len);
	/* What will stand before INT, for now as it is. */
	if (!load_ip(data, end, p->at.l3, p->at.family, out_ip(p)))
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	l4 = at_offset(data, p->at.l4);
	if (l4 + UDP_LEN > end)
		return more ? SOURCE_SHORT : leave(COUNT_SOURCE_MALFORMED, frame_len);
	header_len = p->at.l4 - p->at.l3;
	p->l4.udp = *(struct udphdr *)l4;
	p->l4_len = UDP_LEN;
	p->l4_header_len = UDP_LEN;
	if (p->at.protocol == IPPROTO_TCP) {
		if (l4 + TCP_BASE_LEN > end)
			return more ? SOURCE_SHORT : leave(COUNT_SOURCE_MALFORMED, frame_len);
		p->l4.tcp = *(struct tcphdr *)l4;
		p->l4_len = TCP_BASE_LEN;
		p->l4_header_len = (p->l4.tcp.doff >> 4) * 4;
	}
	p->key.sport = p->l4.udp.source;
	p->key.dport = p->l4.udp.dest;
	/* BIG TCP: longer than an IP header can say. */
	if (p->segments > 1 && frame_len - p->at.l3 > 0xffff) {
		count_source(COUNT_SOURCE_SUPERPACKET, p->segments, frame_len);
		return SOURCE_LEAVE;
	}
	if (p->l4_header_len < p->l4_len || p->at.ip_len < header_len + p->l4_header_len ||
	    p->at.ip_len > frame_len - p->at.l3)
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (p->at.protocol == IPPROTO_UDP) {
		if (bpf_ntohs(p->l4.udp.len) != p->at.ip_len - header_len)
			return leave(COUNT_SOURCE_MALFORMED, frame_len);
		if (is_report(host, p->l4.udp.dest))
			return leave(COUNT_SOURCE_REPORT, frame_len);
	}
	if ((p->at.tos & tos_mask) == tos_value && more && l4 + TCP_BASE_LEN + INT_BLOCK_LEN > end)
		return SOURCE_SHORT;
	if (has_int(p, l4, end))
		return leave(COUNT_SOURCE_HAS_INT, frame_len);
	return SOURCE_WATCHED;
}

/* Does it fit with so many bytes more, whoever handles it on the way? */
static __always_inline enum source_look check_size(const struct outgoing_packet *p, __u32 added, __u32 mtu)
{
	__u32 len = p->at.ip_len + added;

	if (len > mtu)
		return leave(COUNT_SOURCE_TOO_LONG, p->frame_len);
	/* A router that fragments a tagged packet would separate INT from the rest. */
	if (!p->at.dont_fragment && len > SHORTEST_MTU)
		return leave(COUNT_SOURCE_MAY_FRAGMENT, p->frame_len);
	return SOURCE_WATCHED;
}

#endif
