/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looks for INT in an skb, whose headers may lie in fragments. */
#ifndef HOSTINT_TRANSIT_READABLE_H
#define HOSTINT_TRANSIT_READABLE_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "int/plain.h"
#include "packet/layout.h"
#include "transit/attachment.h"
#include "transit/find.h"
#include "transit/find_md.h"
#include "transit/passing.h"
#include "transit/verdicts.h"

static __always_inline bool has_no_int(struct __sk_buff *ctx)
{
	const struct int_marks marks = {
		.tos_value = tos_value,
		.tos_mask = tos_mask,
		.extension_port = extension_port,
		.other_tos_value = md_tos_mask ? md_tos_value : NO_TOS,
		.other_tos_mask = md_tos_mask,
		.other_port = md_port,
		.tunnel_port = carriers & CARRIER_GENEVE ? bpf_htons(GENEVE_PORT) : 0,
	};

	return has_no_mark((void *)(long)ctx->data, (void *)(long)ctx->data_end, &marks);
}

__noinline int find_skb(struct __sk_buff *ctx)
{
	struct passing_packet *p = passing();
	enum transit_find found;

	if (!p)
		return TRANSIT_NO_INT;
	p->frame_len = ctx->len;
	found = find_stack((void *)(long)ctx->data, (void *)(long)ctx->data_end,
			   ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0, p);
	if (found == TRANSIT_FOUND && p->is_unnumbered)
		identify_md(ctx, p);
	return found;
}

/* The headers may lie in fragments of the skb; the second look comes after they are made readable. */
static __always_inline enum transit_find find_readable(struct __sk_buff *ctx, struct passing_packet *p)
{
	int found = find_skb(ctx);

	if (found == TRANSIT_SHORT && !bpf_skb_pull_data(ctx, ctx->len < PULL_LEN ? ctx->len : PULL_LEN))
		found = find_skb(ctx);
	return found == TRANSIT_SHORT ? refuse_passing(p, COUNT_TRANSIT_TRUNCATED) : found;
}

#endif
