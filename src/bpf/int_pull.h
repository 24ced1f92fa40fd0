/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Takes INT out of a packet: lengths, checksums and DSCP become what the sender wrote. */
#ifndef HOSTINT_INT_PULL_H
#define HOSTINT_INT_PULL_H

/* The L4 checksum without the INT block. Holds for finished checksums and for those that the sender's
 * stack left to a device that never finished them: see hostint-wire(7). */
static __always_inline __u16 checksum_without_int(__u16 check, const struct int_block *block)
{
	__u64 sum = (__u64)check + bpf_htons(INT_BLOCK_LEN);

	if (block->flags & INT_FLAG_CHECKSUM)
		return csum_fold(sum + csum_words(block, INT_BLOCK_LEN));
	return csum_fold(sum + csum_words(block, INT_BLOCK_LEN - 4));
}

static __always_inline void restore_over_tcp_udp(struct tagged_packet *p, const struct sink_settings *set)
{
	const struct int_block *block = &p->facts.block;
	__u8 ecn = p->ip.tos & 3;
	__u8 tos = block->flags & INT_FLAG_DSCP ? (block->dscp & ~3) | ecn : p->ip.tos & ~set->tos_mask;

	ip_change(&p->ip, tos, p->facts.orig_len, p->ip.protocol);
	if (p->ip.protocol == IPPROTO_TCP) {
		p->l4.tcp.check = csum_tcp(checksum_without_int(p->l4.tcp.check, block));
		return;
	}
	/* The UDP length stands in the header and in the pseudo header. */
	if (p->l4.udp.check)
		p->l4.udp.check = csum_udp(
			csum_fold((__u64)checksum_without_int(p->l4.udp.check, block) + bpf_htons(INT_BLOCK_LEN)));
	p->l4.udp.len = bpf_htons(bpf_ntohs(p->l4.udp.len) - INT_BLOCK_LEN);
}

/* Cuts the INT out. The packet is untouched until the kernel has agreed to shorten it. */
static __always_inline bool strip(struct xdp_md *ctx, struct tagged_packet *p, const struct sink_settings *set)
{
	bool extension = p->facts.encapsulation == ENCAP_EXTENSION_UDP;
	int len = extension ? EXTENSION_LEN : INT_BLOCK_LEN;
	void *data, *end;

	if (bpf_xdp_adjust_head(ctx, len))
		return false;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + L4 + TCP_BASE_LEN > end && (p->facts.l4_len != UDP_LEN || data + L4 + UDP_LEN > end)) {
		bpf_xdp_adjust_head(ctx, -len);
		return false;
	}
	if (extension)
		ip_change(&p->ip, p->ip.tos, p->facts.orig_len, p->facts.key.protocol);
	else
		restore_over_tcp_udp(p, set);
	__builtin_memcpy(data, &p->eth, sizeof(p->eth));
	__builtin_memcpy(data + L3, &p->ip, sizeof(p->ip));
	if (extension)
		return true;
	if (p->facts.l4_len == UDP_LEN) {
		if (data + L4 + UDP_LEN <= end)
			__builtin_memcpy(data + L4, &p->l4, UDP_LEN);
	} else if (data + L4 + TCP_BASE_LEN <= end) {
		__builtin_memcpy(data + L4, &p->l4, TCP_BASE_LEN);
	}
	return true;
}

#endif
