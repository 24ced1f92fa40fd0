/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The source's flow table: sequence numbers, 1 for a flow's first packet. */
#ifndef HOSTINT_SOURCE_FLOWS_H
#define HOSTINT_SOURCE_FLOWS_H

/* Shared by all CPUs; a record changes only under its own lock (fetching atomics need 5.12). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow_key);
	__type(value, struct source_flow);
} source_flows SEC(".maps");

struct flow_number {
	__u32 sequence;
	__u8 age_code; /* 0: not stated */
};

static __always_inline __u8 flow_age_code(__u64 age_ns)
{
	__u64 units = age_ns >> FLOW_AGE_SHIFT;
	__u8 code = 1;

	for (int i = 0; i < INT_FLOW_AGE; i++) {
		if (!units)
			return code;
		units >>= 1;
		code++;
	}
	return 0;
}

/* NULL if the table is full. */
static __always_inline struct source_flow *find_or_add_flow(const struct flow_key *key)
{
	struct source_flow *f = bpf_map_lookup_elem(&source_flows, key);
	struct source_flow empty = {};

	if (f)
		return f;
	/* Another CPU may have been faster: then its record serves. */
	if (!bpf_map_update_elem(&source_flows, key, &empty, BPF_NOEXIST))
		count_source(COUNT_SOURCE_FLOW_NEW, 1, 0);
	return bpf_map_lookup_elem(&source_flows, key);
}

static __always_inline void next_number(struct source_flow *f, __u64 now, struct flow_number *number)
{
	__u64 created;

	bpf_spin_lock(&f->lock);
	number->sequence = ++f->sequence;
	f->last_ns = now;
	if (!f->created_ns) /* not at number 1: numbers wrap, and a flow is born once */
		f->created_ns = now;
	created = f->created_ns;
	bpf_spin_unlock(&f->lock);

	number->age_code = 0;
	if (number->sequence - 1 < FLOW_AGE_PACKETS && now >= created)
		number->age_code = flow_age_code(now - created);
}

#endif
