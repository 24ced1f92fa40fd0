// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A step of the work on a packet, again and again: a clock, a counter, and a far load, as of a flow's record. How long it takes
 * on this machine tells how long programs take for a packet, without a clock in front of and behind each.
 */
#include "kernel/kernel.h"

char _license[] SEC("license") = "Dual BSD/GPL";

enum {
	STEPS = 64,
	PLACES = 131072, /* of 64 bytes: more than caches of a core hold */
};

struct place {
	__u64 words[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, __u32);
	__type(value, struct place);
} step_places SEC(".maps");

/* Returns the number of steps. */
SEC("tc")
int step(struct __sk_buff *ctx)
{
	__u32 at = bpf_get_prandom_u32(), i;

	for (i = 0; i < STEPS; i++) {
		__u32 index = at & (PLACES - 1);
		struct place *place = bpf_map_lookup_elem(&step_places, &index);

		if (!place)
			break;
		/* The next place depends on what was read, as a record's does on its bucket. */
		at = at * 1103515245 + 12345 + (__u32)place->words[1];
		__sync_fetch_and_add(&place->words[0], bpf_ktime_get_ns() & 1);
	}
	return i;
}
