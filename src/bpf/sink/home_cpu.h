/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Adds a flow's packets to its sums. The CPU on which the flow began is its home: it alone adds to the first set of sums,
 * without atomics, and all other CPUs add to the second set. Readers add both.
 */
#ifndef HOSTINT_SINK_HOME_CPU_H
#define HOSTINT_SINK_HOME_CPU_H

#include "kernel/kernel.h"
#include "hostint/sink_flow.h"

/* The loader sets this if no packet's program is interrupted by another packet's on the same CPU: not with PREEMPT_RT. */
const volatile bool have_home_cpus = false;

/* This is a part of struct sink_flow, which has it twice. */
struct flow_sums {
	__u64 packets;
	__u64 bytes;
	__u64 earned_bytes;
	__s64 latency_ns;
};

#define FLOW_OFFSET(field) __builtin_offsetof(struct sink_flow, field)

_Static_assert(FLOW_OFFSET(latency_sum_ns) - FLOW_OFFSET(packets) == __builtin_offsetof(struct flow_sums, latency_ns) &&
		       FLOW_OFFSET(other_latency_sum_ns) - FLOW_OFFSET(other_packets) ==
			       __builtin_offsetof(struct flow_sums, latency_ns),
	       "both sets of sums stand in the record as in struct flow_sums");

/* Returns the home CPU of a flow that begins here; 0: it has none. Must not be called under the lock. */
static __always_inline __u16 this_home_cpu(void)
{
	__u32 cpu = have_home_cpus ? bpf_get_smp_processor_id() + 1 : 0;

	return cpu < HOME_CPU_SHARED ? cpu : 0;
}

/* here is this_home_cpu(). */
static __always_inline void add_sums(struct sink_flow *f, const struct flow_sums *more, __u16 here)
{
	struct flow_sums *sums = (void *)&f->packets;
	__u16 home = f->home_cpu;

	if (home && (home & ~HOME_CPU_SHARED) == here) {
		sums->packets += more->packets;
		sums->bytes += more->bytes;
		sums->earned_bytes += more->earned_bytes;
		sums->latency_ns += more->latency_ns;
		return;
	}
	if (home) {
		sums = (void *)&f->other_packets;
		/* The home CPU never writes this, and all others write the same. */
		if (!(home & HOME_CPU_SHARED))
			f->home_cpu = home | HOME_CPU_SHARED;
	}
	__sync_fetch_and_add(&sums->packets, more->packets);
	__sync_fetch_and_add(&sums->bytes, more->bytes);
	__sync_fetch_and_add(&sums->earned_bytes, more->earned_bytes);
	__sync_fetch_and_add(&sums->latency_ns, more->latency_ns);
}

/* The sums of other CPUs lie far from the home CPU's, and are nearly always 0. */
static __always_inline __u64 all_packets(const struct sink_flow *f)
{
	return f->packets + (f->home_cpu & HOME_CPU_SHARED ? f->other_packets : 0);
}

static __always_inline __u64 all_earned_bytes(const struct sink_flow *f)
{
	return f->earned_bytes + (f->home_cpu & HOME_CPU_SHARED ? f->other_earned_bytes : 0);
}

#endif
