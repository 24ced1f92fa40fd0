/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Grants leases to addresses. */
#ifndef HOSTINT_LEASE_GRANT_H
#define HOSTINT_LEASE_GRANT_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "kernel/clock.h"
#include "sink/grants.h"

/* Returns the grant of this address, which begins now if there was none; NULL if there is no room for it. */
static __always_inline struct sink_grant *grant_of(const __be32 *saddr)
{
	struct sink_grant *grant = bpf_map_lookup_elem(&sink_grants, saddr), begun = {};

	if (grant)
		return grant;
	/* If another CPU was faster, its grant is used. */
	bpf_map_update_elem(&sink_grants, saddr, &begun, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sink_grants, saddr);
}

/* Returns whether the grant begins: flows that were allowed by a prefix count their packets in it from now on. */
static __always_inline bool extend_grant(struct sink_grant *grant)
{
	__u64 now = coarse_ns(), until_ns = grant->until_ns;

	grant->until_ns = now + GRANT_NS;
	return now >= until_ns;
}

#endif
