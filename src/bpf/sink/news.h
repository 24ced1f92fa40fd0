/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts the changes by an arrival or a sweep, and reports losses to the user half. */
#ifndef HOSTINT_SINK_NEWS_H
#define HOSTINT_SINK_NEWS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/sink_event.h"
#include "hostint/sink_flow.h"
#include "sink/arrival.h"
#include "sink/counters.h"
#include "sink/events.h"
#include "sink/flow_update.h"
#include "sink/tokens.h"
#include "sink/witness.h"

/* Losses that cannot be reported now wait in the record for the next sweep. */
static __always_inline void put_loss_back(struct sink_flow *f, const struct loss_news *loss)
{
	bpf_spin_lock(&f->lock);
	f->lost_first = loss->first;
	f->lost_hole_ns = loss->hole_ns;
	f->lost_count += loss->count;
	bpf_spin_unlock(&f->lock);
}

/* Counts losses and reports them to the user half. */
static __always_inline void tell_loss(struct sink_flow *f, const struct sink_settings *set, const struct flow_key *key,
				      const struct flow_news *news)
{
	const struct loss_news *loss = &news->loss;
	struct loss_event *e;

	if (news->lost)
		count_sink(COUNT_SINK_LOST, news->lost, 0);
	if (news->lost != news->arrival.recovered)
		tell_lost(news->lost - news->arrival.recovered);
	if (news->gap)
		send_gap(key);
	if (!loss->count)
		return;
	/* They are reported later, together with further losses. */
	if (!can_pay(f, set) || !take_tokens(TOKEN_REPORT)) {
		put_loss_back(f, loss);
		return;
	}
	e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);
	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		put_loss_back(f, loss);
		return;
	}
	e->kind = EVENT_LOSS;
	e->ifindex = loss->ifindex;
	e->key = *key;
	e->hole_ns = loss->hole_ns;
	e->first = loss->first;
	e->count = loss->count;
	e->source_node = loss->source_node;
	e->source_port = loss->source_port;
	e->zero = 0;
	send_event(e);
	__sync_fetch_and_add(&f->reports, 1);
}

static __always_inline void count_arrival(const struct flow_news *news)
{
	if (news->arrival.recovered)
		count_sink(COUNT_SINK_RECOVERED, news->arrival.recovered, 0);
	if (news->arrival.reordered)
		count_sink(COUNT_SINK_REORDERED, news->arrival.reordered, 0);
	if (news->arrival.duplicates)
		count_sink(COUNT_SINK_DUPLICATE, news->arrival.duplicates, 0);
	if (news->arrival.damaged)
		count_sink(COUNT_SINK_DAMAGED, news->arrival.damaged, 0);
	if (news->arrival.restarted)
		count_sink(COUNT_SINK_FLOW_RESTARTED, 1, 0);
	if (news->added)
		count_sink(COUNT_SINK_FLOW_NEW, 1, 0);
	if (news->arrival.late_begin)
		count_sink(COUNT_SINK_FLOW_LATE, 1, 0);
}

#endif
