/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the rules of the watchlist, and says how far a packet's destination decides. */
#ifndef HOSTINT_WATCH_LIST_H
#define HOSTINT_WATCH_LIST_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/watch.h"
#include "watch/places.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * WATCH_NODES);
	__type(key, __u32);
	__type(value, struct watch_node);
} watch_nodes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * WATCH_EDGES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct watch_edge);
	__type(value, __u32);
} watch_edges SEC(".maps");

/* Each port has its class as destination | as source << 16; after all ports come the classes of WATCH_TRAFFIC. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * WATCH_CLASSES);
	__type(key, __u32);
	__type(value, __u32);
} watch_classes SEC(".maps");

/* Only the user half uses this map. Its key is generation << 16 | number of the piece. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * WATCH_TEXTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct watch_text);
} watch_texts SEC(".maps");

enum watched {
	WATCH_UNKNOWN, /* not looked up yet */
	UNWATCHED,
	EXCLUDED,
	NOT_SAMPLED,
	WATCH_UNDECIDED, /* the destination alone does not decide */
	WATCHED,         /* tagged while a sink is known to be alive */
	WATCHED_STATIC,  /* tagged even if no sink answers */
};

struct watching {
	enum watched watched;
	__u32 generation;
	__u32 node;   /* where the rules continue if the destination does not decide; once it is known, the verdict */
	__u32 always; /* the budget does not matter */
};

static __always_inline enum watched watched_by(__u32 flags)
{
	if (flags & WATCH_STATIC)
		return WATCHED_STATIC;
	if (flags & WATCH_TAG)
		return WATCHED;
	return flags & WATCH_EXCLUDE ? EXCLUDED : UNWATCHED;
}

static __always_inline void begin_watching(const struct watch_place *to, struct watching *w)
{
	w->watched = UNWATCHED;
	if (!to)
		return;
	w->watched = to->flags & WATCH_DECIDED ? watched_by(to->flags) : WATCH_UNDECIDED;
	w->node = to->number;
	w->always = to->flags & WATCH_ALWAYS;
}

/* Looks up the destination. An IPv4 address is the single word at daddr. */
static __always_inline void watch(const __be32 *daddr, __u8 family, struct watching *w)
{
	const struct watch_state *state = get_watch_state();

	if (!state)
		return;
	w->generation = state->generation & 1;
	begin_watching(find_place(state, WATCH_TO, daddr, family), w);
}

static __always_inline __u32 find_class(__u32 generation, __u32 index)
{
	__u32 at = generation * WATCH_CLASSES + index, *class = bpf_map_lookup_elem(&watch_classes, &at);

	return class ? *class : 0;
}

static __always_inline __u32 source_class(const struct flow_key *key, __u8 family)
{
	const struct watch_state *state = get_watch_state();
	const struct watch_place *from;

	if (!state)
		return 0;
	from = find_place(state, WATCH_FROM, family == 4 ? key->saddr + 3 : key->saddr, family);
	return from ? from->number : 0;
}

/* The values of a packet that rules test besides its destination. */
struct watch_values {
	const struct flow_key *key;
	__u32 generation;
	__u32 ifindex;
	__u8 family; /* 4 or 6 */
	__u8 is_tcp;
	__u8 tos;
};

/* Returns the value for the test of a node. */
static __always_inline __u32 tested_value(const struct watch_values *v, __u32 test)
{
	switch (test) {
	case WATCH_BY_FROM:
		return source_class(v->key, v->family);
	case WATCH_BY_TRAFFIC:
		return find_class(v->generation, WATCH_PORTS + v->is_tcp * 64 + (v->tos >> 2));
	case WATCH_BY_DEV:
		return v->ifindex;
	case WATCH_BY_TO_PORT:
		return find_class(v->generation, bpf_ntohs(v->key->dport)) & 0xffff;
	default:
		return find_class(v->generation, bpf_ntohs(v->key->sport)) >> 16;
	}
}

#endif
