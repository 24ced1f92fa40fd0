/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the statistics of a flow's one-way latency, and finds its bucket. */
#ifndef HOSTINT_SINK_LATENCY_H
#define HOSTINT_SINK_LATENCY_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/fine_slots.h"
#include "hostint/sink_flow.h"
#include "sink/branchless.h"

/* Returns 0 for latencies <= 0, else 1 + floor(log2(ns)). */
static __always_inline __u32 histogram_slot(__s32 latency_ns)
{
	__u64 v = (__u32)latency_ns & ~(__u32)(latency_ns >> 31);
	__u32 slot = less(0, v), step;

	step = less(0xffff, v) << 4;
	v >>= step;
	slot += step;
	step = less(0xff, v) << 3;
	v >>= step;
	slot += step;
	step = less(0xf, v) << 2;
	v >>= step;
	slot += step;
	step = less(0x3, v) << 1;
	v >>= step;
	slot += step;
	return (slot + (v >> 1)) & (HISTOGRAM_SLOTS - 1);
}

/*
 * Returns the fine slot, below FINE_SLOTS. Its number is shift << 5, plus the latency >> shift, where shift is the least
 * that makes the latter less than 64.
 */
static __always_inline __u32 fine_slot(__s32 latency_ns)
{
	__u64 v = (__u32)latency_ns & ~(__u32)(latency_ns >> 31);
	__u32 shift, step;

	shift = less((1 << 21) - 1, v) << 4;
	v >>= shift;
	step = less((1 << 13) - 1, v) << 3;
	v >>= step;
	shift += step;
	step = less((1 << 9) - 1, v) << 2;
	v >>= step;
	shift += step;
	step = less((1 << 7) - 1, v) << 1;
	v >>= step;
	shift += step;
	step = less((1 << 6) - 1, v);
	v >>= step;
	shift += step;
	return (shift << FINE_STEP_BITS) + v;
}

/* Says whether the bucket is still right. That is nearly always so. */
static __always_inline bool in_bucket(const struct sink_settings *set, __s32 latency_ns, __u32 bucket)
{
	if (bucket && latency_ns < set->edge_down[(bucket - 1) & (MAX_EDGES - 1)])
		return false;
	return bucket >= MAX_EDGES || latency_ns < set->edge_up[bucket & (MAX_EDGES - 1)];
}

/*
 * Returns the bucket of a latency if the flow was in bucket `from`: edges below it count from edge_down on, those above
 * it from edge_up on. Thresholds ascend and unused ones are never reached, so the bucket is the number of thresholds
 * that are reached.
 */
static __always_inline __u32 latency_bucket(const struct sink_settings *set, __s32 latency_ns, __u32 from)
{
	__u32 bucket = 0;

#pragma unroll
	for (int i = 0; i < MAX_EDGES; i++) {
		__u32 below = less(i, from);

		bucket += below & (1 - less(latency_ns, set->edge_down[i]));
		bucket += (1 - below) & (1 - less(latency_ns, set->edge_up[i]));
	}
	return bucket;
}

/* Several CPUs may find a new extreme at the same time, so a store that fails is tried again. */
static __always_inline void note_minimum(__s32 *minimum, __s32 latency_ns)
{
	for (int i = 0; i < 4; i++) {
		__s32 now = *(volatile __s32 *)minimum;

		if (latency_ns >= now || __sync_val_compare_and_swap(minimum, now, latency_ns) == now)
			break;
	}
}

static __always_inline void note_maximum(__s32 *maximum, __s32 latency_ns)
{
	for (int i = 0; i < 4; i++) {
		__s32 now = *(volatile __s32 *)maximum;

		if (latency_ns <= now || __sync_val_compare_and_swap(maximum, now, latency_ns) == now)
			break;
	}
}

/* Returns the moving average with one more latency. */
static __always_inline __s32 smoothed(const struct sink_flow *f, __s32 latency_ns)
{
	__s64 change = (__s64)latency_ns - f->latency_smooth_ns;

	return f->latency_smooth_ns + (change >> 3);
}

/* locked says that no other CPU changes the record, and that the kernel may have no fetching atomics. */
static __always_inline void add_latency(struct sink_flow *f, __s32 latency_ns, bool first, bool locked)
{
	f->latency_smooth_ns = first ? latency_ns : smoothed(f, latency_ns);
	if (first) {
		f->latency_min_ns = latency_ns;
		f->latency_max_ns = latency_ns;
	} else if (!locked) {
		note_minimum(&f->latency_min_ns, latency_ns);
		note_maximum(&f->latency_max_ns, latency_ns);
	} else {
		if (latency_ns < f->latency_min_ns)
			f->latency_min_ns = latency_ns;
		if (latency_ns > f->latency_max_ns)
			f->latency_max_ns = latency_ns;
	}
	f->latency_last_ns = latency_ns;
}

#endif
