/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the headers of a tagged packet from those of the original. */
#ifndef HOSTINT_INT_PUSH_H
#define HOSTINT_INT_PUSH_H

/* What is taken from the packet before it is changed. */
struct outgoing_packet {
	struct iphdr ip;
	union {
		struct udphdr udp;
		struct tcphdr tcp;
	} l4;
	__u32 l4_len;
	__u32 ip_len;
};

/* From the IPv4 header to the end of the INT block, in one piece: it is stored at once. */
struct pushed_headers {
	struct iphdr ip;
	union {
		struct {
			struct udphdr udp;
			struct int_block block;
		} udp;
		struct {
			struct tcphdr tcp;
			struct int_block block;
		} tcp;
	};
};

static __always_inline void fill_block(struct int_block *b, __u32 node_id, __u32 ifindex, __u64 now,
				       const struct flow_number *number)
{
	b->type = INT_TYPE;
	b->flags = INT_FLAG_CHECKSUM | number->age_code;
	b->length = INT_BLOCK_WORDS;
	b->dscp = 0;
	b->version = 0;
	b->ins_count = INT_INS_COUNT;
	b->max_hops = INT_MAX_HOPS;
	b->total_hops = 1;
	b->bitmap = bpf_htons(INT_BITMAP);
	b->reserved = 0;
	b->node_id = bpf_htonl(node_id);
	b->ingress_port = bpf_htons(ifindex);
	b->egress_port = b->ingress_port;
	b->ingress_ts = bpf_htonl((__u32)now);
	b->egress_ts = b->ingress_ts;
	b->sequence = bpf_htonl(number->sequence);
	b->tail1 = 0;
	b->tail2 = 0;
}

/* The original packet's L4 header stays where it is, its checksum, finished or not, too. */
static __always_inline void push_extension(const struct outgoing_packet *p, struct int_block *block, __be16 port,
					   struct pushed_headers *out)
{
	out->ip = p->ip;
	ip_change(&out->ip, p->ip.tos, p->ip_len + EXTENSION_LEN, IPPROTO_UDP);
	out->udp.udp.source = p->l4.udp.source;
	out->udp.udp.dest = port;
	out->udp.udp.len = bpf_htons(p->ip_len - sizeof(struct iphdr) + EXTENSION_LEN);
	out->udp.udp.check = 0;
	*(__u8 *)&block->tail1 = p->ip.protocol;
	out->udp.block = *block;
}

/*
 * The checksum of a TCP segment that now has INT behind its first 20 bytes, without touching payload.
 * unfinished: the field holds the pseudo header's sum only, and somebody will add up everything from the
 * old L4 start on and store the result at the old place of the field, now the tail's first word. That sum
 * contains the tail, so the tail keeps the seed and a second word takes off what the field counts anew.
 */
static __always_inline void tcp_checksum(struct tcphdr *tcp, struct int_block *block, bool unfinished)
{
	const __u16 added = bpf_htons(INT_BLOCK_LEN);
	__u16 seed = tcp->check, header;

	if (!unfinished) {
		tcp->check = csum_tcp(csum_fold((__u64)seed + csum_neg(added) +
						csum_neg(csum_fold(csum_words(block, INT_BLOCK_LEN)))));
		return;
	}
	tcp->check = 0;
	header = csum_fold(csum_words(tcp, TCP_BASE_LEN));
	tcp->check = csum_neg(csum_fold((__u64)added + header + csum_words(block, 16)));
	block->tail1 = seed;
	block->tail2 = csum_fold((__u64)header + csum_neg(csum_fold(csum_words((__u8 *)block + 16, 16))));
}

/* As tcp_checksum; the old place of the field is the tail's second word, and the length changes too. */
static __always_inline void udp_checksum(struct udphdr *udp, struct int_block *block, bool unfinished)
{
	const __u16 added = bpf_htons(INT_BLOCK_LEN);
	__u16 seed = udp->check, old_header;

	if (unfinished) {
		udp->check = 0;
		old_header = csum_fold(csum_words(udp, UDP_LEN));
		udp->len = bpf_htons(bpf_ntohs(udp->len) + INT_BLOCK_LEN);
		udp->check = csum_udp(csum_neg(
			csum_fold((__u64)added + csum_words(udp, UDP_LEN) + csum_words(block, INT_BLOCK_LEN - 8))));
		block->tail1 = csum_fold((__u64)old_header + csum_neg(csum_fold(csum_words((__u8 *)block + 28, 4))));
		block->tail2 = seed;
		return;
	}
	udp->len = bpf_htons(bpf_ntohs(udp->len) + INT_BLOCK_LEN);
	if (seed) /* 0: the sender does without a checksum, and so do we */
		udp->check = csum_udp(csum_fold((__u64)seed + csum_neg(added) + csum_neg(added) +
						csum_neg(csum_fold(csum_words(block, INT_BLOCK_LEN)))));
}

static __always_inline void push_over_tcp_udp(const struct outgoing_packet *p, struct int_block *block, __u8 tos_value,
					      __u8 tos_mask, bool unfinished, struct pushed_headers *out)
{
	block->flags |= INT_FLAG_DSCP;
	block->dscp = p->ip.tos & ~3;
	out->ip = p->ip;
	ip_change(&out->ip, (p->ip.tos & ~tos_mask) | tos_value, p->ip_len + INT_BLOCK_LEN, p->ip.protocol);
	if (p->l4_len == TCP_BASE_LEN) {
		out->tcp.tcp = p->l4.tcp;
		tcp_checksum(&out->tcp.tcp, block, unfinished);
		out->tcp.block = *block;
	} else {
		out->udp.udp = p->l4.udp;
		udp_checksum(&out->udp.udp, block, unfinished);
		out->udp.block = *block;
	}
}

#endif
