/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Remembers between which hosts requests of option 114 were filled in, and at which TTL: senders know this hop by that. */
#ifndef HOSTINT_TRANSIT_OPTION_ASKERS_H
#define HOSTINT_TRANSIT_OPTION_ASKERS_H

#include "kernel/kernel.h"
#include "hostint/transit.h"
#include "packet/layout.h"
#include "transit/passing.h"

enum {
	ASKER_STEP_NS = 1000000000, /* a time is written again after this time: CPUs share it */
};

/* When a request was filled in last (monotonic clock). Pairs without any make room for others. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TRANSIT_ASKERS);
	__type(key, struct transit_asker);
	__type(value, __u64);
} transit_askers SEC(".maps");

static __always_inline void note_asker(struct __sk_buff *ctx, struct passing_packet *p, __u8 ttl)
{
	__u64 now = bpf_ktime_get_ns(), *last_ns;
	struct transit_asker asker = { .ttl = ttl };

	if (!fill_key((void *)(long)ctx->data, (void *)(long)ctx->data_end, &p->at, &p->key))
		return;
	__builtin_memcpy(asker.saddr, p->key.saddr, sizeof(asker.saddr));
	__builtin_memcpy(asker.daddr, p->key.daddr, sizeof(asker.daddr));
	last_ns = bpf_map_lookup_elem(&transit_askers, &asker);
	if (!last_ns)
		bpf_map_update_elem(&transit_askers, &asker, &now, BPF_ANY);
	else if (now - *last_ns > ASKER_STEP_NS)
		*last_ns = now;
}

#endif
