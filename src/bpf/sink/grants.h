/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whose packets the sink strips: those of hosts with a lease, and of prefixes that the user allowed. */
#ifndef HOSTINT_SINK_GRANTS_H
#define HOSTINT_SINK_GRANTS_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "hostint/watch.h"
#include "kernel/prefixes.h"

enum {
	GRANT_NS = 60 * 1000000000LL, /* a grant lasts much longer than the source's lease */
	ALLOWED_NS = 250 * 1000000LL, /* a flow is looked up again after this time */
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

/* Returns until when this address is allowed, or 0. */
static __always_inline __u64 allowed_until(const __be32 *saddr, __u8 family, __u64 now)
{
	struct sink_grant *grant = bpf_map_lookup_elem(&sink_grants, saddr);

	if (grant && now < grant->until_ns)
		return grant->until_ns < now + ALLOWED_NS ? grant->until_ns : now + ALLOWED_NS;
	return is_in_prefixes(&sink_allow, saddr, family) ? now + ALLOWED_NS : 0;
}

#endif
