/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tracks which sequence numbers of a flow arrived, arrived late or twice, or are missing; exactly within a window. */
#ifndef HOSTINT_SINK_SEQUENCE_H
#define HOSTINT_SINK_SEQUENCE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "sink/branchless.h"
#include "sink/loss_periods.h"

/* Says how one arrival's numbers differed from being in order. */
struct arrival {
	__u32 reordered;
	__u32 recovered; /* had been declared lost */
	__u32 duplicates;
	__u32 restarted;
	/* These are kept here and not on the stack, so that the verifier forgets how they were found. */
	__u32 seq;     /* first of the numbers that are tracked one by one */
	__u32 count;   /* number of them */
	__u32 fresh;   /* number of them that are newer than all before */
	__u32 skipped; /* numbers missing before the fresh ones */
};

/* Returns an upper bound of the age that the source states, doubled for path delay and rounding; 0: not stated. */
static __always_inline __u64 flow_age_bound(__u32 code)
{
	return code ? 1ULL << (FLOW_AGE_SHIFT + code) : 0;
}

/* Counts a range of numbers by the states that they had before they arrived. */
struct taken {
	__u32 awaited;
	__u32 declared; /* counted as lost */
	__u32 known;    /* had arrived before */
};

/* Removes count numbers from a on from all bitmaps. count <= WINDOW, and none of them is older than the window. */
static __always_inline void take_numbers(struct sink_flow *f, __u32 a, __u32 count, struct taken *t)
{
	__u32 declared = 0, awaited = 0, known = 0;

	for (int i = 0; i <= WINDOW_WORDS; i++) {
		__u32 bit = a & 63, w = (a >> 6) & WORD_MASK, room = 64 - bit;
		__u32 take = choose(-(__u64)less(count, room), count, room);
		__u64 mask = (((1ULL << (take & 63)) - 1) | -(__u64)(take >> 6)) << bit;
		__u64 waited = (f->fresh[w] | f->aging[w]) & mask, lost = f->declared[w] & mask;

		awaited += __builtin_popcountll(waited);
		declared += __builtin_popcountll(lost);
		known += take - __builtin_popcountll(waited | lost);
		f->fresh[w] &= ~mask;
		f->aging[w] &= ~mask;
		f->declared[w] &= ~mask;
		a += take;
		count -= take;
	}
	f->awaited -= awaited + declared;
	t->awaited = awaited;
	t->declared = declared;
	t->known = known;
}

static __always_inline bool numbering_restarted(const struct sink_flow *f, __u32 seq, __s32 ahead, __u64 now,
						__s32 latency_ns, __u64 age_bound)
{
	__u64 silence = now > f->last_ns ? now - f->last_ns : 0;
	/* This is the time between the sending of our record's first packet and of this one; path delays cancel out. */
	__s64 sent_later = now - f->first_ns - (__s32)((__u32)latency_ns - (__u32)f->first_latency_ns);

	/* If the age is stated, numbering restarted if the source's record is younger than ours. */
	if (age_bound)
		return sent_later > (__s64)(age_bound + QUIET_NS / 8);
	/* A leap ahead is a restart if it skips more packets than fit, at 32 ns each, into the time since the last one. */
	if (ahead > 0)
		return ahead > 4096 && (__u64)ahead > silence >> 5;
	/* The source states no age, or ran too short a time to state one: low numbers after a silence are a restart. */
	return silence > QUIET_NS && (seq <= LOW_NUMBERS || ahead <= -WINDOW);
}

/* Returns the number of those count numbers from seq on that are before limit. */
static __always_inline __u32 before(__u32 seq, __u32 count, __u32 limit)
{
	__s32 ahead = limit - seq;

	ahead &= -less(0, ahead);
	return choose(-(__u64)less(ahead, count), ahead, count);
}

/* Numbers too old to be tracked are taken for lost ones that arrived late, as long as there are any. */
static __always_inline void take_late(struct sink_flow *f, __u32 count, struct arrival *arrival)
{
	/* More may have been recovered than lost, if late ones took the place of others that arrived later. */
	__u64 open = f->recovered < f->lost ? f->lost - f->recovered : 0;
	__u32 recovered = open < count ? open : count;

	f->late += count;
	f->recovered += recovered;
	f->reordered += count;
	arrival->recovered += recovered;
	arrival->reordered += count;
}

/* last is the packet's last number. */
static __always_inline void take_arrival(struct sink_flow *f, __u32 last, __u64 now, struct arrival *a)
{
	struct taken taken;

	if (a->skipped + a->fresh > WINDOW) {
		add_lost(f, a->skipped + a->fresh - WINDOW, last + 1 - a->fresh - a->skipped, f->last_ns ?: now);
		a->skipped = WINDOW - a->fresh;
	}
	if (a->skipped) {
		if (!f->gap_ns)
			f->gap_ns = now;
		if (!f->fresh_hole_ns)
			f->fresh_hole_ns = f->last_ns ?: now;
	}
	barrier();
	if (a->fresh)
		f->head = last;
	await_numbers(f, last + 1 - a->fresh - a->skipped, a->skipped + a->fresh);
	barrier();
	take_numbers(f, a->seq, a->count, &taken);
	f->duplicates += taken.known;
	f->recovered += taken.declared;
	f->reordered += taken.awaited + taken.declared - a->fresh;
	a->duplicates += taken.known;
	a->recovered += taken.declared;
	a->reordered += taken.awaited + taken.declared - a->fresh;
}

/*
 * Accounts for the arrival of a packet with count numbers from seq on, at most half a window. timeout is the option
 * --loss-timeout. watching says that this sink was attached when the flow's numbering began at 1, so that the numbers
 * before its first packet are missing.
 */
static __always_inline void track_numbers(struct sink_flow *f, __u32 seq, __u32 count, __u64 now, __s32 latency_ns,
					  __u64 timeout, __u64 age_bound, bool watching, struct arrival *arrival)
{
	__s32 ahead = seq - f->head;
	bool begin = !f->first_ns, restart = false, leap = false;
	__u32 skipped = 0, last = seq + count - 1, fresh = 0, old;

	if (ahead == 1 && !(f->awaited & ~AWAITED_BUSY) && !begin) {
		f->head = last;
		return;
	}
	if (!begin) {
		restart = numbering_restarted(f, seq, ahead, now, latency_ns, age_bound);
		/* Only the newest WINDOW - 1 numbers are tracked one by one; older ones are lost at once. */
		leap = !restart && ahead > WINDOW;
	}
	if (restart || leap || loss_period_over(f, now, timeout))
		end_loss_period(f, now, restart || leap);
	if (begin || restart) {
		f->first_ns = now;
		f->first_latency_ns = latency_ns;
		f->restarts += restart;
		arrival->restarted = restart;
		skipped = watching && seq ? seq - 1 : 0;
		f->first = seq - skipped;
		fresh = count;
	} else if (ahead > 0) {
		skipped = ahead - 1;
		fresh = count;
	} else {
		/* Numbers before the first one that was seen are not awaited. After many packets, first has no meaning. */
		if (f->head - f->first < WINDOW && f->packets < 1U << 31) {
			old = before(seq, count, f->first);
			f->reordered += old;
			arrival->reordered += old;
			seq += old;
			count -= old;
		}
		old = before(seq, count, f->head - (WINDOW - 1));
		if (old)
			take_late(f, old, arrival);
		seq += old;
		count -= old;
		if ((__s32)(last - f->head) > 0)
			fresh = last - f->head;
	}
	arrival->seq = seq;
	arrival->count = count;
	arrival->fresh = fresh;
	arrival->skipped = skipped;
	barrier();
	take_arrival(f, last, now, arrival);
}

#endif
