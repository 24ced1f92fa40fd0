/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The source's flow table: what its program at egress and the one for answers know of a flow. */
#ifndef HOSTINT_SOURCE_FLOW_TABLE_H
#define HOSTINT_SOURCE_FLOW_TABLE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"

/* Shared by all CPUs; numbers are taken by atomics, or under the record's lock where the kernel has none that fetch. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow_key);
	__type(value, struct source_flow);
} source_flows SEC(".maps");

#endif
