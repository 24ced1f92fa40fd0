/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Updates a flow's record for one arrival, and decides whether a report is due. */
#ifndef HOSTINT_SINK_FLOW_UPDATE_H
#define HOSTINT_SINK_FLOW_UPDATE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/sink_event.h"
#include "hostint/sink_flow.h"
#include "hostint/wire.h"
#include "kernel/ordered.h"
#include "sink/arrival.h"
#include "sink/home_cpu.h"
#include "sink/latency.h"
#include "sink/loss_periods.h"
#include "sink/sequence.h"

/* Runs under the lock. */
static __always_inline void take_loss(struct sink_flow *f, struct loss_news *loss)
{
	loss->count = f->lost_count;
	loss->first = f->lost_first;
	loss->hole_ns = f->lost_hole_ns;
	loss->source_node = f->source_node;
	loss->source_port = f->source_port;
	loss->ifindex = f->ifindex;
	f->lost_count = 0;
}

/* Losses are handed out when a loss period ends, not one by one. gap_before is when the last period began. */
static __always_inline void collect_news(struct sink_flow *f, __u64 gap_before, __u64 lost_before,
					 struct flow_news *news)
{
	news->lost = f->lost - lost_before;
	news->gap = news->arrival.far;
	if (f->gap_ns == gap_before)
		return;
	news->gap = f->gap_ns;
	if (f->lost_count && gap_before)
		take_loss(f, &news->loss);
}

/* Adds what every packet counts, whatever its number. */
static __always_inline void add_packet(struct sink_flow *f, const struct arrival_facts *a, bool first, bool locked)
{
	const struct flow_sums sums = {
		.packets = a->count,
		.bytes = a->bytes,
		.earned_bytes = a->wire_bytes,
		.latency_ns = (__s64)a->latency_ns * a->count,
	};

	if (a->now > f->last_ns)
		f->last_ns = a->now;
	f->source_node = a->source_node;
	f->source_port = a->source_port;
	f->ifindex = a->ifindex;
	f->encapsulation = a->encapsulation | (f->encapsulation & FLOW_HAD_HOPS);
	add_latency(f, a->latency_ns, first, locked);
	add_sums(f, &sums, a->home_cpu);
}

static __always_inline __u32 bucket_now(const struct sink_flow *f, const struct sink_settings *set)
{
	__u32 bucket = f->bucket;

	return in_bucket(set, f->latency_smooth_ns, bucket) ? bucket :
							      latency_bucket(set, f->latency_smooth_ns, bucket);
}

/*
 * A flow pays for reports with its own bytes, so that the sink never sends more than it receives. A report with transit
 * hops, which is longer, costs as much as two.
 */
static __always_inline bool can_pay_with(const struct sink_flow *f, const struct sink_settings *set,
					 __u32 further_bytes)
{
	return (f->reports + 1ULL) * set->report_bytes <= all_earned_bytes(f) + further_bytes;
}

static __always_inline bool can_pay(const struct sink_flow *f, const struct sink_settings *set)
{
	return can_pay_with(f, set, 0);
}

/* Packets that take two paths in turn are reported no more often than changes of the latency's bucket. */
static __always_inline bool is_other_path(const struct sink_flow *f, const struct sink_settings *set, __u64 now,
					  __u16 path)
{
	return (path || f->encapsulation & FLOW_HAD_HOPS) && f->path_hash != path &&
	       is_over(now, f->report_ns, set->bucket_hold_ns);
}

/* Says whether a report may be due, at this smooth latency and with these further bytes. Under the lock find_news() decides. */
static __always_inline bool is_news(const struct sink_flow *f, const struct sink_settings *set, __u64 now, __u16 path,
				    __s32 smooth_ns, __u32 further_bytes)
{
	return can_pay_with(f, set, further_bytes) &&
	       (is_over(now, f->report_ns, set->report_period_ns) || is_other_path(f, set, now, path) ||
		(!in_bucket(set, smooth_ns, f->bucket) && is_over(now, f->bucket_ns, set->bucket_hold_ns)));
}

/* Runs under the lock, so that only one CPU sends the report. The reasons that a packet has by itself are there already. */
static __always_inline void find_news(struct sink_flow *f, const struct sink_settings *set, __u64 now, __u16 path,
				      struct flow_news *news)
{
	__u32 bucket = bucket_now(f, set);
	bool first = !f->announced;
	__u8 reasons = 0, own = news->reasons;

	news->bucket = f->bucket;
	news->reasons = 0;
	if (!can_pay(f, set))
		return;
	if (first)
		reasons = REASON_NEW_FLOW;
	else if (bucket != f->bucket && is_over(now, f->bucket_ns, set->bucket_hold_ns))
		reasons = REASON_BUCKET;
	if (reasons) {
		f->bucket = bucket;
		f->bucket_ns = now;
	}
	if (!first && is_over(now, f->report_ns, set->report_period_ns))
		reasons |= REASON_PERIOD;
	if (!first && is_other_path(f, set, now, path))
		reasons |= REASON_PATH;
	reasons |= own;
	if (reasons) {
		f->report_ns = now;
		f->announced = 1;
		f->reports += path ? 2 : 1;
		f->path_hash = path;
		f->encapsulation = (f->encapsulation & ~FLOW_HAD_HOPS) | (path ? FLOW_HAD_HOPS : 0);
	}
	news->reasons = reasons;
	news->bucket = f->bucket;
}

/* The newest number and the count of awaited ones change in one store. */
union flow_numbers {
	struct {
		__u32 head;
		__u32 awaited;
	};
	__u64 both;
};

/*
 * Says whether the places of count numbers from seq on are free: of the numbers a window before them, none is awaited or
 * was declared lost. The end of a loss period moves bits from fresh to aging to declared, and sets the new one first; so
 * the bitmaps are read in that order. (If another order showed on a CPU, the loss would be told of a newer number.)
 */
static __always_inline bool have_free_places(const struct sink_flow *f, __u32 seq, __u32 count)
{
	__u32 bit = seq & 63, word = (seq >> 6) & WORD_MASK, next = (word + 1) & WORD_MASK;
	const volatile __u64 *fresh = f->fresh, *aging = f->aging, *declared = f->declared;
	__u64 low = fresh[word], high = fresh[next];

	low |= aging[word];
	high |= aging[next];
	low |= declared[word];
	high |= declared[next];
	/* They lie in two words at most. A shift by 64 would be undefined. */
	return count <= 64 && !((low >> bit | high << 1 << (63 - bit)) << (64 - count));
}

/*
 * Says whether the next numbers can be taken without the lock although others are missing: then the bitmaps and all that
 * is known of them stay as they are. Whatever makes that untrue before head moves changes head or awaited.
 */
static __always_inline bool can_pass_holes(const struct sink_flow *f, const struct sink_settings *set,
					   const struct arrival_facts *a, __u32 awaited)
{
	return !(awaited & AWAITED_BUSY) && !a->age_code && !f->left_out && f->last_ns >= set->started_ns &&
	       !loss_period_over(f, a->now, set->loss_timeout_ns) && have_free_places(f, a->sequence, a->count);
}

/* Takes the next numbers without the lock. That is nearly always possible. */
static __always_inline bool take_in_order(struct sink_flow *f, const struct sink_settings *set,
					  const struct arrival_facts *a)
{
	__u64 *numbers = (__u64 *)&f->head;
	union flow_numbers old, new;

	old.both = *(volatile __u64 *)numbers;
	if (old.head + 1 != a->sequence || !f->last_ns)
		return false;
	if (old.awaited && !can_pass_holes(f, set, a, old.awaited))
		return false;
	new.head = a->sequence + a->count - 1;
	new.awaited = old.awaited;
	return __sync_val_compare_and_swap(numbers, old.both, new.both) == old.both;
}

/* Says whether the source's record seems to be younger than ours. Sources state the age in a flow's first packets. */
static __always_inline bool is_younger(const struct sink_flow *f, const struct arrival_facts *a)
{
	return a->age_code && (__s64)(a->now - f->first_ns) > (__s64)(flow_age_bound(a->age_code) + QUIET_NS / 8);
}

/* Takes any numbers. While the record is marked busy, no CPU takes numbers without the lock. */
static __always_inline void take_locked(struct sink_flow *f, const struct sink_settings *set,
					const struct arrival_facts *a, struct flow_news *news, bool locked)
{
	__u32 seq = a->sequence;
	/* Sources state the age only with these numbers, so later the bits are ignored. */
	__u64 age_bound = seq - 1 < FLOW_AGE_PACKETS ? flow_age_bound(a->age_code) : 0;
	__u64 gap_before, lost_before;
	bool first, watching;
	__u64 watched_ns;

	bpf_spin_lock(&f->lock);
	if (!locked)
		ordered_or(&f->awaited, AWAITED_BUSY);
	first = !f->first_ns;
	/* If there was a record when the numbering began, no packet was left out since. */
	watched_ns = first ? a->watched_ns : set->started_ns;
	watching = age_bound && (__s64)(a->now - watched_ns) > (__s64)age_bound;
	lost_before = f->lost;
	gap_before = f->gap_ns;
	track_numbers(f, seq, a->count, a->now, a->latency_ns, set->loss_timeout_ns, age_bound, watching,
		      set->started_ns, &news->arrival);
	collect_news(f, gap_before, lost_before, news);
	if (first) {
		f->began_ns = a->now;
		f->unsure = !watching && watched_ns > set->started_ns &&
			    !is_over(a->now, watched_ns, set->loss_timeout_ns);
	}
	add_packet(f, a, first, locked);
	find_news(f, set, a->now, a->path, news);
	news->added = first;
	if (!locked)
		ordered_and(&f->awaited, ~AWAITED_BUSY);
	bpf_spin_unlock(&f->lock);
}

/* locked is for kernels without fetching atomics (before 5.12), where every update runs under the lock. */
static __always_inline void update_flow(struct sink_flow *f, const struct sink_settings *set,
					const struct arrival_facts *a, struct flow_news *news, bool locked)
{
	if (locked || is_younger(f, a) || !take_in_order(f, set, a)) {
		take_locked(f, set, a, news, locked);
		return;
	}
	add_packet(f, a, false, false);
	if (!news->reasons && !is_news(f, set, a->now, a->path, f->latency_smooth_ns, 0))
		return;
	bpf_spin_lock(&f->lock);
	find_news(f, set, a->now, a->path, news);
	bpf_spin_unlock(&f->lock);
}

/* Remembers packets whose numbers are not known: they take the place of those that will be missing here. */
static __always_inline void note_unknown(struct sink_flow *f, __u32 packets, __u64 now)
{
	bpf_spin_lock(&f->lock);
	follow_head(f, now);
	f->strays += packets;
	bpf_spin_unlock(&f->lock);
}

/* Ends the loss period of a flow that may have stopped sending. */
static __always_inline void sweep_flow(struct sink_flow *f, const struct sink_settings *set, __u64 now,
				       struct flow_news *news, bool locked)
{
	__u64 gap_before, lost_before;
	bool far, believed;

	bpf_spin_lock(&f->lock);
	lost_before = f->lost;
	gap_before = f->gap_ns;
	far = far_is_due(f, now, set->loss_timeout_ns);
	if (far && !locked)
		ordered_or(&f->awaited, AWAITED_BUSY);
	believed = far && far_fits_rate(f);
	if (believed || loss_period_over(f, now, set->loss_timeout_ns))
		end_loss_period(f, now, believed);
	if (believed)
		news->arrival.restarted = move_to_far_numbers(f, now, f->latency_last_ns);
	if (far)
		f->far_waits = 0;
	if (far && !locked)
		ordered_and(&f->awaited, ~AWAITED_BUSY);
	collect_news(f, gap_before, lost_before, news);
	if (!f->gap_ns && f->lost_count && !news->loss.count)
		take_loss(f, &news->loss);
	bpf_spin_unlock(&f->lock);
}

#endif
