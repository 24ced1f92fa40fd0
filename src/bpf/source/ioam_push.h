/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the hop-by-hop header of ioam. No L4 checksum covers it, so finished and unfinished ones stay right. */
#ifndef HOSTINT_SOURCE_IOAM_PUSH_H
#define HOSTINT_SOURCE_IOAM_PUSH_H

#include "kernel/kernel.h"
#include "hostint/ioam.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "source/budget.h"
#include "source/flow_numbers.h"
#include "source/outgoing.h"

enum {
	NS_PER_SECOND = 1000000000,
	NS_PER_US = 1000,
	PADN = 0x01020000, /* two bytes of padding */
};

static __always_inline void fill_ioam_trace(struct outgoing_packet *p, __u32 entries)
{
	struct ioam_head *h = &p->out.ioam.head;
	__u64 padding_at = entries * IOAM_ENTRY_WORDS;

	h->trace_type = IOAM_TYPE;
	h->trace_len = IOAM_TRACE_LEN + entries * IOAM_ENTRY_LEN;
	h->trace_reserved = 0;
	h->trace_kind = IOAM_TRACE_KIND;
	h->trace_namespace = bpf_htons(IOAM_NAMESPACE);
	h->trace_words = bpf_htons(IOAM_ENTRY_WORDS << 11 | entries * IOAM_ENTRY_WORDS);
	h->trace_bits = bpf_htonl(IOAM_TRACE_BITS << 8);
	__builtin_memset(p->out.ioam.room, 0, sizeof(p->out.ioam.room));
	/* Older verifiers learn nothing for the place from a comparison of the entries. */
	barrier_var(padding_at);
	if (!(entries & 1) && padding_at <= INT_MAX_PUSHED * IOAM_ENTRY_WORDS)
		p->out.ioam.room[padding_at] = bpf_htonl(PADN);
}

static __always_inline void fill_ioam(struct outgoing_packet *p, __u32 node_id, __u64 now,
				      const struct flow_number *number)
{
	struct ioam_head *h = &p->out.ioam.head;
	__u32 entries = budget(p);

	h->next = p->at.protocol;
	h->len = (IOAM_HEAD_LEN + ioam_room(entries)) / 8 - 1;
	h->pad[0] = 1;
	h->pad[1] = 0;
	h->own_type = IOAM_OWN_TYPE;
	h->own_len = IOAM_OWN_LEN;
	h->own_magic = bpf_htons(IOAM_MAGIC);
	h->own_version = 0;
	h->own_flags = number->age_code;
	h->port = bpf_htons(p->ifindex);
	h->node_id = bpf_htonl(node_id);
	h->time = bpf_htonl((__u32)now);
	h->base = is_tcp(p) ? p->l4.tcp.seq : 0;
	h->size = bpf_htons(p->segment_size);
	h->count = bpf_htons(p->segments);
	h->e2e_type = IOAM_TYPE;
	h->e2e_len = IOAM_E2E_LEN;
	h->e2e_reserved = 0;
	h->e2e_kind = IOAM_E2E_KIND;
	h->e2e_namespace = bpf_htons(IOAM_NAMESPACE);
	h->e2e_bits = bpf_htons(IOAM_E2E_BITS);
	h->sequence = bpf_htonl(number->sequence);
	h->seconds = bpf_htonl(now / NS_PER_SECOND);
	h->fraction = bpf_htonl((__u32)(now % NS_PER_SECOND) / NS_PER_US);
	fill_ioam_trace(p, entries);
}

static __always_inline void push_ioam(struct outgoing_packet *p)
{
	ipv6_change(out_ipv6(p), p->at.tos, p->at.ip_len - IP6_LEN + source_room(p, ENCAP_IOAM));
	out_ipv6(p)->nexthdr = IPPROTO_HOPOPTS;
}

#endif
