/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A packet that carries INT: what is taken from it, and the checks before anything is. */
#ifndef HOSTINT_TAGGED_PACKET_H
#define HOSTINT_TAGGED_PACKET_H

enum {
	L3 = ETH_HLEN,
	L4 = ETH_HLEN + sizeof(struct iphdr),
};

/* Everything that is taken from the packet before it is changed, and what it meant. */
struct tagged_packet {
	struct iphdr ip;
	union {
		struct udphdr udp;
		struct tcphdr tcp;
		__u8 bytes[TCP_BASE_LEN];
	} l4;
	struct arrival_facts facts;
	struct flow_news news;
	struct ethhdr eth;
};

enum sink_parse {
	SINK_NOT_MARKED,
	SINK_REFUSED, /* counted */
	SINK_TAGGED,
};

static __always_inline enum sink_parse refuse(enum sink_counter reason, __u64 frame_len)
{
	count_sink(reason, 1, frame_len);
	return SINK_REFUSED;
}

static __always_inline enum sink_parse refuse_block(enum int_verdict verdict, __u64 frame_len)
{
	switch (verdict) {
	case INT_BAD_SHIM:
		return refuse(COUNT_SINK_BAD_SHIM, frame_len);
	case INT_BAD_VERSION:
		return refuse(COUNT_SINK_BAD_VERSION, frame_len);
	case INT_BAD_BITMAP:
		return refuse(COUNT_SINK_BAD_BITMAP, frame_len);
	default:
		return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
	}
}

/* UDP with an extra header in front: IP | UDP to the extension port | INT | original UDP or TCP. */
static __always_inline enum sink_parse parse_extension(void *data, void *end, __u32 ip_len, struct tagged_packet *p)
{
	struct {
		struct udphdr udp;
		struct int_block block;
	} *head = data + L4;
	void *inner = head + 1;
	__u64 frame_len = end - data;
	enum int_verdict verdict;
	__u32 l4_len;
	__u8 protocol;

	if (inner + UDP_LEN > end)
		return refuse(COUNT_SINK_TRUNCATED, frame_len);
	verdict = check_int_block(&head->block);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	protocol = *(__u8 *)&head->block.tail1;
	if (protocol == IPPROTO_UDP) {
		p->l4.udp = *(struct udphdr *)inner;
		l4_len = UDP_LEN;
	} else if (protocol == IPPROTO_TCP) {
		if (inner + TCP_BASE_LEN > end)
			return refuse(COUNT_SINK_TRUNCATED, frame_len);
		p->l4.tcp = *(struct tcphdr *)inner;
		l4_len = TCP_BASE_LEN;
	} else {
		return refuse(COUNT_SINK_BAD_PROTOCOL, frame_len);
	}
	if (ip_len < sizeof(struct iphdr) + EXTENSION_LEN + l4_len ||
	    bpf_ntohs(head->udp.len) != ip_len - sizeof(struct iphdr))
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);

	p->facts.block = head->block;
	p->facts.encapsulation = ENCAP_EXTENSION_UDP;
	p->facts.l4_len = l4_len;
	p->facts.key.protocol = protocol;
	p->facts.orig_len = ip_len - EXTENSION_LEN;
	return SINK_TAGGED;
}

/* INT between the L4 header (of TCP: its first 20 bytes) and what follows. */
static __always_inline enum sink_parse parse_over_tcp_udp(void *data, void *end, __u32 ip_len, struct tagged_packet *p)
{
	__u64 frame_len = end - data;
	struct int_block *block;
	enum int_verdict verdict;
	__u32 l4_len, want;

	if (p->ip.protocol == IPPROTO_UDP) {
		struct udphdr *udp = data + L4;

		block = (void *)(udp + 1);
		if ((void *)(block + 1) > end)
			return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
		p->l4.udp = *udp;
		l4_len = UDP_LEN;
		want = ip_len == sizeof(struct iphdr) + bpf_ntohs(udp->len) ? UDP_LEN : 0;
	} else {
		struct tcphdr *tcp = data + L4;

		block = (void *)(tcp + 1);
		if ((void *)(block + 1) > end)
			return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
		p->l4.tcp = *tcp;
		l4_len = TCP_BASE_LEN;
		want = (tcp->doff >> 4) * 4;
	}
	verdict = check_int_block(block);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	if (want < l4_len || ip_len < sizeof(struct iphdr) + want + INT_BLOCK_LEN)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);

	p->facts.block = *block;
	p->facts.encapsulation = ENCAP_OVER_TCP_UDP;
	p->facts.l4_len = l4_len;
	p->facts.key.protocol = p->ip.protocol;
	p->facts.orig_len = ip_len - INT_BLOCK_LEN;
	return SINK_TAGGED;
}

static __always_inline enum sink_parse parse(void *data, void *end, const struct sink_settings *set,
					     struct tagged_packet *p)
{
	struct {
		struct ethhdr eth;
		struct iphdr ip;
	} __attribute__((packed)) *head = data;
	__u64 frame_len = end - data;
	bool marked, extension = false;
	__u32 ip_len;

	if ((void *)(head + 1) > end || head->eth.h_proto != bpf_htons(ETH_P_IP))
		return SINK_NOT_MARKED;
	if (head->ip.protocol != IPPROTO_UDP && head->ip.protocol != IPPROTO_TCP)
		return SINK_NOT_MARKED;
	marked = set->flags & SINK_OVER_TCP_UDP && (head->ip.tos & set->tos_mask) == set->tos_value;
	if (set->flags & SINK_EXTENSION_UDP && head->ip.protocol == IPPROTO_UDP && head->ip.version_ihl == 0x45 &&
	    !(head->ip.frag_off & bpf_htons(IP_OFFSET))) {
		struct udphdr *udp = data + L4;

		extension = (void *)(udp + 1) <= end && udp->dest == set->extension_port;
	}
	if (!marked && !extension)
		return SINK_NOT_MARKED;
	if (head->ip.version_ihl != 0x45)
		return refuse(COUNT_SINK_IP_OPTIONS, frame_len);
	if (is_fragment(head->ip.frag_off))
		return refuse(COUNT_SINK_FRAGMENT, frame_len);
	ip_len = bpf_ntohs(head->ip.tot_len);
	if (ip_len < sizeof(struct iphdr) || ip_len > frame_len - L3)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);

	__builtin_memset(&p->l4, 0, sizeof(p->l4));
	__builtin_memset(&p->news, 0, sizeof(p->news));
	__builtin_memcpy(&p->eth, &head->eth, sizeof(p->eth));
	__builtin_memcpy(&p->ip, &head->ip, sizeof(p->ip));
	p->facts.key.saddr = p->ip.saddr;
	p->facts.key.daddr = p->ip.daddr;
	return extension ? parse_extension(data, end, ip_len, p) : parse_over_tcp_udp(data, end, ip_len, p);
}

#endif
