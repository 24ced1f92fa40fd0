/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watchlist: IPv4 destination prefixes whose flows are tagged. */
#ifndef HOSTINT_WATCHLIST_H
#define HOSTINT_WATCHLIST_H

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct dest_key);
	__type(value, struct dest_value);
} source_dests SEC(".maps");

static __always_inline bool is_watched(__be32 addr)
{
	struct dest_key key = { .prefix_len = 32, .addr = addr };

	return bpf_map_lookup_elem(&source_dests, &key);
}

#endif
