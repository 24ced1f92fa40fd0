/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A source's leases. */
#ifndef HOSTINT_LEASE_PAIRS_H
#define HOSTINT_LEASE_PAIRS_H

#include "kernel/kernel.h"
#include "hostint/lease.h"
#include "hostint/lease_table.h"

/* Shared by all CPUs. Entries come from the first packet of a pair, or from the user half, which renews them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LEASE_PAIRS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address_pair);
	__type(value, struct source_lease);
} source_leases SEC(".maps");

#endif
