/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts the times of all packets over transit hops, by path and segment. Packets without pushed entries do not come here.
 *
 * What is done for each hop stands in functions of its own, which the verifier walks once.
 */
#ifndef HOSTINT_SINK_PATHS_H
#define HOSTINT_SINK_PATHS_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/fine_slots.h"
#include "hostint/sink_path.h"
#include "hostint/wire.h"
#include "sink/counters.h"
#include "sink/latency.h"
#include "sink/minima.h"
#include "sink/tagged.h"

enum {
	STAMP_UNKNOWN = 0xffffffff, /* the hop does not know the time */
};

/* Keys are hashes of the values. Of two paths with one hash, the second is not counted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SINK_PATHS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct sink_path);
} sink_paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SINK_PATH_TIMES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct path_time_key);
	__type(value, struct path_time);
} sink_path_times SEC(".maps");

/* The first packet of a segment inserts this record, whose counts are 0. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct path_time));
} sink_path_time_new SEC(".maps");

static __always_inline struct path_time *add_path_time(const struct path_time_key *key, __u64 now)
{
	__u32 zero = 0;
	struct path_time *begin = bpf_map_lookup_elem(&sink_path_time_new, &zero);

	if (!begin)
		return NULL;
	begin->min_ns = 0x7fffffff;
	begin->max_ns = -0x7fffffff - 1;
	begin->first_ns = now;
	/* If another CPU was faster, its record is used. */
	bpf_map_update_elem(&sink_path_times, key, begin, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sink_path_times, key);
}

/* Counts a time of the packet in the scratch. */
__noinline int note_time(__u32 place, __s32 ns)
{
	struct path_time_key key = { .place = place };
	struct tagged_packet *p = tagged();
	struct path_time *time;
	__u32 slot;

	if (!p)
		return 0;
	key.path = p->path_id;
	time = bpf_map_lookup_elem(&sink_path_times, &key);
	if (!time)
		time = add_path_time(&key, p->facts.now);
	if (!time) {
		count_sink(COUNT_SINK_PATH_FULL, p->facts.count, p->frame_len);
		return 0;
	}
	if (less(ns, time->min_ns) | less(time->max_ns, ns)) {
		bpf_spin_lock(&time->lock);
		time->min_ns = choose(-(__u64)less(ns, time->min_ns), ns, time->min_ns);
		time->max_ns = choose(-(__u64)less(time->max_ns, ns), ns, time->max_ns);
		bpf_spin_unlock(&time->lock);
	}
	slot = fine_slot(ns);
	if (slot < FINE_SLOTS)
		__sync_fetch_and_add(&time->count[slot], p->facts.count);
	__sync_fetch_and_add(&time->packets, p->facts.count);
	__sync_fetch_and_add(&time->sum_ns, (__s64)ns * p->facts.count);
	time->last_ns = p->facts.now;
	return 0;
}

/* Reads the names and the stamps of an entry. A hop that does not know how long it had the packet has one stamp. */
__noinline int read_entry(__u32 i)
{
	struct tagged_packet *p = tagged();
	__u32 ingress, egress;
	const __be32 *entry;

	if (!p)
		return 0;
	i &= INT_MAX_PUSHED - 1;
	entry = p->entries[i];
	p->path.hop[i] = (__u64)bpf_ntohl(entry[0]) << 32 | bpf_ntohl(entry[1]);
	/* The arrival stands last; in front of it entries may tell how long the hop had the packet. */
	ingress = bpf_ntohl(p->hop_words == 4 ? entry[2] : p->hop_words == 5 ? entry[4] : entry[5]);
	egress = bpf_ntohl(p->hop_words == 4 ? entry[3] : entry[2]);
	if (p->hop_words != 4)
		egress = egress == STAMP_UNKNOWN ? STAMP_UNKNOWN : ingress + egress;
	/* A stamp before the arrival looks like more than 2.1 s; no packet passes a hop in no time. */
	if (p->hop_items == GPE_BITMAP || ingress == STAMP_UNKNOWN || egress - ingress - 1 >= 0x7fffffff)
		egress = STAMP_UNKNOWN;
	/* Routers of ioam tell when a packet arrived, and no more. What follows is counted from there. */
	if (p->facts.encapsulation == ENCAP_IOAM)
		egress = ingress;
	p->hop_ingress[i] = ingress;
	p->hop_egress[i] = egress;
	return 0;
}

/* Counts the time in a hop, and on the link before it. */
__noinline int note_hop(__u32 i)
{
	struct tagged_packet *p = tagged();
	__u32 place, left, came, goes;

	if (!p)
		return 0;
	i &= INT_MAX_PUSHED - 1;
	place = 1 + 2 * (p->hops - 1 - i);
	left = p->hop_egress[i + 1];
	came = p->hop_ingress[i];
	goes = p->hop_egress[i];
	if (any(left ^ STAMP_UNKNOWN) & any(came ^ STAMP_UNKNOWN))
		note_time(place, came - left);
	if (goes != STAMP_UNKNOWN && goes != came)
		note_time(place + 1, goes - came);
	return 0;
}

/* Finds the path of the packet in the scratch, or adds it. Returns 0 if there is no room. */
__noinline int find_path(void)
{
	struct tagged_packet *p = tagged();
	const __u64 *known, *named;
	__u64 id = 0, other = 0;

	if (!p)
		return 0;
	named = (const __u64 *)&p->path;
#pragma unroll
	for (__u32 i = 0; i < sizeof(struct sink_path) / 8; i++) {
		id = (id ^ named[i]) * 0x9e3779b97f4a7c15ULL;
		id ^= id >> 29;
	}
	p->path_id = id;
	known = bpf_map_lookup_elem(&sink_paths, &p->path_id);
	if (!known)
		return !bpf_map_update_elem(&sink_paths, &p->path_id, &p->path, BPF_ANY);
#pragma unroll
	for (__u32 i = 0; i < sizeof(struct sink_path) / 8; i++)
		other |= known[i] ^ named[i];
	return !other;
}

/* Counts the times of the packet in the scratch, onto which transit hops pushed entries; all by the kernel's clock. */
__noinline int note_path(void)
{
	struct tagged_packet *p = tagged();
	__u32 left;

	_Static_assert(PATH_HOPS == INT_MAX_PUSHED, "a path has room for all entries");
	_Static_assert(PATH_SLOTS == FINE_SLOTS, "times are counted as those of flows");
	if (!p)
		return 0;
	__builtin_memset(&p->path, 0, sizeof(p->path));
	p->path.ends = (__u64)p->facts.source_node << 32 | (__u32)p->facts.source_port << 16 |
		       (p->facts.ifindex & 0xffff);
	p->path.hops = p->hops;
	for (__u32 i = 0; i < INT_MAX_PUSHED; i++) {
		if (i >= p->hops)
			break;
		read_entry(i);
	}
	p->hop_egress[p->hops & (2 * INT_MAX_PUSHED - 1)] = p->egress_ts;
	if (!find_path()) {
		count_sink(COUNT_SINK_PATH_FULL, p->facts.count, p->frame_len);
		return 0;
	}
	for (__u32 i = 0; i < INT_MAX_PUSHED; i++) {
		if (i >= p->hops)
			break;
		note_hop(i);
	}
	left = p->hop_egress[0];
	if (left != STAMP_UNKNOWN)
		note_time(1 + 2 * p->hops, (__u32)p->facts.now - left);
	note_time(0, kernel_latency(&p->facts));
	return 0;
}

#endif
