/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds TCP connections that are signed (TCP-AO, MD5). They go untagged from SYN to end: the MSS in their SYNs cannot be
 * lowered to leave room for INT. Each of their segments has the option, so no record of them is needed.
 */
#ifndef HOSTINT_SOURCE_SIGNED_H
#define HOSTINT_SOURCE_SIGNED_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/source_flow.h"
#include "packet/headers.h"
#include "packet/tcp_options.h"
#include "source/missed.h"
#include "source/outgoing.h"

/* Looks for the option among those in the scratch. Not static, so that the verifier walks it once. */
__noinline int has_signature(__u32 at, __u32 len)
{
	const struct outgoing_packet *p = outgoing();

	if (!p)
		return 0;
	for (int i = 0; i < MOST_TCP_OPTIONS; i++) {
		__u8 kind = p->chunk[at & 63], size = p->chunk[(at + 1) & 63];

		if (at >= len || kind == TCP_OPTION_END)
			return 0;
		if (signs_segment(kind))
			return 1;
		if (kind == TCP_OPTION_NOP) {
			at++;
			continue;
		}
		if (size < 2)
			return 0;
		at += size;
	}
	return 0;
}

/* Returns the bytes of TCP options, which the verifier then knows to be in bounds. */
static __always_inline __u32 signed_options_len(const struct outgoing_packet *p)
{
	__u32 last = p->l4_header_len - TCP_BASE_LEN - 1;

	/* Before Linux 6.8 a length is not known to be above 0 because it is not equal to 0. */
	barrier_var(last);
	return last < MOST_TCP_OPTIONS ? last + 1 : 0;
}

/* A connection that is known is not looked at again; one with the same ports as an earlier one begins with a SYN. */
static __always_inline bool may_be_signed(const struct outgoing_packet *p, const struct source_flow *f)
{
	return is_tcp(p) && (!f || !f->form || p->l4.tcp.flags & TCP_SYN);
}

/* A record with the ports of the connection is an earlier one's: its form ends, and its numbers go on later. */
static __always_inline bool leave_signed(const struct outgoing_packet *p, struct source_flow *f, __u32 segments)
{
	if (f) {
		f->form = FLOW_UNDECIDED;
		f->open = 0;
	}
	count_missed(COUNT_SOURCE_SIGNED, segments, p->frame_len);
	return true;
}

/* Returns true if the packet stays untagged because it is signed. */
static __always_inline bool leave_signed_skb(struct __sk_buff *ctx, struct outgoing_packet *p, struct source_flow *f,
					     __u32 segments)
{
	__u32 len;

	if (!may_be_signed(p, f))
		return false;
	len = signed_options_len(p);
	return len && !bpf_skb_load_bytes(ctx, p->at.l4 + TCP_BASE_LEN, p->chunk, len) && has_signature(0, len) &&
	       leave_signed(p, f, segments);
}

/* The same at XDP. */
static __always_inline bool leave_signed_frame(struct xdp_md *ctx, struct outgoing_packet *p, struct source_flow *f)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__be32 *to = (__be32 *)p->chunk, *from;
	__u32 len;

	if (!may_be_signed(p, f))
		return false;
	len = signed_options_len(p);
	from = at_offset(data, p->at.l4 + TCP_BASE_LEN);
	for (__u32 i = 0; i < MOST_TCP_OPTIONS / 4; i++) {
		if ((void *)(from + i + 1) > end)
			break;
		to[i] = from[i];
	}
	return len && has_signature(0, len) && leave_signed(p, f, 1);
}

#endif
