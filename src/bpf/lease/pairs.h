/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds a source's leases, by pair of addresses. */
#ifndef HOSTINT_LEASE_PAIRS_H
#define HOSTINT_LEASE_PAIRS_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"

/* All CPUs share an entry. The first packet of a pair adds it, or the user half, which also renews it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEASE_PAIRS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address_pair);
	__type(value, struct source_lease);
} source_leases SEC(".maps");

#endif
