/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watchlist: destination prefixes whose flows are tagged. */
#ifndef HOSTINT_WATCHLIST_H
#define HOSTINT_WATCHLIST_H

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct dest_key);
	__type(value, struct dest_value);
} source_dests SEC(".maps");

enum watched {
	UNWATCHED,
	WATCHED,        /* tagged while a sink is known to be alive */
	WATCHED_STATIC, /* tagged */
};

static __always_inline enum watched find_dest(const struct dest_key *key)
{
	struct dest_value *dest = bpf_map_lookup_elem(&source_dests, key);

	if (!dest)
		return UNWATCHED;
	return dest->flags & DEST_STATIC ? WATCHED_STATIC : WATCHED;
}

static __always_inline enum watched watched4(__be32 addr)
{
	struct dest_key key = { .prefix_len = 32 + 32, .family = bpf_htonl(4), .addr = { addr } };

	return find_dest(&key);
}

static __always_inline enum watched watched6(const __be32 *addr)
{
	struct dest_key key = { .prefix_len = 32 + 128, .family = bpf_htonl(6) };

	__builtin_memcpy(key.addr, addr, sizeof(key.addr));
	return find_dest(&key);
}

#endif
