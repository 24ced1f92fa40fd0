/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watchlist's addresses: where a packet goes says at least whether it may be watched. */
#ifndef HOSTINT_WATCH_PLACES_H
#define HOSTINT_WATCH_PLACES_H

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
	__type(key, struct prefix_key);
	__type(value, struct watch_place);
} watch_places SEC(".maps");

static __always_inline const struct watch_state *get_watch_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&watch_state, &zero);
}

/* What is next comes from memory, so that the verifier takes all ways of a step for one. */
static __always_inline const struct watch_place *find_place(const struct watch_state *state, enum watch_role role,
							    const __be32 *addr, __u32 family)
{
	__u32 generation = state->generation & 1;
	const struct watch_search *search = &state->searches[generation * WATCH_TABLES + role + (family == 6)];
	struct prefix_key key = { .table = bpf_htonl(generation << 16 | role << 8 | family) };
	const struct watch_place *best = NULL, *place;
	__u32 next = search->first;

	for (int i = 0; i < WATCH_STEPS; i++) {
		const struct watch_probe *probe;

		if (!next || next >= WATCH_PROBES)
			break;
		probe = &search->probes[next];
		key.prefix_len = 32 + probe->len;
		key.addr[0] = addr[0] & probe->mask[0];
		if (family == 6) {
			key.addr[1] = addr[1] & probe->mask[1];
			key.addr[2] = addr[2] & probe->mask[2];
			key.addr[3] = addr[3] & probe->mask[3];
		}
		place = bpf_map_lookup_elem(&watch_places, &key);
		if (place)
			best = place;
		next = place ? probe->hit : probe->miss;
	}
	return best;
}

/* Not inlined: each is needed at several places. */
static __noinline const struct watch_place *find_place4(const struct watch_state *state, enum watch_role role,
							__be32 addr)
{
	return find_place(state, role, &addr, 4);
}

static __noinline const struct watch_place *find_place6(const struct watch_state *state, enum watch_role role,
							const __be32 *addr)
{
	return find_place(state, role, addr, 6);
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
