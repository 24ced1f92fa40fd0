/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which sequence numbers of a flow came, came late, came twice, or never came: exact within a window. */
#ifndef HOSTINT_SINK_SEQUENCE_H
#define HOSTINT_SINK_SEQUENCE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/wire.h"
#include "sink/branchless.h"
#include "sink/loss_periods.h"

/* What one arrival's numbers were, beside being in order. */
struct arrival {
	__u32 reordered;
	__u32 recovered; /* had been declared lost */
	__u32 duplicates;
	__u32 restarted;
	/* Kept here and not on the stack, so that the verifier forgets how they came about: */
	__u32 seq;     /* numbers that can be told apart: the first, */
	__u32 count;   /* how many, */
	__u32 fresh;   /* the last so many of which are newer than all before, */
	__u32 skipped; /* and so many missing before these */
};

/* Upper bound of the age that the source states, doubled for path delay and rounding; 0: not stated. */
static __always_inline __u64 flow_age_bound(__u32 code)
{
	return code ? 1ULL << (FLOW_AGE_SHIFT + code) : 0;
}

/* What a range of numbers had been until it arrived. */
struct taken {
	__u32 awaited;
	__u32 declared; /* counted as lost */
	__u32 known;    /* came before */
};

/* Takes count numbers from a on out of all bitmaps. count <= WINDOW, none of them older than the window. */
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
	/* Between the sending of our record's first packet and of this one: however long either was on its way. */
	__s64 sent_later = now - f->first_ns - (__s32)((__u32)latency_ns - (__u32)f->first_latency_ns);

	/* Is the source's record younger than ours? */
	if (age_bound)
		return sent_later > (__s64)(age_bound + QUIET_NS / 8);
	/* More numbers skipped than packets fit into the time since: 32 ns each. */
	if (ahead > 0)
		return ahead > 4096 && (__u64)ahead > silence >> 5;
	/* A source that states no age, or did not live long enough to state one. */
	return silence > QUIET_NS && (seq <= LOW_NUMBERS || ahead <= -WINDOW);
}

/* How many of count numbers from seq on come before limit. */
static __always_inline __u32 before(__u32 seq, __u32 count, __u32 limit)
{
	__s32 ahead = limit - seq;

	ahead &= -less(0, ahead);
	return choose(-(__u64)less(ahead, count), ahead, count);
}

/* Numbers too old to be told apart: those that were lost, as long as there are any. */
static __always_inline void take_late(struct sink_flow *f, __u32 count, struct arrival *arrival)
{
	/* More may have been recovered than lost: late ones take the place of others that come after all. */
	__u64 open = f->recovered < f->lost ? f->lost - f->recovered : 0;
	__u32 recovered = open < count ? open : count;

	f->late += count;
	f->recovered += recovered;
	f->reordered += count;
	arrival->recovered += recovered;
	arrival->reordered += count;
}

/* last: the packet's last number. */
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
 * Accounts for the arrival of a packet that stands for count numbers from seq on, at most half a window.
 * timeout: --loss-timeout. watching: this sink has seen everything since the flow's numbering began at 1,
 * should it begin with this packet.
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
		/* Only the newest WINDOW - 1 can be told apart; older ones are lost at once. */
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
		/* Numbers before the first one that we saw are not awaited; far on, first has no meaning. */
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
