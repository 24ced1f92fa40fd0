/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sends events to the user half through a ring. If it is full, the event is lost and counted, never the packet. */
#ifndef HOSTINT_SINK_EVENTS_H
#define HOSTINT_SINK_EVENTS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/sink_event.h"
#include "sink/counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 * 1024 * 1024);
} sink_events SEC(".maps");

static __always_inline void send_event(void *event)
{
	count_sink(COUNT_SINK_EVENT_SENT, 1, 0);
	bpf_ringbuf_submit(event, WAKE_IDLE_READER);
}

static __always_inline void send_gap(const struct flow_key *key)
{
	struct gap_event *e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);

	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		return;
	}
	e->kind = EVENT_GAP;
	e->zero = 0;
	e->key = *key;
	send_event(e);
}

#endif
