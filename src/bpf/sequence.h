/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which sequence numbers of a flow came, came late, came twice, or never came: exact within a window. */
#ifndef HOSTINT_SEQUENCE_H
#define HOSTINT_SEQUENCE_H

enum {
	WINDOW = WINDOW_WORDS * 64,
	WORD_MASK = WINDOW_WORDS - 1,
	QUIET_NS = 1000000000, /* after so long a silence low numbers are a restart: */
	LOW_NUMBERS = 64,
};

enum arrival {
	ARRIVED_IN_ORDER,
	ARRIVED_REORDERED,
	ARRIVED_RECOVERED, /* had been declared lost */
	ARRIVED_DUPLICATE,
	ARRIVED_RESTARTED,
};

/* Upper bound of the age that the source states, doubled for path delay and rounding; 0: not stated. */
static __always_inline __u64 flow_age_bound(__u8 flags)
{
	__u32 code = flags & INT_FLOW_AGE;

	return code ? 1ULL << (FLOW_AGE_SHIFT + code) : 0;
}

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
		f->awaited = 0;
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

		if (!count)
			break;
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

enum number_state {
	NUMBER_KNOWN, /* not awaited: came before */
	NUMBER_AWAITED,
	NUMBER_DECLARED, /* had been counted as lost */
};

static __always_inline enum number_state take_number(struct sink_flow *f, __u32 seq)
{
	__u64 bit = 1ULL << (seq & 63);
	__u32 w = (seq >> 6) & WORD_MASK;
	enum number_state state = NUMBER_AWAITED;

	if (f->declared[w] & bit)
		state = NUMBER_DECLARED;
	else if (!((f->fresh[w] | f->aging[w]) & bit))
		return NUMBER_KNOWN;
	f->fresh[w] &= ~bit;
	f->aging[w] &= ~bit;
	f->declared[w] &= ~bit;
	f->awaited--;
	return state;
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

/* A number behind the newest one. */
static __always_inline enum arrival track_old_number(struct sink_flow *f, __u32 seq, __s32 ahead)
{
	enum number_state state;

	/* Numbers before the first one that we saw are not awaited; far on, first has no meaning. */
	if (f->head - f->first < WINDOW && f->packets < 1U << 31 && (__s32)(seq - f->first) < 0) {
		f->reordered++;
		return ARRIVED_REORDERED;
	}
	if (ahead <= -WINDOW) {
		f->late++;
		f->reordered++;
		if (f->recovered >= f->lost)
			return ARRIVED_REORDERED;
		f->recovered++;
		return ARRIVED_RECOVERED;
	}
	state = take_number(f, seq);
	if (state == NUMBER_KNOWN) {
		f->duplicates++;
		return ARRIVED_DUPLICATE;
	}
	f->reordered++;
	if (state == NUMBER_AWAITED)
		return ARRIVED_REORDERED;
	f->recovered++;
	return ARRIVED_RECOVERED;
}

/*
 * Accounts for one arrival. timeout: --loss-timeout. watching: this sink has seen everything since the
 * flow's numbering began at 1, should it begin with this packet.
 */
static __always_inline enum arrival track_number(struct sink_flow *f, __u32 seq, __u64 now, __s32 latency_ns,
						 __u64 timeout, __u64 age_bound, bool watching)
{
	__s32 ahead = seq - f->head;
	bool begin = !f->first_ns, restart = false, leap = false;
	__u32 skipped;

	if (ahead == 1 && !f->awaited && !begin) {
		f->head = seq;
		return ARRIVED_IN_ORDER;
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
		skipped = watching && seq ? seq - 1 : 0;
		f->first = seq - skipped;
	} else if (ahead <= 0) {
		return track_old_number(f, seq, ahead);
	} else {
		skipped = ahead - 1;
	}
	if (skipped >= WINDOW) {
		add_lost(f, skipped - (WINDOW - 1), seq - skipped, f->last_ns ?: now);
		skipped = WINDOW - 1;
	}
	if (skipped) {
		if (!f->gap_ns)
			f->gap_ns = now;
		if (!f->fresh_hole_ns)
			f->fresh_hole_ns = f->last_ns ?: now;
	}
	await_numbers(f, seq - skipped, skipped + 1);
	take_number(f, seq);
	f->head = seq;
	return restart ? ARRIVED_RESTARTED : ARRIVED_IN_ORDER;
}

#endif
