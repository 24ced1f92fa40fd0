/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Adds up a whole segment, in over-tcp-udp or INT-MD as it will be without INT. That shows what the checksum proves. Few packets
 * need it: those whose number leaps, some of those onto which transit hops pushed entries, and those whose checksum may be
 * unfinished.
 */
#ifndef HOSTINT_SINK_WHOLE_SUM_H
#define HOSTINT_SINK_WHOLE_SUM_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "packet/checksum.h"
#include "packet/headers.h"
#include "sink/restore.h"
#include "sink/tagged.h"

enum {
	WHOLE_CHUNK = 128,
	WHOLE_CHUNKS = 80, /* longer packets are not added up */
};

/* Says whether the packet has a checksum that counts INT. */
static __always_inline bool has_counted_checksum(const struct tagged_packet *p)
{
	return p->behind_l4 && (p->l4_len != UDP_LEN || p->l4.udp.check);
}

/* Says where the bytes begin that are added up one by one: behind the block, or with the L4 header of a packet in options. */
static __always_inline __u32 chunks_at(const struct tagged_packet *p)
{
	return p->at.l4 + (p->facts.encapsulation == ENCAP_OPTIONS ? 0 : p->l4_len + INT_BLOCK_LEN + p->grown);
}

/*
 * Adds up what follows, in chunks. Returns false if some of it lies beyond the bytes that can be read. The rest
 * is left to add_last(); what it needs stands in the scratch, so that the verifier forgets how many chunks there were.
 */
static __always_inline bool add_chunks(void *data, void *end, struct tagged_packet *p)
{
	__u32 at = chunks_at(p), left = p->at.ip_len - (at - p->at.l3);
	__u64 sum = 0;

	for (__u32 i = 0; i < WHOLE_CHUNKS && left >= WHOLE_CHUNK; i++) {
		void *chunk = data + (at & 0x7fff);
		__s64 more;

		barrier_var(chunk);
		if (chunk + WHOLE_CHUNK > end)
			return false;
		more = bpf_csum_diff(0, 0, chunk, WHOLE_CHUNK, 0);
		if (more < 0)
			return false;
		sum += more;
		at += WHOLE_CHUNK;
		left -= WHOLE_CHUNK;
	}
	p->rest_at = at;
	p->rest_len = left;
	p->rest_sum = csum_fold(sum);
	return left < WHOLE_CHUNK;
}

/* Adds up the bytes that are no whole chunk. */
static __always_inline bool add_last(void *data, void *end, struct tagged_packet *p)
{
	__u32 words = p->rest_len / 2, at = p->rest_at;
	__u64 sum = p->rest_sum;

	for (__u32 i = 0; i < WHOLE_CHUNK / 2; i++) {
		__u16 *word = data + (at & 0x7fff);

		barrier_var(word);
		if (i >= words)
			break;
		if ((void *)(word + 1) > end)
			return false;
		sum += *word;
		at += 2;
	}
	if (p->rest_len & 1) {
		__u8 *last = data + (at & 0x7fff);

		barrier_var(last);
		if ((void *)(last + 1) > end)
			return false;
		sum += bpf_htons(*last << 8);
	}
	p->rest_sum = csum_fold(sum);
	return true;
}

/*
 * Finds what is left of the restored segment's sum. That is 0 if its checksum is right, and what hops changed without
 * updating it if it is not; either of the finished checksum, or of one that was never finished (see hostint-wire(7)).
 */
static __always_inline void find_leftovers(struct tagged_packet *p)
{
	bool udp = p->l4_len == UDP_LEN;
	__u16 len = bpf_htons(p->orig_len - (p->at.l4 - p->at.l3)), check;
	__u64 pseudo, head;

	pseudo = pseudo_words(p, p->orig_len - (p->at.l4 - p->at.l3));
	if (udp)
		head = csum_words(&p->l4.udp, __builtin_offsetof(struct udphdr, len)) + len;
	else
		head = csum_words(&p->l4.tcp, TCP_BASE_LEN) + csum_neg(p->l4.tcp.check);
	check = checksum_without_int(udp ? p->l4.udp.check : p->l4.tcp.check, p);
	if (udp)
		check = csum_fold((__u64)check + bpf_htons(INT_BLOCK_LEN + p->grown));
	p->leftover = csum_zero(csum_fold(pseudo + head + p->rest_sum + check));
	p->leftover_unfinished = csum_zero(csum_fold((__u64)check + csum_neg(csum_fold(pseudo))));
}

/* Says whether the checksum is right if hops changed this without updating it. */
static __always_inline bool leaves(const struct tagged_packet *p, __u16 stale)
{
	return csum_zero(stale) == p->leftover || csum_zero(stale) == p->leftover_unfinished;
}

/* Finds out whether the checksum proves the number in the packet, after its bytes were added up. */
static __always_inline void prove_number(struct tagged_packet *p, bool added_up)
{
	if (!added_up)
		p->checked = CHECKSUM_PROVES_NOTHING;
	else
		p->checked = leaves(p, p->stale) ? CHECKSUM_RIGHT : CHECKSUM_WRONG;
}

/* Forgets what was known about the last packet. */
static __always_inline void begin_measuring(struct tagged_packet *p)
{
	p->facts.path = 0;
	p->checked = CHECKSUM_UNCHECKED;
	p->stale = 0;
}

#endif
