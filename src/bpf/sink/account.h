/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Accounts for a tagged packet before INT is removed: its permission, its flow, its report. */
#ifndef HOSTINT_SINK_ACCOUNT_H
#define HOSTINT_SINK_ACCOUNT_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/sink_event.h"
#include "hostint/sink_flow.h"
#include "hostint/wire.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "sink/counters.h"
#include "sink/events.h"
#include "sink/fine_slots.h"
#include "sink/flow_table.h"
#include "sink/flow_update.h"
#include "sink/grants.h"
#include "sink/home_cpu.h"
#include "sink/minima.h"
#include "sink/news.h"
#include "sink/nic_stamp.h"
#include "sink/paths.h"
#include "sink/permission.h"
#include "sink/settings.h"
#include "sink/tagged.h"
#include "sink/tokens.h"
#include "sink/unmeasured.h"
#include "sink/whole_sum.h"
#include "sink/witness.h"

static __always_inline void fill_latency(struct latency_event *e, __u32 kind, __u32 reasons,
					 const struct tagged_packet *p)
{
	e->kind = kind;
	e->reasons = reasons;
	e->encapsulation = p->facts.encapsulation;
	e->l4_len = p->at.family == 4 ? p->l4_len : 0;
	e->bucket = p->news.bucket;
	e->key = p->facts.key;
	e->now_ns = nic_stamps && p->nic_ns ? p->nic_ns : p->facts.now;
	e->latency_ns = p->facts.latency_ns;
	e->ifindex = p->facts.ifindex;
	e->source_node = p->facts.source_node;
	e->sequence = p->facts.sequence;
	e->ingress_ts = p->facts.ingress_ts;
	e->egress_ts = p->egress_ts;
	e->ingress_port = p->ingress_port;
	e->egress_port = p->facts.source_port;
	/* Without a queue the scratch has that of another packet. */
	e->queue_packets = p->has_queue * p->queue_packets;
	e->queue_bytes = p->has_queue * p->queue_bytes;
	__builtin_memcpy(e->ip, &p->base, sizeof(e->ip));
	__builtin_memset(e->l4, 0, sizeof(e->l4));
	if (p->l4_len == UDP_LEN)
		__builtin_memcpy(e->l4, &p->l4, UDP_LEN);
	else
		__builtin_memcpy(e->l4, &p->l4, TCP_BASE_LEN);
	e->has_queue = p->has_queue;
	e->by_nic = nic_stamps && p->nic_ns;
	e->zero = 0;
}

__noinline int send_latency(__u32 reasons)
{
	struct tagged_packet *p = tagged();
	struct latency_event *e;

	if (!p)
		return 0;
	e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);
	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		return 0;
	}
	fill_latency(e, EVENT_LATENCY, reasons, p);
	send_event(e);
	return 0;
}

/* Does the same for a packet with transit hops. */
__noinline int send_path(__u32 reasons)
{
	struct tagged_packet *p = tagged();
	struct path_event *e;

	if (!p)
		return 0;
	e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);
	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		return 0;
	}
	fill_latency(&e->latency, EVENT_PATH, reasons, p);
	e->hops = p->hops;
	e->hop_words = p->hop_words;
	e->bitmap = p->hop_items;
	__builtin_memset(e->zero, 0, sizeof(e->zero));
	__builtin_memcpy(e->entries, p->entries, sizeof(e->entries));
	send_event(e);
	return 0;
}

/* Returns the arrival time for the latency. Deadlines always use the kernel's clock, not the card's. */
static __always_inline __u64 arrival_ns(struct tagged_packet *p, const struct host_settings *host)
{
	__u64 stamp = p->nic_ns;

	if (!nic_stamps)
		return p->facts.now;
	p->nic_ns = stamp ? nic_arrival(stamp, p->facts.now, host->tai_offset_s) : 0;
	if (p->nic_ns)
		count_sink(COUNT_SINK_NIC_STAMPED, 1, p->frame_len);
	else if (stamp)
		count_sink(COUNT_SINK_NIC_OFF, 1, p->frame_len);
	else
		count_sink(COUNT_SINK_NIC_NONE, 1, p->frame_len);
	return p->nic_ns ? p->nic_ns : p->facts.now;
}

/* account_for returns this, or the reasons for a report. */
enum {
	ACCOUNT_NOT_ALLOWED = 0x100,
	ACCOUNT_DOUBTED = 0x200, /* nothing was accounted for: the checksum is to be verified first */
};

/* A number far from the newest one may be damaged, which the checksum shows. If it never proves anything, others decide. */
static __always_inline bool is_doubtful(const struct sink_flow *f, const struct tagged_packet *p)
{
	return p->facts.sequence - f->head + WINDOW > 2 * WINDOW && !p->checked && f->first_ns &&
	       f->strays < MAX_STRAYS && has_counted_checksum(p);
}

/* Adds a record for the packet's flow. Returns NULL, and counts the packet, if there is no room for it. */
static __always_inline struct sink_flow *begin_sink_flow(struct tagged_packet *p)
{
	enum sink_counter reason = COUNT_SINK_NEW_FLOW_LIMITED;
	struct sink_flow *f;

	if (take_tokens(TOKEN_NEW_FLOW)) {
		f = add_sink_flow(&p->facts.key, p->facts.home_cpu);
		if (f)
			return f;
		reason = COUNT_SINK_UNTRACKED;
	}
	note_refusal();
	/* Another CPU that added the flow before it could see the refusal awaits this packet. */
	f = bpf_map_lookup_elem(&sink_flows, &p->facts.key);
	if (!f) {
		count_sink(reason, p->facts.count, p->frame_len);
		note_unmeasured(reason);
	}
	return f;
}

static __always_inline int account_for(__u32 ifindex, bool locked)
{
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct tagged_packet *p = tagged();
	struct sink_flow *f;

	if (!set || !host || !p)
		return 0;
	p->facts.key.sport = p->l4.udp.source;
	p->facts.key.dport = p->l4.udp.dest;
	f = bpf_map_lookup_elem(&sink_flows, &p->facts.key);
	if (!find_permission(f, p, locked)) {
		p->facts.now = now_ns(host);
		if (f)
			f->left_out = 1;
		else
			note_refusal();
		return ACCOUNT_NOT_ALLOWED;
	}
	if (f && p->allowed_ns)
		remember_allowed(f, p->allowed_ns, p->allowed_serial);
	p->facts.ifindex = ifindex;
	p->facts.home_cpu = this_home_cpu();
	p->facts.now = now_ns(host);
	if (f && is_doubtful(f, p))
		return ACCOUNT_DOUBTED;
	if (f && p->checked == CHECKSUM_WRONG) {
		note_unknown(f, p->facts.count, p->facts.now);
		note_unmeasured(COUNT_SINK_DAMAGED);
		return tell_stripped(p->facts.count);
	}
	p->facts.latency_ns = (__u32)arrival_ns(p, host) - p->facts.ingress_ts;
	if (may_be_minimum(&p->facts))
		take_minimum();
	p->facts.wire_bytes = p->at.ip_len;
	p->facts.bytes = p->orig_len + (p->facts.count - 1) * p->headers_len;
	__builtin_memset(&p->news, 0, sizeof(p->news));
	if (p->bad_segment) {
		if (f)
			note_unknown(f, p->bad_segment, p->facts.now);
		else
			note_refusal();
		count_sink(COUNT_SINK_BAD_SEGMENT, 1, p->frame_len);
		note_unmeasured(COUNT_SINK_BAD_SEGMENT);
		return tell_stripped(p->facts.count);
	}
	if (!f) {
		f = begin_sink_flow(p);
		if (!f)
			return tell_stripped(p->facts.count);
		remember_allowed(f, p->allowed_ns, p->allowed_serial);
	}
	if (!f->last_ns)
		find_watched_since();
	count_latency(f, p->facts.latency_ns, p->facts.count);
	if (p->hops)
		note_path();
	p->news.reasons = p->facts.encapsulation == ENCAP_INT_MD && p->facts.is_sampled ? REASON_SAMPLE : 0;
	update_flow(f, set, &p->facts, &p->news, locked);
	count_arrival(&p->news);
	tell_loss(f, set, &p->facts.key, &p->news);
	if (p->allowed_ns || is_telling_due(f))
		tell_flow_packets(f, locked);
	if (p->news.reasons && !take_tokens(TOKEN_REPORT)) {
		count_sink(COUNT_SINK_REPORT_LIMITED, 1, 0);
		return 0;
	}
	return p->news.reasons;
}

__noinline int account(__u32 ifindex)
{
	return account_for(ifindex, false);
}

__noinline int account_locked(__u32 ifindex)
{
	return account_for(ifindex, true);
}

enum measured {
	MEASURED_STRIP, /* INT is to be removed */
	MEASURED_LEAVE, /* the packet passes unmodified; counted */
	MEASURED_DROP,  /* the packet is dropped by an option; counted */
};

/* Decides about the packet before anything is removed from it; reasons is what account() returned. */
static __always_inline enum measured choose_fate(__u32 reasons, const struct sink_settings *set,
						 const struct tagged_packet *p)
{
	if (reasons & ACCOUNT_NOT_ALLOWED) {
		count_sink(COUNT_SINK_NOT_ALLOWED, 1, p->frame_len);
		return set->flags & SINK_STRICT && p->facts.encapsulation != ENCAP_OPTIONS ? MEASURED_DROP :
											     MEASURED_LEAVE;
	}
	if (reasons)
		p->hops ? send_path(reasons) : send_latency(reasons);
	if (set->flags & SINK_DROP_TAGGED) {
		count_sink(COUNT_SINK_DROPPED_TAGGED, p->facts.count, p->frame_len);
		return MEASURED_DROP;
	}
	return MEASURED_STRIP;
}

#endif
