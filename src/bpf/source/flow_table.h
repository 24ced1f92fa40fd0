/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the source's flow table, which its program and its peer program share. */
#ifndef HOSTINT_SOURCE_FLOW_TABLE_H
#define HOSTINT_SOURCE_FLOW_TABLE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/source_flow.h"

_Static_assert(sizeof(struct source_flow) == SOURCE_FLOW_SIZE, "all records lie alike in their cache lines");

/* All CPUs share a record. Numbers are taken with atomics, or under its lock if the kernel has no fetching atomics. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct flow_key);
	__type(value, struct source_flow);
} source_flows SEC(".maps");

#endif
