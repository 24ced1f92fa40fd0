/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sweeps flows whose loss period may be over. The daemon runs the program, which is never attached; its "packet" is a
 * list of flow keys. It is not an XDP program, because before 5.18 the kernel changes its own code for each run of one.
 */
#ifndef HOSTINT_SINK_SWEEP_H
#define HOSTINT_SINK_SWEEP_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/sink_flow.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "sink/arrival.h"
#include "sink/flow_table.h"
#include "sink/flow_update.h"
#include "sink/news.h"
#include "sink/settings.h"
#include "sink/tagged.h"

/* Sweeps the flow whose key has this index in the "packet". */
static __always_inline int sweep_key_of(struct __sk_buff *ctx, __u32 index, bool locked)
{
	const struct flow_key *key = (void *)(long)ctx->data + index % SWEEP_KEYS * sizeof(*key);
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct flow_news news = {};
	struct flow_key k;
	struct tagged_packet *p = tagged();
	struct sink_flow *f;

	if (!set || !host || !p || (void *)(key + 1) > (void *)(long)ctx->data_end)
		return 0;
	k = *key;
	f = bpf_map_lookup_elem(&sink_flows, &k);
	if (!f)
		return 0;
	p->facts.key = k;
	p->facts.now = now_ns(host);
	sweep_flow(f, set, p->facts.now, &news, locked);
	count_arrival(&news);
	tell_loss(f, set, &k, &news);
	return 1;
}

__noinline int sweep_key(struct __sk_buff *ctx, __u32 index)
{
	return sweep_key_of(ctx, index, false);
}

__noinline int sweep_key_locked(struct __sk_buff *ctx, __u32 index)
{
	return sweep_key_of(ctx, index, true);
}

#endif
