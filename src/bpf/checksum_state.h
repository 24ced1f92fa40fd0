/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Is the L4 checksum in the packet finished, or left to the device? */
#ifndef HOSTINT_CHECKSUM_STATE_H
#define HOSTINT_CHECKSUM_STATE_H

/* Since 6.2. Weak: the program loads without it. */
extern void *bpf_cast_to_kern_ctx(void *obj) __ksym __weak;

struct checksum_state {
	bool unfinished;
};

static __always_inline bool starts_at(const struct outgoing_packet *p, __u32 start, __u32 l4, __u16 offset)
{
	return start == l4 && offset == (p->ip.protocol == IPPROTO_TCP ? __builtin_offsetof(struct tcphdr, check) :
									 __builtin_offsetof(struct udphdr, check));
}

/*
 * False if it can't be known. A checksum that is left unfinished for another header, that of a packet inside
 * this one, does not matter: ours is right once that one is finished (local checksum offload).
 */
static __always_inline bool read_checksum_state(struct __sk_buff *ctx, const struct outgoing_packet *p, __u32 l4,
						struct checksum_state *state)
{
	if (have_kernel_ctx) {
		struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);

		state->unfinished =
			BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_PARTIAL &&
			starts_at(p, skb->csum_start - (__u32)(skb->data - skb->head), l4, skb->csum_offset);
		return true;
	}
	/* Below 6.2: the context pointer is the skb's own address; read through it. */
	struct sk_buff *skb = (void *)ctx;
	unsigned char *head, *data;
	__u16 start, offset;

	if (bpf_probe_read_kernel(&head, sizeof(head), (void *)ctx + bpf_core_field_offset(skb->head)) ||
	    bpf_probe_read_kernel(&data, sizeof(data), (void *)ctx + bpf_core_field_offset(skb->data)) ||
	    bpf_probe_read_kernel(&start, sizeof(start), (void *)ctx + bpf_core_field_offset(skb->csum_start)) ||
	    bpf_probe_read_kernel(&offset, sizeof(offset), (void *)ctx + bpf_core_field_offset(skb->csum_offset)))
		return false;
	state->unfinished = BPF_CORE_READ_BITFIELD_PROBED(skb, ip_summed) == CHECKSUM_PARTIAL &&
			    starts_at(p, start - (__u32)(data - head), l4, offset);
	return true;
}

#endif
