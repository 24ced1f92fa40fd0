// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Walks over flow tables for the daemon. Of a million flows it copies only the keys of those that need the daemon's
 * attention, and it pauses after each slice.
 */
#include "kernel/iterators.h"
#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/source_flow.h"
#include "hostint/sink_flow.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct bpf_map;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

#pragma clang attribute pop

/* The daemon writes a walk's request before each slice. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALKS);
	__type(key, __u32);
	__type(value, struct walk_request);
} walk_requests SEC(".maps");

static __always_inline bool has_passed(__u64 now, __u64 since, __u64 wait)
{
	return now > since && now - since >= wait;
}

static __always_inline void tell(struct bpf_iter__bpf_map_elem *ctx, const struct flow_key *key, enum walk_finding what)
{
	struct walk_record record = { .finding = what };

	if (key)
		record.key = *key;
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
}

/* Ends the slice, so that the daemon can continue. */
static __always_inline void pause_after_slice(struct bpf_iter__bpf_map_elem *ctx, struct walk_request *request)
{
	if (++request->seen % request->slice == 0)
		tell(ctx, NULL, WALK_PAUSE);
}

SEC("iter/bpf_map_elem")
int walk_sink_flows(struct bpf_iter__bpf_map_elem *ctx)
{
	const struct flow_key *key = ctx->key;
	const struct sink_flow *flow = ctx->value;
	__u32 which = WALK_SINK;
	struct walk_request *request = bpf_map_lookup_elem(&walk_requests, &which);
	bool waits, withheld, idle;

	if (!key || !flow || !request || !request->slice)
		return 0;
	withheld = !flow->gap_ns && flow->lost_count;
	waits = flow->gap_ns && has_passed(request->now_ns, flow->gap_ns, 2 * request->loss_timeout_ns);
	waits |= flow->far_packets && flow->far_waits &&
		 has_passed(request->now_ns, flow->far_ns, 2 * request->loss_timeout_ns);
	if (waits || withheld)
		tell(ctx, key, WALK_LOSS);
	idle = !waits && flow->first_ns && has_passed(request->now_ns, flow->last_ns, request->idle_ns);
	if (idle)
		tell(ctx, key, WALK_IDLE);
	else if (request->summary_ns && flow->first_ns && flow->last_ns >= request->summary_ns)
		tell(ctx, key, WALK_SUMMARY);
	pause_after_slice(ctx, request);
	return 0;
}

SEC("iter/bpf_map_elem")
int walk_source_flows(struct bpf_iter__bpf_map_elem *ctx)
{
	const struct flow_key *key = ctx->key;
	const struct source_flow *flow = ctx->value;
	__u32 which = WALK_SOURCE;
	struct walk_request *request = bpf_map_lookup_elem(&walk_requests, &which);
	__u64 idle_ns;

	if (!key || !flow || !request || !request->slice)
		return 0;
	idle_ns = flow->open ? request->open_idle_ns : request->idle_ns;
	if (flow->last_ns && has_passed(request->now_ns, flow->last_ns, idle_ns))
		tell(ctx, key, WALK_IDLE);
	pause_after_slice(ctx, request);
	return 0;
}
