/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watchlist's addresses: where a packet goes says at least whether it may be watched. */
#ifndef HOSTINT_WATCH_PLACES_H
#define HOSTINT_WATCH_PLACES_H

/* What the user half changes becomes visible to packets by this only, all at once. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watch_state);
} watch_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 2 * WATCH_PREFIXES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct watch_place);
} watch_places SEC(".maps");

static __always_inline __u32 watch_generation(void)
{
	__u32 zero = 0;
	struct watch_state *state = bpf_map_lookup_elem(&watch_state, &zero);

	return state ? state->generation & 1 : 0;
}

static __always_inline const struct watch_place *find_place4(__u32 generation, enum watch_table table, __be32 addr)
{
	struct prefix_key key = {
		.prefix_len = 32 + 32,
		.table = bpf_htonl(generation << 16 | table << 8 | 4),
		.addr = { addr },
	};

	return bpf_map_lookup_elem(&watch_places, &key);
}

static __always_inline const struct watch_place *find_place6(__u32 generation, enum watch_table table,
							     const __be32 *addr)
{
	struct prefix_key key = {
		.prefix_len = 32 + 128,
		.table = bpf_htonl(generation << 16 | table << 8 | 6),
	};

	__builtin_memcpy(key.addr, addr, sizeof(key.addr));
	return bpf_map_lookup_elem(&watch_places, &key);
}

/* May packets to this address be tagged? */
static __always_inline bool may_watch4(__be32 addr)
{
	const struct watch_place *to = find_place4(watch_generation(), WATCH_TO, addr);

	return to && to->flags & WATCH_MAY;
}

static __always_inline bool may_watch6(const __be32 *addr)
{
	const struct watch_place *to = find_place6(watch_generation(), WATCH_TO, addr);

	return to && to->flags & WATCH_MAY;
}

#endif
