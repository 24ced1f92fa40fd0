/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds a source's leases, by pair of addresses. */
#ifndef HOSTINT_LEASE_PAIRS_H
#define HOSTINT_LEASE_PAIRS_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"
#include "kernel/ordered.h"
#include "kernel/single_value.h"

/* All CPUs share an entry. The first packet of a pair adds it, or the user half, which also renews it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEASE_PAIRS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address_pair);
	__type(value, struct source_lease);
} source_leases SEC(".maps");

/*
 * Grows by 1 after a lease was removed, or changed so that packets may have to go untagged. Flows, which remember their lease
 * for a while, look at it again then.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} source_leases_serial SEC(".maps");

static __always_inline __u32 leases_serial(void)
{
	const volatile __u32 *serial = single_value(&source_leases_serial);

	return serial ? *serial : 0;
}

static __always_inline void change_leases_serial(bool locked)
{
	advance_serial(single_value(&source_leases_serial), locked);
}

#endif
