/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts packets where they come by, in blocks of the time that their source wrote into them. */
#ifndef HOSTINT_INT_CROSSINGS_H
#define HOSTINT_INT_CROSSINGS_H

#include "kernel/kernel.h"
#include "hostint/crossing.h"
#include "kernel/single_value.h"

/* All programs of a host share it. Packets that find no room are counted nowhere, and their losses are unknown. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CROSSINGS);
	__type(key, struct crossing_key);
	__type(value, struct crossing);
} crossings SEC(".maps");

/* The first packet inserts this record, whose counts are 0. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct crossing);
} crossing_new SEC(".maps");

/* Stands for a destination address, the same on all hosts. IPv4 addresses are mapped to IPv6. */
static __always_inline __u32 dest_tag(const __be32 *daddr)
{
	__u32 tag = bpf_ntohl(daddr[0]);

	tag = tag * 0x9e3779b1 + bpf_ntohl(daddr[1]);
	tag = (tag ^ tag >> 15) * 0x9e3779b1 + bpf_ntohl(daddr[2]);
	tag = (tag ^ tag >> 15) * 0x9e3779b1 + bpf_ntohl(daddr[3]);
	return tag ^ tag >> 16;
}

/* The number of the block of a packet that its source stamped with these low bits, at most 2 s from now. */
static __always_inline __u32 block_of(__u64 now, __u32 stamp)
{
	return (now - (__s64)(__s32)((__u32)now - stamp)) >> CROSSING_BLOCK_SHIFT;
}

/* `what` is the place, and the number of packets << 8. */
__noinline int count_crossing(__u32 source_node, __u32 dest, __u32 ifindex, __u32 what, __u32 block)
{
	const struct crossing_key key = {
		.source_node = source_node,
		.dest = dest,
		.ifindex = ifindex,
		.place = what & 0xff,
	};
	struct crossing *count = bpf_map_lookup_elem(&crossings, &key);

	if (!count) {
		const struct crossing *none = single_value(&crossing_new);

		if (!none)
			return 0;
		/* If another CPU was faster, its record is used. */
		bpf_map_update_elem(&crossings, &key, none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&crossings, &key);
		if (!count)
			return 0;
	}
	__sync_fetch_and_add(&count->packets[block % CROSSING_BLOCKS], what >> 8);
	return 0;
}

static __always_inline __u32 crossing_of(enum crossing_place place, __u32 packets)
{
	return place | packets << 8;
}

#endif
