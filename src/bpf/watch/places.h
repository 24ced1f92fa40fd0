/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watchlist's addresses: where a packet goes says at least whether it may be watched. */
#ifndef HOSTINT_WATCH_PLACES_H
#define HOSTINT_WATCH_PLACES_H

#include "kernel/kernel.h"
#include "hostint/watch.h"

/* What the user half changes becomes visible to packets by its generation only, all at once. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watch_state);
} watch_state SEC(".maps");

/* No trie of the kernel's: its look-ups take longer the more prefixes there are. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * WATCH_PREFIXES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct watch_key4);
	__type(value, struct watch_place);
} watch_places4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * WATCH_PREFIXES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct watch_key6);
	__type(value, struct watch_place);
} watch_places6 SEC(".maps");

static __always_inline const struct watch_state *get_watch_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&watch_state, &zero);
}

/*
 * What is next comes from memory, so that the verifier takes all ways of a step for one. The barrier keeps the
 * comparison apart from the one before, or verifiers before 6.18 learn nothing of the index.
 */
static __always_inline const struct watch_place *find_place4(const struct watch_state *state, enum watch_role role,
							     __be32 addr)
{
	__u32 generation = state->generation & 1, what = generation << 16 | role << 8;
	const struct watch_search *search = &state->searches[generation * WATCH_TABLES + role];
	const struct watch_place *best = NULL, *place;
	__u32 next = search->first;

	for (int i = 0; i < WATCH_STEPS && next; i++) {
		const struct watch_probe *probe;
		struct watch_key4 key;

		barrier_var(next);
		if (next >= WATCH_PROBES)
			break;
		probe = &search->probes[next];
		key.what = what | probe->len;
		key.addr = addr & probe->mask[0];
		place = bpf_map_lookup_elem(&watch_places4, &key);
		if (place)
			best = place;
		next = place ? probe->hit : probe->miss;
	}
	return best;
}

static __always_inline const struct watch_place *find_place6(const struct watch_state *state, enum watch_role role,
							     const __be32 *addr)
{
	__u32 generation = state->generation & 1, what = generation << 16 | role << 8;
	const struct watch_search *search = &state->searches[generation * WATCH_TABLES + role + 1];
	const struct watch_place *best = NULL, *place;
	__u32 next = search->first;

	for (int i = 0; i < WATCH_STEPS && next; i++) {
		const struct watch_probe *probe;
		struct watch_key6 key;

		barrier_var(next);
		if (next >= WATCH_PROBES)
			break;
		probe = &search->probes[next];
		key.what = what | probe->len;
		for (int word = 0; word < 4; word++)
			key.addr[word] = addr[word] & probe->mask[word];
		place = bpf_map_lookup_elem(&watch_places6, &key);
		if (place)
			best = place;
		next = place ? probe->hit : probe->miss;
	}
	return best;
}

/* May packets to this address be tagged? */
static __always_inline bool may_watch4(__be32 addr)
{
	const struct watch_state *state = get_watch_state();
	const struct watch_place *to = state ? find_place4(state, WATCH_TO, addr) : NULL;

	return to && to->flags & WATCH_MAY;
}

static __always_inline bool may_watch6(const __be32 *addr)
{
	const struct watch_state *state = get_watch_state();
	const struct watch_place *to = state ? find_place6(state, WATCH_TO, addr) : NULL;

	return to && to->flags & WATCH_MAY;
}

#endif
