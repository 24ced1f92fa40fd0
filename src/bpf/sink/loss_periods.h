/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How long numbers are missing, and when they are called lost. */
#ifndef HOSTINT_SINK_LOSS_PERIODS_H
#define HOSTINT_SINK_LOSS_PERIODS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "sink/branchless.h"

enum {
	WINDOW = WINDOW_WORDS * 64,
	WORD_MASK = WINDOW_WORDS - 1,
	QUIET_NS = 1000000000, /* after so long a silence low numbers are a restart: */
	LOW_NUMBERS = 64,
};

/* In sink_flow.awaited. */
#define AWAITED_BUSY (1U << 31)

static __always_inline __u32 lowest_bit(__u64 bits)
{
	return __builtin_popcountll((bits & -bits) - 1);
}

/* The oldest number whose bit is set, seen from the window's oldest number, head - 255, on. */
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

/* Adds losses to those that wait to be reported. */
static __always_inline void add_lost(struct sink_flow *f, __u32 count, __u32 first, __u64 hole_ns)
{
	f->lost += count;
	if (!f->lost_count) {
		f->lost_first = first;
		f->lost_hole_ns = hole_ns;
	}
	f->lost_count += count;
}

/*
 * Ends a loss period: what was missing throughout is lost, what began to miss during it goes into the next
 * one. So a number is declared lost between one and two timeouts after its gap was seen. give_up: nothing
 * that is awaited can come, or be told apart, any more.
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
	for (int i = 0; i < WINDOW_WORDS; i++) {
		f->declared[i] |= f->aging[i];
		f->aging[i] = f->fresh[i];
		fresh |= f->fresh[i];
		f->fresh[i] = 0;
		if (give_up)
			f->declared[i] = 0;
	}
	f->aging_hole_ns = f->fresh_hole_ns;
	f->fresh_hole_ns = 0;
	f->gap_ns = fresh ? now : 0;
}

/* Another CPU may have stamped `since` a little later than our `now`; far later: the clock was set back. */
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
 * Awaits count numbers from a on; forgets what their slots held WINDOW numbers ago. What was still awaited
 * there never came. count <= WINDOW.
 */
static __always_inline void await_numbers(struct sink_flow *f, __u32 a, __u32 count)
{
	__u32 fell = 0;
	__u64 first = 0;

	/* count bits from a on touch at most one word more than the window has */
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
