/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds out whether the packet's L4 checksum is finished or left to the device. */
#ifndef HOSTINT_PACKET_CHECKSUM_STATE_H
#define HOSTINT_PACKET_CHECKSUM_STATE_H

#include "kernel/kernel.h"
#include "kernel/features.h"
#include "packet/headers.h"
#include "packet/layout.h"

enum checksum_state {
	CHECKSUM_UNREADABLE, /* the kernel does not say */
	CHECKSUM_FINISHED,
	CHECKSUM_UNFINISHED,
};

static __always_inline enum checksum_state checksum_at(const struct layout *at, bool partial, __u32 start, __u16 offset)
{
	return partial && start == at->l4 &&
			       offset == (at->protocol == IPPROTO_TCP ? __builtin_offsetof(struct tcphdr, check) :
									__builtin_offsetof(struct udphdr, check)) ?
		       CHECKSUM_UNFINISHED :
		       CHECKSUM_FINISHED;
}

/*
 * An unfinished checksum in another header, of a packet inside this one, does not count: this packet's is right as soon
 * as that one is finished (local checksum offload).
 */
static __always_inline enum checksum_state checksum_state(struct __sk_buff *ctx, const struct layout *at)
{
	if (have_kernel_ctx) {
		struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);

		return checksum_at(at, BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_PARTIAL,
				   skb->csum_start - (__u32)(skb->data - skb->head), skb->csum_offset);
	}
	if (!have_kernel_reads)
		return CHECKSUM_UNREADABLE;
	/* Before 6.2 the context pointer is the skb's own address, so fields are read through it. */
	struct sk_buff *skb = (void *)ctx;
	unsigned char *head, *data;
	__u16 start, offset;

	if (bpf_probe_read_kernel(&head, sizeof(head), (void *)ctx + bpf_core_field_offset(skb->head)) ||
	    bpf_probe_read_kernel(&data, sizeof(data), (void *)ctx + bpf_core_field_offset(skb->data)) ||
	    bpf_probe_read_kernel(&start, sizeof(start), (void *)ctx + bpf_core_field_offset(skb->csum_start)) ||
	    bpf_probe_read_kernel(&offset, sizeof(offset), (void *)ctx + bpf_core_field_offset(skb->csum_offset)))
		return CHECKSUM_UNREADABLE;
	return checksum_at(at, BPF_CORE_READ_BITFIELD_PROBED(skb, ip_summed) == CHECKSUM_PARTIAL,
			   start - (__u32)(data - head), offset);
}

#endif
