/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills in the block of INT-MX that stands behind TCP and UDP. */
#ifndef HOSTINT_SOURCE_MX_FILL_H
#define HOSTINT_SOURCE_MX_FILL_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "source/flow_numbers.h"
#include "source/outgoing.h"

static __always_inline void fill_mx_block(struct int_mx_block *b, const struct outgoing_packet *p, __u32 node_id,
					  __u64 now, const struct flow_number *number)
{
	_Static_assert(sizeof(*b) == INT_BLOCK_LEN, "INT-MX has the room of INT v0.5");
	__builtin_memset(b, 0, sizeof(*b));
	b->type = INT_MX_TYPE;
	b->length = INT_MX_WORDS;
	b->original = bpf_htons(p->at.tos & ~3);
	b->version = INT_MD_VERSION;
	b->bitmap = bpf_htons(INT_MX_BITMAP);
	b->domain = bpf_htons(GPE_DOMAIN);
	b->ds_bitmap = bpf_htons(INT_MX_DS_BITMAP);
	b->ds_flags = bpf_htons(mx_sample << INT_MX_SAMPLE_SHIFT | number->age_code);
	b->sequence = bpf_htonl(number->sequence);
	b->node_id = bpf_htonl(node_id);
	b->ingress_port = bpf_htons(p->ifindex);
	b->egress_port = b->ingress_port;
	b->ingress_ts = bpf_htonl((__u32)now);
}

#endif
