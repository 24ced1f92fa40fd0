/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Computes SipHash-2-4 (Aumasson, Bernstein, 2012), a keyed tag of 64 bits, of whole 64-bit words. */
#ifndef HOSTINT_LEASE_SIPHASH_H
#define HOSTINT_LEASE_SIPHASH_H

#include "kernel/kernel.h"

struct siphash {
	__u64 v0, v1, v2, v3;
};

static __always_inline __u64 rotate_left(__u64 x, int by)
{
	return x << by | x >> (64 - by);
}

static __always_inline void sip_round(struct siphash *s)
{
	s->v0 += s->v1;
	s->v1 = rotate_left(s->v1, 13) ^ s->v0;
	s->v0 = rotate_left(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotate_left(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotate_left(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotate_left(s->v1, 17) ^ s->v2;
	s->v2 = rotate_left(s->v2, 32);
}

static __always_inline void sip_begin(struct siphash *s, const __u64 *key)
{
	s->v0 = key[0] ^ 0x736f6d6570736575ULL;
	s->v1 = key[1] ^ 0x646f72616e646f6dULL;
	s->v2 = key[0] ^ 0x6c7967656e657261ULL;
	s->v3 = key[1] ^ 0x7465646279746573ULL;
}

static __always_inline void sip_word(struct siphash *s, __u64 word)
{
	s->v3 ^= word;
	sip_round(s);
	sip_round(s);
	s->v0 ^= word;
}

/* Takes len / 8 words; len must be a constant, so that the loop is unrolled. */
static __always_inline void sip_words(struct siphash *s, const void *bytes, int len)
{
	const __u64 *words = bytes;

#pragma unroll
	for (int i = 0; i < len / 8; i++)
		sip_word(s, words[i]);
}

static __always_inline void sip_address(struct siphash *s, const __be32 *addr)
{
	sip_word(s, (__u64)addr[1] << 32 | addr[0]);
	sip_word(s, (__u64)addr[3] << 32 | addr[2]);
}

/* bytes is the length of all words together. */
static __always_inline __u64 sip_end(struct siphash *s, __u64 bytes)
{
	sip_word(s, bytes << 56);
	s->v2 ^= 0xff;
	sip_round(s);
	sip_round(s);
	sip_round(s);
	sip_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

#endif
