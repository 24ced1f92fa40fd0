/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Limits new flows and reports by token buckets, for each source address and for all addresses together. */
#ifndef HOSTINT_SINK_TOKENS_H
#define HOSTINT_SINK_TOKENS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease_table.h"
#include "kernel/single_value.h"
#include "kernel/token.h"
#include "sink/settings.h"
#include "sink/tagged.h"

/* The least recently used buckets are evicted, as they are full again soon. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct address_key);
	__type(value, struct token_buckets);
} sink_buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct token_buckets);
} sink_bucket_total SEC(".maps");

static __always_inline struct token_buckets *buckets_of(const __be32 *saddr)
{
	struct token_buckets *b = bpf_map_lookup_elem(&sink_buckets, saddr), *total, full = {};

	if (b)
		return b;
	/* It may have been evicted: nothing is known about refusals but the last one of all. */
	total = single_value(&sink_bucket_total);
	full.refused_ns = total ? total->refused_ns : 0;
	bpf_map_update_elem(&sink_buckets, saddr, &full, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sink_buckets, saddr);
}

enum token {
	TOKEN_NEW_FLOW,
	TOKEN_REPORT,
};

/* Takes a token for the packet, or for the flow that is swept. */
__noinline int take_tokens(__u32 what)
{
	const struct sink_settings *set = get_sink_settings();
	struct token_buckets *total, *own;
	struct tagged_packet *p = tagged();

	if (!set || !p)
		return 0;
	total = single_value(&sink_bucket_total);
	own = buckets_of(p->facts.key.saddr);
	if (!total || !own)
		return 0;
	if (what == TOKEN_NEW_FLOW)
		return take_token(&own->new_flows_ns, &set->new_flows_source, p->facts.now) &&
		       take_token(&total->new_flows_ns, &set->new_flows_total, p->facts.now);
	return take_token(&own->reports_ns, &set->reports_source, p->facts.now) &&
	       take_token(&total->reports_ns, &set->reports_total, p->facts.now);
}

/*
 * Remembers that a packet of a new flow was not tracked, so that its number is not taken for lost if the flow is tracked
 * later.
 */
__noinline int note_refusal(void)
{
	struct token_buckets *total = single_value(&sink_bucket_total), *own;
	struct tagged_packet *p = tagged();

	if (!total || !p)
		return 0;
	*(volatile __u64 *)&total->refused_ns = p->facts.now;
	/* Senders that are not allowed get no buckets. Those that get some later begin with the refusals of all. */
	own = bpf_map_lookup_elem(&sink_buckets, p->facts.key.saddr);
	if (own)
		*(volatile __u64 *)&own->refused_ns = p->facts.now;
	return 0;
}

/* Finds since when no packet of this packet's flow can have been left out; leaves it in the scratch. */
__noinline int find_watched_since(void)
{
	const struct sink_settings *set = get_sink_settings();
	struct tagged_packet *p = tagged();
	struct token_buckets *own;
	__u64 since;

	if (!set || !p)
		return 0;
	since = set->started_ns > set->kept_ns ? set->started_ns : set->kept_ns;
	/* The record of a flow that began later cannot have been removed. */
	if (p->facts.now > set->idle_ns && since < p->facts.now - set->idle_ns)
		since = p->facts.now - set->idle_ns;
	own = buckets_of(p->facts.key.saddr);
	if (!own || since < own->refused_ns)
		since = own ? own->refused_ns : p->facts.now;
	p->facts.watched_ns = since;
	return 0;
}

#endif
