/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One-way latency: its statistics, and whether it is news. */
#ifndef HOSTINT_LATENCY_H
#define HOSTINT_LATENCY_H

/* 0 for latencies <= 0, else 1 + floor(log2(ns)). */
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
 * The bucket a latency belongs to when the flow was in bucket `from`: edges below it are left downwards at
 * edge_down, those above upwards at edge_up. Thresholds ascend, unused ones are never reached, so the number
 * of thresholds that are reached is the bucket.
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

static __always_inline void add_latency(struct sink_flow *f, __s32 latency_ns)
{
	__s64 change = (__s64)latency_ns - f->latency_smooth_ns;

	f->latency_smooth_ns = f->packets ? f->latency_smooth_ns + (change >> 3) : latency_ns;
	if (!f->packets || latency_ns < f->latency_min_ns)
		f->latency_min_ns = latency_ns;
	if (!f->packets || latency_ns > f->latency_max_ns)
		f->latency_max_ns = latency_ns;
	f->latency_last_ns = latency_ns;
	f->latency_sum_ns += latency_ns;
	f->histogram[histogram_slot(latency_ns)]++;
}

#endif
