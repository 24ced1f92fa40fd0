/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps numbers far from a flow's newest one on probation, so that one damaged number does not move the record.
 *
 * A far number is believed when others near it confirm it: several packets if it is ahead, more of them if it is behind
 * and no silence explains it. If a flow ends before, the sweep believes a number ahead that fits the flow's rate. A far
 * number that is refuted belonged to a packet all the same: it takes the place of the number that is missing there.
 */
#ifndef HOSTINT_SINK_FAR_NUMBERS_H
#define HOSTINT_SINK_FAR_NUMBERS_H

#include "kernel/kernel.h"
#include "hostint/sink_flow.h"
#include "sink/branchless.h"
#include "sink/home_cpu.h"
#include "sink/loss_periods.h"

enum {
	CONFIRM_AHEAD = 4,   /* packets that confirm numbers ahead of head, or behind it after a silence */
	CONFIRM_BEHIND = 16, /* packets that confirm numbers behind head, with none near head between them */
	RATE_FACTOR = 8,     /* a flow may have sent this much faster than on average while its packets were lost */
	RATE_PACKETS = 4,    /* packets from which a flow's rate is known */
	MAX_STRAYS = 64,
};

/* Says whether the far numbers are ahead of head. */
static __always_inline bool far_is_ahead(const struct sink_flow *f)
{
	return (__s32)(f->far_first - f->head) > 0;
}

/* Marks count numbers from a on as seen; count is at most half a window. Returns how many had been seen before. */
static __always_inline __u32 see_far_numbers(struct sink_flow *f, __u32 a, __u32 count)
{
	__u32 known = 0;

	for (int i = 0; i <= WINDOW_WORDS / 2; i++) {
		__u32 bit = a & 63, w = (a >> 6) & WORD_MASK, room = 64 - bit;
		__u32 take = choose(-(__u64)less(count, room), count, room);
		__u64 mask = (((1ULL << (take & 63)) - 1) | -(__u64)(take >> 6)) << bit;

		known += __builtin_popcountll(f->far_seen[w] & mask);
		f->far_seen[w] |= mask;
		a += take;
		count -= take;
	}
	return known;
}

/* Forgets what head left behind when it moved on. */
static __always_inline void follow_head(struct sink_flow *f, __u64 now)
{
	if (f->far_head == f->head)
		return;
	/* Numbers behind are only confirmed while head rests; those ahead may have come early. */
	if (!far_is_ahead(f) || is_over(now, f->far_ns, QUIET_NS))
		f->far_packets = 0;
	f->far_head = f->head;
	f->strays = 0;
}

/*
 * Takes count numbers from seq on, far from head, on probation. Returns true if they confirm those before.
 */
static __always_inline bool note_far_numbers(struct sink_flow *f, __u32 seq, __u32 count, __u64 now, __u32 *duplicates)
{
	__u32 last = seq + count - 1, first = f->far_first, end = f->far_last, known, needed;

	follow_head(f, now);
	first = choose(any(less((__s32)(seq - first), 0)), seq, first);
	end = choose(any(less(0, (__s32)(last - end))), last, end);
	if (!f->far_packets || end - first >= WINDOW) {
		f->far_packets = 0;
		f->far_ns = now;
		f->far_hole_ns = f->last_ns && f->last_ns < now ? f->last_ns : now;
		f->far_waits = 1;
		for (int i = 0; i < WINDOW_WORDS; i++)
			f->far_seen[i] = 0;
		first = seq;
		end = last;
	}
	f->far_first = first;
	f->far_last = end;
	known = see_far_numbers(f, seq, count);
	*duplicates = known;
	f->strays += count - known;
	f->far_packets += less(known, count);
	needed = far_is_ahead(f) || f->far_ns - f->far_hole_ns > QUIET_NS ? CONFIRM_AHEAD : CONFIRM_BEHIND;
	return f->far_packets >= needed;
}

/* Says whether the numbers that are missing before the far ones fit into the time in which they were sent. */
static __always_inline bool far_fits_rate(const struct sink_flow *f)
{
	__u64 silence = f->far_ns - f->far_hole_ns, lived = f->far_hole_ns - f->first_ns;
	__u64 packets = all_packets(f) - f->far_packets;
	__u32 skipped = f->far_first - f->head - 1;

	return far_is_ahead(f) && f->far_head == f->head && packets >= RATE_PACKETS && skipped &&
	       silence / skipped >= lived / packets / RATE_FACTOR;
}

/* Says whether a sweep has to decide about the far numbers. Those that it does not believe may still be confirmed. */
static __always_inline bool far_is_due(const struct sink_flow *f, __u64 now, __u64 timeout)
{
	return f->far_packets && f->far_waits && is_over(now, f->far_ns, timeout);
}

/*
 * Goes on at the far numbers, after the last loss period was given up. Returns true if that is a new numbering: numbers
 * behind, or a leap over more packets than fit, at 32 ns each, into the time since the last one.
 */
static __always_inline bool move_to_far_numbers(struct sink_flow *f, __u64 now, __s32 latency_ns)
{
	__u32 skipped = f->far_first - f->head - 1, count = f->far_last - f->far_first + 1, total, a, over;
	__u64 silence = f->far_ns - f->far_hole_ns;
	bool restart = !far_is_ahead(f) || (skipped >= 4096 && skipped >= silence >> 5);
	/* A first number that no other confirmed may have been damaged; what is missing after it is not measured. */
	bool lone = f->head == f->first && f->first != 1;
	__u32 strays = f->strays, seen = 0, awaited = 0;

	restart |= lone;
	if (restart) {
		skipped = 0;
		f->first = f->far_first;
		f->first_ns = now;
		f->first_latency_ns = latency_ns;
		f->restarts += !lone;
	}
	barrier();
	total = skipped + count;
	if (total < skipped || total > WINDOW) {
		for (int i = 0; i < WINDOW_WORDS; i++)
			seen += __builtin_popcountll(f->far_seen[i]);
		/* Those of other strays are among the numbers that were skipped. */
		strays -= choose(any(less(strays, seen)), strays, seen);
		over = skipped - (WINDOW - count);
		over -= choose(any(less(over, strays)), over, strays);
		add_lost(f, over, f->head + 1, f->far_hole_ns);
		total = WINDOW;
	}
	barrier();
	f->head = f->far_last;
	a = f->far_last + 1 - total;
	for (int i = 0; i <= WINDOW_WORDS; i++) {
		__u32 bit = a & 63, w = (a >> 6) & WORD_MASK, room = 64 - bit;
		__u32 take = choose(-(__u64)less(total, room), total, room);
		__u64 mask = (((1ULL << (take & 63)) - 1) | -(__u64)(take >> 6)) << bit;

		mask &= ~f->far_seen[w];
		f->fresh[w] |= mask;
		awaited += __builtin_popcountll(mask);
		a += take;
		total -= take;
	}
	f->awaited += awaited;
	f->gap_ns = awaited ? now : 0;
	f->fresh_hole_ns = awaited ? f->far_hole_ns : 0;
	f->far_packets = 0;
	f->strays = 0;
	return restart && !lone;
}

/* Returns how many of the skipped numbers before a new one belong to strays that arrived where they are missing. */
static __always_inline __u32 take_strays(struct sink_flow *f, __u32 skipped)
{
	__u32 strays = f->far_head == f->head ? f->strays : 0;

	strays = choose(any(less(skipped, strays)), skipped, strays);
	strays = choose(any(less(MAX_STRAYS, strays)), MAX_STRAYS, strays);
	if (strays) {
		f->strays = 0;
		f->far_packets = 0;
		f->damaged += strays;
	}
	return strays;
}

#endif
