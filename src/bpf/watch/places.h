/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the watchlist's longest prefix that an address is in. */
#ifndef HOSTINT_WATCH_PLACES_H
#define HOSTINT_WATCH_PLACES_H

#include "kernel/kernel.h"
#include "hostint/watch.h"
#include "watch/state.h"

/*
 * These are hash tables because look-ups in the kernel's trie take longer the more prefixes there are. IPv4 has a
 * table of its own because the kernel hashes and compares whole keys: 8 bytes instead of 20, several times per packet.
 */
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

/*
 * Searches one table. An address has 1 word (IPv4) or 4, and watch_key4 is how watch_key6 begins, so one piece serves
 * both. `next` comes from memory, so that the verifier takes all ways of a step for one. The barrier keeps its
 * comparison apart from the one before; without it verifiers before 6.18 learn nothing about the index.
 */
static __always_inline const struct watch_place *search_places(const struct watch_state *state, enum watch_role role,
							       const __be32 *addr, void *places, const int words)
{
	__u32 generation = state->generation & 1, what = generation << 16 | role << 8;
	const struct watch_search *search = &state->searches[generation * WATCH_TABLES + role + (words > 1)];
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
		for (int word = 0; word < words; word++)
			key.addr[word] = addr[word] & probe->mask[word];
		place = bpf_map_lookup_elem(places, &key);
		if (place)
			best = place;
		next = place ? probe->hit : probe->miss;
	}
	return best;
}

/* An IPv4 address is the single word at addr. */
static __always_inline const struct watch_place *find_place(const struct watch_state *state, enum watch_role role,
							    const __be32 *addr, __u8 family)
{
	__be32 first = *addr;

	if (family == 4)
		return search_places(state, role, &first, &watch_places4, 1);
	return search_places(state, role, addr, &watch_places6, 4);
}

/* Returns the place of an address to which some packet may be tagged, or NULL. */
static __always_inline const struct watch_place *find_watched(const __be32 *addr, __u8 family)
{
	const struct watch_state *state = get_watch_state();
	const struct watch_place *to = state ? find_place(state, WATCH_TO, addr, family) : NULL;

	return to && to->flags & WATCH_MAY ? to : NULL;
}

static __always_inline bool may_watch(const __be32 *addr, __u8 family)
{
	return find_watched(addr, family);
}

#endif
