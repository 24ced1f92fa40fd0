/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Declares numbers lost after they were missing for a whole loss period. */
#ifndef HOSTINT_SINK_LOSS_PERIODS_H
#define HOSTINT_SINK_LOSS_PERIODS_H

#include "kernel/kernel.h"
#include "hostint/sink_flow.h"
#include "sink/branchless.h"

enum {
	WINDOW = WINDOW_WORDS * 64,
	WORD_MASK = WINDOW_WORDS - 1,
	QUIET_NS = 1000000000, /* after this silence, numbers up to LOW_NUMBERS are a restart */
	LOW_NUMBERS = 64,
};

/* This is the top bit of sink_flow.awaited. */
#define AWAITED_BUSY (1U << 31)

/*
 * The place of the only bit that is set, by the highest 6 bits of its product with a number in which each 6 bits in a row
 * are others (a de Bruijn sequence). The program's instructions would count bits three times as long.
 */
const __u8 places_of_bits[64] = {
	0,  1,  48, 2,  57, 49, 28, 3,  61, 58, 50, 42, 38, 29, 17, 4,  62, 55, 59, 36, 53, 51,
	43, 22, 45, 39, 33, 30, 24, 18, 12, 5,  63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21,
	44, 32, 23, 11, 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,  13, 8,  7,  6,
};

/* Of no bit at all this is any place. */
static __always_inline __u32 lowest_bit(__u64 bits)
{
	return places_of_bits[((bits & -bits) * 0x03f79d71b4cb0a89ULL) >> 58];
}

/* Returns the oldest number whose bit is set, beginning with the window's oldest number, head - 255. */
static __always_inline __u32 oldest_number(const __u64 *bitmap, __u32 head)
{
	__u32 start = head + 1; /* its slot is that of head + 1 - WINDOW */
	__u64 oldest = head;

#pragma unroll
	for (int i = WINDOW_WORDS; i >= 0; i--) {
		__u64 bits = bitmap[((start >> 6) + i) & WORD_MASK];

		if (i == 0)
			bits &= ~0ULL << (start & 63);
		oldest = choose(any(bits), (start & ~63U) + i * 64 + lowest_bit(bits) - WINDOW, oldest);
	}
	return oldest;
}

/* Adds losses to those that are not reported yet. */
static __always_inline void add_lost(struct sink_flow *f, __u32 count, __u32 first, __u64 hole_ns)
{
	__u64 known = any(f->lost_count);

	f->lost += count;
	f->lost_first = choose(known, f->lost_first, first);
	f->lost_hole_ns = choose(known, f->lost_hole_ns, hole_ns);
	f->lost_count += count;
}

/*
 * Ends a loss period: numbers that were missing from its start are lost, and numbers that went missing during it go
 * into the next one. So a number is declared lost between one and two timeouts after its gap was seen. give_up says
 * that no awaited number can arrive, or be recognised, any more.
 */
static __always_inline void end_loss_period(struct sink_flow *f, __u64 now, bool give_up)
{
	__u32 lost = 0;
	__u64 fresh = 0;

	if (give_up) {
		for (int i = 0; i < WINDOW_WORDS; i++) {
			f->aging[i] |= f->fresh[i];
			f->fresh[i] = 0;
		}
		f->aging_hole_ns = f->aging_hole_ns ?: f->fresh_hole_ns;
		f->awaited &= AWAITED_BUSY;
	}
	for (int i = 0; i < WINDOW_WORDS; i++)
		lost += __builtin_popcountll(f->aging[i]);
	if (lost)
		add_lost(f, lost, oldest_number(f->aging, f->head), f->aging_hole_ns);
	/* A bit is set in its new place before it leaves the old one: have_free_places() reads them without the lock. */
	for (int i = 0; i < WINDOW_WORDS; i++) {
		f->declared[i] |= f->aging[i];
		barrier();
		f->aging[i] = f->fresh[i];
		barrier();
		fresh |= f->fresh[i];
		f->fresh[i] = 0;
		if (give_up)
			f->declared[i] = 0;
	}
	f->aging_hole_ns = f->fresh_hole_ns;
	f->fresh_hole_ns = 0;
	f->gap_ns = fresh ? now : 0;
}

/* Another CPU may have set `since` to slightly after our `now`. If it is far after it, the clock was set back. */
static __always_inline bool is_over(__u64 now, __u64 since, __u64 wait)
{
	__s64 passed = now - since;

	return passed >= (__s64)wait || passed < -(__s64)QUIET_NS;
}

static __always_inline bool loss_period_over(const struct sink_flow *f, __u64 now, __u64 timeout)
{
	return f->gap_ns && is_over(now, f->gap_ns, timeout);
}

/*
 * Awaits count numbers from a on, and forgets those WINDOW numbers before, which had the same bits. Of these, numbers
 * still awaited are lost. count <= WINDOW.
 */
static __always_inline void await_numbers(struct sink_flow *f, __u32 a, __u32 count)
{
	__u32 fell = 0;
	__u64 first = 0;

	/* A range of count bits from a on touches at most one word more than the window has. */
	for (int i = 0; i <= WINDOW_WORDS; i++) {
		__u32 bit = a & 63, w = (a >> 6) & WORD_MASK, room = 64 - bit;
		__u32 take = choose(-(__u64)less(count, room), count, room);
		__u64 mask = (((1ULL << (take & 63)) - 1) | -(__u64)(take >> 6)) << bit;
		__u64 old = (f->fresh[w] | f->aging[w]) & mask;

		f->awaited += take - __builtin_popcountll(old | (f->declared[w] & mask));
		first = choose(any(old) & ~any(fell), (a & ~63U) - WINDOW + lowest_bit(old), first);
		fell += __builtin_popcountll(old);
		f->aging[w] &= ~mask;
		f->declared[w] &= ~mask;
		f->fresh[w] |= mask;
		a += take;
		count -= take;
	}
	if (fell)
		add_lost(f, fell, first, f->aging_hole_ns ?: f->fresh_hole_ns);
}

#endif
