/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds out whether the packet's L4 checksum is finished or left to the device. */
#ifndef HOSTINT_SOURCE_CHECKSUM_STATE_H
#define HOSTINT_SOURCE_CHECKSUM_STATE_H

#include "kernel/kernel.h"
#include "kernel/features.h"
#include "packet/headers.h"
#include "source/outgoing.h"

static __always_inline bool starts_at(const struct outgoing_packet *p, __u32 start, __u16 offset)
{
	return start == p->at.l4 &&
	       offset == (p->at.protocol == IPPROTO_TCP ? __builtin_offsetof(struct tcphdr, check) :
							  __builtin_offsetof(struct udphdr, check));
}

/*
 * Returns false if the state cannot be read. An unfinished checksum in another header, of a packet inside this one,
 * does not count: this packet's is right as soon as that one is finished (local checksum offload).
 */
static __always_inline bool read_checksum_state(struct __sk_buff *ctx, struct outgoing_packet *p)
{
	if (have_kernel_ctx) {
		struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);

		p->unfinished = BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_PARTIAL &&
				starts_at(p, skb->csum_start - (__u32)(skb->data - skb->head), skb->csum_offset);
		return true;
	}
	/* Before 6.2 the context pointer is the skb's own address, so fields are read through it. */
	struct sk_buff *skb = (void *)ctx;
	unsigned char *head, *data;
	__u16 start, offset;

	if (bpf_probe_read_kernel(&head, sizeof(head), (void *)ctx + bpf_core_field_offset(skb->head)) ||
	    bpf_probe_read_kernel(&data, sizeof(data), (void *)ctx + bpf_core_field_offset(skb->data)) ||
	    bpf_probe_read_kernel(&start, sizeof(start), (void *)ctx + bpf_core_field_offset(skb->csum_start)) ||
	    bpf_probe_read_kernel(&offset, sizeof(offset), (void *)ctx + bpf_core_field_offset(skb->csum_offset)))
		return false;
	p->unfinished = BPF_CORE_READ_BITFIELD_PROBED(skb, ip_summed) == CHECKSUM_PARTIAL &&
			starts_at(p, start - (__u32)(data - head), offset);
	return true;
}

#endif
