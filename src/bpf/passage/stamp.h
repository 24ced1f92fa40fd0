/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A packet carries the time of its arrival through the host, in the field where sockets of this machine put the time of
 * departure. Such a time of departure stays, but for its low bits: it is at most 63 ns off, and lies behind.
 *
 * Other packets must not look as if they had a mark. They keep their time, but for a nanosecond of those that do.
 */
#ifndef HOSTINT_PASSAGE_STAMP_H
#define HOSTINT_PASSAGE_STAMP_H

#include "kernel/kernel.h"
#include "hostint/passage.h"

struct hop_time {
	__u32 ns;
	__u32 start; /* enum hop_start */
};

static __always_inline __u64 marked_time(__u64 time, __u32 mark)
{
	return (time & ~(__u64)HOP_MARK_MASK) | (mark & HOP_MARK_MASK);
}

static __always_inline bool has_mark(const struct hop_settings *set, __u64 time)
{
	return !((time ^ set->mark) & (HOP_MARK_MASK & ~HOP_MARK_DEPARTED));
}

/*
 * Returns false if the time has no mark, or is not of the last two seconds. The mark is taken for the middle of what it
 * replaced.
 */
static __always_inline bool read_stamp(const struct hop_settings *set, __u64 stamp, __u64 now, struct hop_time *time)
{
	__u64 since = (stamp & ~(__u64)HOP_MARK_MASK) + (HOP_MARK_MASK + 1) / 2;
	__u64 ns = now > since ? now - since : 0;

	if (!has_mark(set, stamp))
		return false;
	time->start = (stamp ^ set->mark) & HOP_MARK_DEPARTED ? HOP_DEPARTED : HOP_ARRIVED;
	time->ns = ns;
	return ns < 0x80000000;
}

#endif
