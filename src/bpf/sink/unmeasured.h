/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts packets that are stripped without being measured, by flow while there is room, else by source node. */
#ifndef HOSTINT_SINK_UNMEASURED_H
#define HOSTINT_SINK_UNMEASURED_H

#include "kernel/kernel.h"
#include "hostint/unmeasured.h"
#include "sink/tagged.h"

/* All CPUs share a count. The user half removes those that are idle. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNMEASURED_FLOWS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct unmeasured_key);
	__type(value, struct unmeasured_counts);
} sink_unmeasured SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNMEASURED_NODES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct unmeasured_key);
	__type(value, struct unmeasured_counts);
} sink_unmeasured_nodes SEC(".maps");

/* Returns false if there is no room for a count. */
static __always_inline bool add_unmeasured(void *map, const struct unmeasured_key *key,
					   const struct unmeasured_counts *more)
{
	struct unmeasured_counts *counts = bpf_map_lookup_elem(map, key);

	if (!counts) {
		if (!bpf_map_update_elem(map, key, more, BPF_NOEXIST))
			return true;
		/* Another CPU was faster, or there is no room. */
		counts = bpf_map_lookup_elem(map, key);
	}
	if (!counts)
		return false;
	__sync_fetch_and_add(&counts->packets, more->packets);
	__sync_fetch_and_add(&counts->bytes, more->bytes);
	return true;
}

/* Counts the packet in the scratch, which is stripped for this reason without being measured. */
__noinline int note_unmeasured(__u32 reason)
{
	struct tagged_packet *p = tagged();
	struct unmeasured_counts more;
	struct unmeasured_key key;

	_Static_assert(sizeof(key.flow) == sizeof(p->facts.key), "a flow has room");
	if (!p)
		return 0;
	more.packets = p->bad_segment ? p->bad_segment : p->facts.count;
	more.bytes = p->orig_len + (more.packets - 1) * p->headers_len;
	__builtin_memcpy(key.flow, &p->facts.key, sizeof(key.flow));
	key.source_node = p->facts.source_node;
	key.reason = reason;
	if (add_unmeasured(&sink_unmeasured, &key, &more))
		return 0;
	__builtin_memset(key.flow, 0, sizeof(key.flow));
	add_unmeasured(&sink_unmeasured_nodes, &key, &more);
	return 0;
}

#endif
