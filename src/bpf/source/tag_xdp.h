/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tags a packet at XDP. Only extension-udp is possible here, because XDP cannot see whether the packet's checksum is
 * finished, and extension-udp does not change it.
 */
#ifndef HOSTINT_SOURCE_TAG_XDP_H
#define HOSTINT_SOURCE_TAG_XDP_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/wire.h"
#include "kernel/clock.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "source/counters.h"
#include "source/crossed.h"
#include "source/flow_numbers.h"
#include "source/missed.h"
#include "source/outgoing.h"
#include "source/push.h"
#include "source/tagged.h"

/* Moves everything before the L4 header down, word by word from the front. */
static __always_inline bool move_down(void *data, void *end, __u32 by, __u32 len)
{
	if (data + by + 2 > end)
		return false;
	*(__u16 *)data = *(__u16 *)(data + by);
	for (__u32 i = 0; i < MAX_L4 / 4; i++) {
		__u32 at = 2 + 4 * i;
		void *to;

		if (at >= len || at > MAX_L4)
			break;
		to = data + at;
		if (to + by + 4 > end)
			return false;
		*(__u32 *)to = *(__u32 *)(to + by);
	}
	return true;
}

static __always_inline bool write_extension(void *data, void *end, struct outgoing_packet *p)
{
	__u8 *protocol = at_offset(data, p->at.protocol_at);
	void *body = at_offset(data, p->at.l4);

	if (body + EXTENSION_LEN > end || (void *)(protocol + 1) > end ||
	    !store_ip(data, end, p->at.l3, p->at.family, out_ip(p)))
		return false;
	__builtin_memcpy(body, &p->out.udp, EXTENSION_LEN);
	*protocol = IPPROTO_UDP;
	return true;
}

static __always_inline int tag_xdp(struct xdp_md *ctx, const struct host_settings *host, struct outgoing_packet *p,
				   struct source_flow *f, bool locked)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct flow_number number;
	__u64 now;

	if (data + p->at.l4 > end || bpf_xdp_adjust_head(ctx, -EXTENSION_LEN)) {
		count_missed(COUNT_SOURCE_CANNOT_RESIZE, 1, p->frame_len);
		return XDP_PASS;
	}
	now = now_ns(host);
	next_numbers(f, 1, now, locked, &number);
	fill_block(&p->out.udp.block, p, host->node_id, now, &number);
	push_extension(p);
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	/* Only the verifier needs these checks; the packet was long enough before. */
	if (!move_down(data, end, EXTENSION_LEN, p->at.l4 & 0xff) || !write_extension(data, end, p)) {
		count_source(COUNT_SOURCE_DROPPED, 1, p->frame_len);
		return XDP_DROP;
	}
	count_tagged(p, f, ip_bytes(p, p->segments), locked);
	note_crossed(host, p, 1, now);
	return XDP_PASS;
}

#endif
