/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds hostint's INT in a dropped packet, and the flow that is measured: the one without it. */
#ifndef HOSTINT_DROP_INT_OF_H
#define HOSTINT_DROP_INT_OF_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/drop.h"
#include "hostint/int_option.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "int/option_find.h"
#include "drop/flow_of.h"

struct drop_int {
	__u32 tagged;
	__u32 source_node;
	__u32 sequence;
	__be16 outer_port; /* destination of the header in front of INT; 0: the flow's own header is in front */
};

/*
 * The same as read_headers(), in a function of its own, so that its variables take no room on the stack for longer: 5.10
 * to 6.12 allow 512 bytes for a function and what it calls.
 */
static __noinline int read_outer_flow(struct sk_buff *skb, struct drop_headers *h, struct flow_key *key)
{
	return read_headers(skb, h, key);
}

/* Reads a block of INT v0.5; entries that transit hops pushed stand behind its first 12 bytes. Returns its length. */
static __always_inline __u32 read_block(const struct drop_headers *h, __u32 at, struct int_block *b,
					struct drop_int *found)
{
	__u32 pushed;

	if (!read_at(h, at, b, INT_HEAD_LEN) || check_int_block(b) != INT_VALID)
		return 0;
	pushed = int_pushed(b) * INT_HOP_LEN;
	if (!read_at(h, at + pushed, b, sizeof(*b)))
		return 0;
	found->tagged = 1;
	found->source_node = bpf_ntohl(b->node_id);
	found->sequence = bpf_ntohl(b->sequence);
	return pushed + INT_BLOCK_LEN;
}

/* Reads UDP to the extension port | INT | original header, whose ports and protocol are those of the flow. */
static __always_inline void read_extension_drop(struct drop_headers *h, struct flow_key *key, struct drop_int *found)
{
	struct int_block b;
	__u32 len = read_block(h, h->at + UDP_LEN, &b, found);

	if (!len)
		return;
	found->outer_port = key->dport;
	key->layers = *(__u8 *)&b.tail1;
	key->sport = key->dport = 0;
	h->at += UDP_LEN + len;
	read_ports(h, key->layers, key);
}

/* Reads UDP | INT | original IP packet. Of a superpacket, the number is that of its first segment. */
static __always_inline void read_gpe_drop(struct drop_headers *h, struct flow_key *key, struct drop_int *found)
{
	__u32 at = h->at + UDP_LEN, more, grown;
	struct flow_key inner = {};
	struct drop_headers in = *h;
	__be32 node, sequence;
	/* The rest of the block is not read. */
	__u64 head[(GPE_HEAD_LEN + 7) / 8];
	struct gpe_block *b = (void *)head;
	bool is_whole;

	if (!read_at(h, at, head, GPE_HEAD_LEN) || check_gpe_block(b) != INT_VALID)
		return;
	more = gpe_more(b);
	grown = gpe_grown(b);
	if (!read_at(h, at + grown - more + __builtin_offsetof(struct gpe_block, node_id), &node, sizeof(node)) ||
	    !read_at(h, at + grown + __builtin_offsetof(struct gpe_block, sequence), &sequence, sizeof(sequence)))
		return;
	in.at = at + GPE_BLOCK_LEN + grown;
	is_whole = b->next == GPE_NEXT_IPV4 ? find_ipv4_flow(&in, &inner) : find_ipv6_flow(&in, &inner);
	if (!is_whole)
		return;
	found->tagged = 1;
	found->source_node = bpf_ntohl(node);
	found->sequence = bpf_ntohl(sequence);
	found->outer_port = key->dport;
	*key = inner;
	*h = in;
}

/* Finds INT that hides the flow's own ports. Returns false for packets without. */
static __always_inline bool find_hidden(struct drop_headers *h, __be16 extension_port, struct flow_key *key,
					struct drop_int *found)
{
	if (key->layers != DROP_UDP)
		return false;
	if (key->dport == bpf_htons(GPE_PORT)) {
		read_gpe_drop(h, key, found);
		return true;
	}
	if (key->dport == extension_port) {
		read_extension_drop(h, key, found);
		return true;
	}
	return false;
}

/* The flow's own header is in front of an option, or has it. */
static __noinline int read_option_drop(const struct drop_headers *h, __u32 protocol, struct drop_int *found)
{
	struct int_option option;

	if (!find_filled_option(h, read_kernel_bytes, h->at, protocol, &option))
		return 0;
	found->tagged = 1;
	found->source_node = bpf_ntohl(option.node_id);
	found->sequence = bpf_ntohl(option.sequence);
	return 0;
}

/* A function of its own, so that its variables take no room on the stack for longer. */
static __noinline int find_measured(const struct drop_settings *set, struct drop_headers *h, struct flow_key *key,
				    struct drop_int *found)
{
	__u32 protocol = key->layers;

	if (!find_hidden(h, set->extension_port, key, found) && set->tos_mask &&
	    (h->tos & set->tos_mask) == set->tos_value) {
		struct int_block b;

		if (protocol == DROP_UDP || protocol == DROP_TCP)
			read_block(h, h->at + (protocol == DROP_UDP ? UDP_LEN : TCP_BASE_LEN), &b, found);
	}
	if (!found->tagged && (protocol == DROP_UDP || protocol == DROP_TCP))
		read_option_drop(h, protocol, found);
	return 0;
}

/*
 * Returns false if the packet is not IP, or its headers are not there. Key and INT were all zeros before. The headers
 * are then at the transport header of the flow.
 */
static __always_inline bool read_flow(struct sk_buff *skb, const struct drop_settings *set, struct drop_headers *h,
				      struct flow_key *key, struct drop_int *found)
{
	if (!read_outer_flow(skb, h, key))
		return false;
	/* A later fragment has no ports, and no INT. */
	if (key->dport)
		find_measured(set, h, key, found);
	return true;
}

#endif
