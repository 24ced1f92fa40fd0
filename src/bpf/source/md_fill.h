/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills in the block of INT-MD that stands behind TCP and UDP. */
#ifndef HOSTINT_SOURCE_MD_FILL_H
#define HOSTINT_SOURCE_MD_FILL_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "source/budget.h"
#include "source/flow_numbers.h"
#include "source/outgoing.h"

/* `len`, a constant, is that of the block: with or without a queue. */
static __always_inline void fill_md_block(struct int_md_block *b, const struct outgoing_packet *p, __u32 node_id,
					  __u64 now, const struct flow_number *number, const __u32 len)
{
	const bool has_queue = len == INT_MD_BLOCK_LEN;
	struct int_md_end *end = (void *)b + len - sizeof(*end);

	b->head.type = INT_MD_TYPE;
	b->head.length = len / 4 - 1;
	b->head.original = bpf_htons(p->at.tos & ~3);
	b->head.version = INT_MD_VERSION;
	b->head.reserved = 0;
	b->head.hop_words = has_queue ? GPE_PATH_WORDS : GPE_HOP_WORDS;
	b->head.remaining_hops = budget(p);
	b->head.bitmap = bpf_htons(has_queue ? GPE_PATH_BITMAP : GPE_LATENCY_BITMAP);
	b->head.domain = bpf_htons(GPE_DOMAIN);
	b->head.ds_bitmap = bpf_htons(INT_MD_DS_BITMAP);
	b->head.ds_flags = bpf_htons(number->age_code);
	b->node_id = bpf_htonl(node_id);
	b->ingress_port = bpf_htons(p->ifindex);
	b->egress_port = b->ingress_port;
	b->latency = ~0U; /* the source does not know its own latency */
	if (has_queue)
		end->queue = bpf_htonl(p->queue_packets & 0xffffff);
	end->ts_high = bpf_htonl(now >> 32);
	end->ts_low = bpf_htonl((__u32)now);
	end->sequence = bpf_htonl(number->sequence);
	end->tail1 = 0;
	end->tail2 = 0;
}

#endif
