/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whose packets the sink strips: those of hosts with a lease, and of prefixes that the user allowed. */
#ifndef HOSTINT_SINK_GRANTS_H
#define HOSTINT_SINK_GRANTS_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "hostint/sink_flow.h"
#include "hostint/watch.h"
#include "kernel/clock.h"
#include "kernel/prefixes.h"
#include "kernel/ordered.h"
#include "kernel/single_value.h"

enum {
	GRANT_NS = 60 * 1000000000LL, /* a grant lasts much longer than the source's lease */
	ALLOWED_NS = 250 * 1000000LL, /* a flow with a grant looks at it again after this time, to tell its packets */
	ALLOWED_SHIFT = 20,           /* records keep times in 2^20 ns */
	NS_PER_S = 1000000000,
	NO_STACKS_S = 600, /* after stacks that nothing explains, hops get no budget for this time */
};

/* The key is the address that tagged packets come from. All CPUs share an entry. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEASE_PAIRS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address_key);
	__type(value, struct sink_grant);
} sink_grants SEC(".maps");

/* Only the user half writes this map. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, __u32);
} sink_allow SEC(".maps");

/*
 * Grows by 1 whenever someone may be allowed or not any more: when the user half changed the prefixes or removed a grant,
 * and when a grant begins. So a flow's record remembers what was found, however long ago. Whoever makes it grow has made the
 * change before; that two do so at once and it grows but once does no harm.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sink_grants_serial SEC(".maps");

/* Records that never were allowed have 0, which this is not. */
static __always_inline __u32 grants_serial(void)
{
	const volatile __u32 *serial = single_value(&sink_grants_serial);

	return serial ? *serial + 1 : 1;
}

static __always_inline void change_grants_serial(bool locked)
{
	advance_serial(single_value(&sink_grants_serial), locked);
}

#define ALLOWED_ALWAYS (~0ULL)

/* Returns until when this address is allowed as long as grants stay as they are, or 0. */
static __always_inline __u64 allowed_until(const __be32 *saddr, __u8 family, __u64 now)
{
	struct sink_grant *grant = bpf_map_lookup_elem(&sink_grants, saddr);

	if (grant && now < grant->until_ns)
		return grant->until_ns < now + ALLOWED_NS ? grant->until_ns : now + ALLOWED_NS;
	return is_in_prefixes(&sink_allow, saddr, family) ? ALLOWED_ALWAYS : 0;
}

/* Says whether the record knows that the flow's packets are to be stripped. */
static __always_inline bool remembers_allowed(const struct sink_flow *f, __u32 serial)
{
	__u32 until = f->allowed_until;

	return f->allowed_serial == serial && (!until || (__s32)(until - (__u32)(coarse_ns() >> ALLOWED_SHIFT)) > 0);
}

/* Remembers in the record what allowed_until() returned; serial was read before. */
static __always_inline void remember_allowed(struct sink_flow *f, __u64 until_ns, __u32 serial)
{
	/* A time that happens to be 0 would have no end. */
	f->allowed_until = until_ns == ALLOWED_ALWAYS ? 0 : (__u32)(until_ns >> ALLOWED_SHIFT) ?: 1;
	f->allowed_serial = serial;
}

#endif
