/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts packets where they come by, in blocks of the time that their source wrote into them. */
#ifndef HOSTINT_INT_CROSSINGS_H
#define HOSTINT_INT_CROSSINGS_H

#include "kernel/kernel.h"
#include "hostint/crossing.h"
#include "kernel/single_value.h"
#include "packet/layout.h"

/* All programs of a host share it. Packets that find no room are counted nowhere, and their losses are unknown. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CROSSINGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
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

/* Finds the same in a packet whose headers were found; returns false if it ends before. */
static __always_inline bool find_dest_tag(void *data, void *end, const struct layout *at, __u32 *tag)
{
	if (at->family == 4) {
		struct iphdr *ip = at_offset(data, at->l3);
		__be32 daddr[4] = { 0, 0, bpf_htonl(0xffff) };

		if ((void *)(ip + 1) > end)
			return false;
		daddr[3] = ip->daddr;
		*tag = dest_tag(daddr);
	} else {
		struct ipv6hdr *ip = at_offset(data, at->l3);

		if ((void *)(ip + 1) > end)
			return false;
		*tag = dest_tag(ip->daddr);
	}
	return true;
}

/* The number of the block of a packet that its source stamped with these low bits, at most 2 s from now. */
static __always_inline __u32 block_of(__u64 now, __u32 stamp)
{
	return (now - (__s64)(__s32)((__u32)now - stamp)) >> CROSSING_BLOCK_SHIFT;
}

/*
 * Routers take one from the TTL each, so the difference of two places tells how many are between. After another TTL than
 * the one before, the block that the packet is of has both.
 */
static __always_inline void note_ttl(struct crossing *count, __u32 ttl, __u32 block)
{
	__u32 from = count->ttl ? block + 1 : block;

	if (count->ttl == ttl)
		return;
	if ((__s32)(from - count->ttl_from) > 0)
		count->ttl_from = from;
	count->ttl = ttl;
}

/* `what` is the place, the TTL << 8, and the number of packets << 16. */
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
	note_ttl(count, what >> 8 & 0xff, block);
	__sync_fetch_and_add(&count->packets[block % CROSSING_BLOCKS], what >> 16);
	return 0;
}

static __always_inline __u32 crossing_of(enum crossing_place place, __u8 ttl, __u32 packets)
{
	return place | (__u32)ttl << 8 | packets << 16;
}

#endif
