/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tracks which sequence numbers of a flow arrived, arrived late or twice, or are missing; exactly within a window. */
#ifndef HOSTINT_SINK_SEQUENCE_H
#define HOSTINT_SINK_SEQUENCE_H

#include "kernel/kernel.h"
#include "hostint/sink_flow.h"
#include "hostint/wire.h"
#include "sink/branchless.h"
#include "sink/far_numbers.h"
#include "sink/home_cpu.h"
#include "sink/loss_periods.h"

/* Says how one arrival's numbers differed from being in order. */
struct arrival {
	__u32 reordered;
	__u32 recovered; /* had been declared lost */
	__u32 duplicates;
	__u32 restarted;
	__u32 damaged;   /* packets with wrong numbers that take the place of missing ones */
	bool late_begin; /* the flow's first numbers were not tracked */
	bool far;        /* far numbers are on probation since now */
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

/* Says whether the source's record is younger than ours, so that numbering restarted; or seems to have restarted. */
static __always_inline bool seems_restarted(const struct sink_flow *f, __u32 seq, __s32 ahead, __u64 now,
					    __s32 latency_ns, __u64 age_bound)
{
	__u64 silence = now > f->last_ns ? now - f->last_ns : 0;
	/* This is the time between the sending of our record's first packet and of this one; path delays cancel out. */
	__s64 sent_later = now - f->first_ns - (__s32)((__u32)latency_ns - (__u32)f->first_latency_ns);

	if (age_bound)
		return sent_later > (__s64)(age_bound + QUIET_NS / 8);
	/* The source states no age, or ran too short a time to state one: low numbers after a silence are a restart. */
	return ahead <= 0 && silence > QUIET_NS && seq <= LOW_NUMBERS;
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

/* Says whether numbers are too far from head to be believed at once. */
static __always_inline bool is_far(const struct sink_flow *f, __u32 last, __s32 ahead, __u64 now)
{
	__u64 silence = now > f->last_ns ? now - f->last_ns : 0;

	if (ahead > 0)
		return ahead > WINDOW;
	/* Late numbers are common. They are no lost ones only if none is lost, or if the source was silent. */
	return (__s32)(f->head - last) >= WINDOW && (silence > QUIET_NS || f->recovered >= f->lost);
}

/*
 * Says whether the numbers behind head may have arrived before the first packet that was tracked, when packets of new
 * flows were left out: a path that reorders, or another CPU, had them first.
 */
static __always_inline bool may_have_overtaken(const struct sink_flow *f, __s32 ahead, __u64 now, __u64 timeout)
{
	return f->unsure && ahead > 1 && ahead <= WINDOW && !is_over(now, f->began_ns, timeout);
}

/*
 * Accounts for the arrival of a packet with count numbers from seq on, at most half a window. timeout is the option
 * --loss-timeout. watching says that the flow's numbering began at 1 while this sink tracked every packet, so that the
 * numbers before its first packet are missing. started_ns is when the sink was attached.
 */
static __always_inline void track_numbers(struct sink_flow *f, __u32 seq, __u32 count, __u64 now, __s32 latency_ns,
					  __u64 timeout, __u64 age_bound, bool watching, __u64 started_ns,
					  struct arrival *arrival)
{
	__s32 ahead = seq - f->head;
	bool begin = !f->first_ns, restart = false, far = false, confirmed = false;
	__u32 skipped = 0, last = seq + count - 1, fresh = 0, old;

	if (!begin) {
		restart = seems_restarted(f, seq, ahead, now, latency_ns, age_bound);
		/* One damaged field does not restart a flow: this number goes on where the last one was. */
		if (restart && ahead > 0 && ahead <= WINDOW) {
			restart = false;
			f->first_ns = now;
			f->first_latency_ns = latency_ns;
		}
		if (ahead == 1 && !(f->awaited & ~AWAITED_BUSY)) {
			f->head = last;
			return;
		}
		/* Numbers that passed unstripped, or untracked, are not measured; those that were awaited are lost. */
		begin = !restart && ahead > 0 &&
			(f->left_out || may_have_overtaken(f, ahead, now, timeout) ||
			 (f->last_ns < started_ns && is_over(now, f->last_ns, timeout)));
		far = !restart && !begin && is_far(f, last, ahead, now);
		watching &= restart;
	} else if (watching && seq - 1 > WINDOW && age_bound <= 2ULL << FLOW_AGE_SHIFT) {
		/* The flow is too young to miss this number of packets, so the number is damaged. */
		f->first_ns = now;
		f->first_latency_ns = latency_ns;
		f->first = 1;
		begin = false;
		far = true;
	}
	barrier();
	if (far) {
		bool waits = f->far_packets;

		confirmed = note_far_numbers(f, seq, count, now, &old);
		f->duplicates += old;
		arrival->duplicates += old;
		arrival->far = !waits && !confirmed;
	}
	if (restart || begin || confirmed || loss_period_over(f, now, timeout))
		end_loss_period(f, now, restart || begin || confirmed);
	if (confirmed) {
		arrival->restarted = move_to_far_numbers(f, now, latency_ns);
		return;
	}
	if (far) {
		if ((__s32)(last - f->head) <= 0) {
			f->late += count;
			f->reordered += count;
			arrival->reordered += count;
		}
		return;
	}
	if (begin || restart) {
		if (!f->first_ns || restart) {
			f->first_ns = now;
			f->first_latency_ns = latency_ns;
		}
		f->restarts += restart;
		arrival->restarted = restart;
		skipped = watching && seq ? seq - 1 : 0;
		arrival->late_begin = seq != 1 && !watching && !restart;
		f->first = seq - skipped;
		f->left_out = 0;
		f->far_packets = 0;
		f->strays = 0;
		fresh = count;
	} else if (ahead > 0) {
		old = take_strays(f, ahead - 1);
		arrival->damaged = old;
		skipped = ahead - 1 - old;
		seq -= old;
		count += old;
		fresh = count;
	} else {
		/* Numbers before the first one that was seen are not awaited. After many packets, first has no meaning. */
		if (f->head - f->first < WINDOW && all_packets(f) < 1U << 31) {
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
