/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps the worst that packets met at each interface, by windows of time. GRO merges segments whose options are alike, so
 * all requests of a window get the same values: the worst of the window before.
 *
 * A window is one word, which is read and written at once: its number in 31 bits, value + 1 in 9, and the latency in 24.
 * CPUs that write at the same time may lose the worse of two packets that met nearly the same.
 */
#ifndef HOSTINT_TRANSIT_GAUGE_H
#define HOSTINT_TRANSIT_GAUGE_H

#include "kernel/kernel.h"
#include "hostint/tcp.h"
#include "hostint/transit.h"

enum {
	GAUGE_VALUE_AT = 24,
	GAUGE_VALUES = 0x1ff,
	GAUGE_WINDOW_AT = 33,
	GAUGE_WINDOWS = 0x7fffffff,
	SENT_LATENCY_AT = 40,
	SENT_LIFE_US = 1000000,
};

#define SENT_TIME ((1ULL << SENT_LATENCY_AT) - 1)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRANSIT_GAUGES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct transit_gauge);
} transit_gauges SEC(".maps");

/* What a packet met, or the worst of a window. */
struct gauged {
	__u32 value;   /* of option 114, plus 1; 0: unknown */
	__u32 latency; /* in units of 256 ns */
};

static __always_inline struct transit_gauge *gauge_of(__u32 ifindex)
{
	return bpf_map_lookup_elem(&transit_gauges, &ifindex);
}

static __always_inline __u32 window_of(const struct transit_gauge *g, __u64 monotonic_ns)
{
	return (monotonic_ns / g->hold_ns) & GAUGE_WINDOWS;
}

static __always_inline bool is_of_window(__u64 word, __u32 window)
{
	return word >> GAUGE_WINDOW_AT == window;
}

static __always_inline __u64 window_word(__u32 window, __u32 value, __u32 latency)
{
	return (__u64)window << GAUGE_WINDOW_AT | (__u64)(value & GAUGE_VALUES) << GAUGE_VALUE_AT |
	       (latency & TCP_OPTION_LATENCY);
}

static __always_inline struct gauged gauged_in(__u64 word)
{
	struct gauged worst = {
		.value = word >> GAUGE_VALUE_AT & GAUGE_VALUES,
		.latency = word & TCP_OPTION_LATENCY,
	};

	return worst;
}

static __always_inline volatile __u64 *word_of(struct transit_gauge *g, __u32 window)
{
	return window & 1 ? &g->windows[1] : &g->windows[0];
}

static __always_inline void note_gauged(struct transit_gauge *g, __u32 window, const struct gauged *met)
{
	volatile __u64 *word = word_of(g, window);
	struct gauged worst = gauged_in(*word);

	if (!is_of_window(*word, window))
		worst.value = worst.latency = 0;
	if (met->value > worst.value)
		worst.value = met->value;
	if (met->latency > worst.latency)
		worst.latency = met->latency;
	*word = window_word(window, worst.value, worst.latency);
}

/*
 * Returns what all packets of this window get. If none was gauged in the window before, that is what the first one of this
 * window met.
 */
static __always_inline struct gauged held(struct transit_gauge *g, __u32 window, const struct gauged *first)
{
	__u32 before = (window - 1) & GAUGE_WINDOWS;
	volatile __u64 *word = word_of(g, window + 1);

	if (!is_of_window(*word, before))
		*word = window_word(before, first->value, first->latency);
	return gauged_in(*word);
}

/* Notes how long a request took from its arrival to the driver; of several within a window's length, the longest. */
static __always_inline void note_sent_latency(struct transit_gauge *g, __u32 latency, __u64 monotonic_ns)
{
	__u64 now_us = monotonic_ns / 1000, before = *(volatile __u64 *)&g->sent;

	if (((now_us - before) & SENT_TIME) * 1000 < g->hold_ns && latency < before >> SENT_LATENCY_AT)
		return;
	*(volatile __u64 *)&g->sent = (__u64)latency << SENT_LATENCY_AT | (now_us & SENT_TIME);
}

/* A packet that is about to join the queue takes as long as the last one did, as far as can be known. */
static __always_inline __u32 last_sent_latency(const struct transit_gauge *g, __u64 monotonic_ns)
{
	__u64 word = *(const volatile __u64 *)&g->sent;

	return ((monotonic_ns / 1000 - word) & SENT_TIME) < SENT_LIFE_US ? word >> SENT_LATENCY_AT : 0;
}

/* Returns ns in units of 256 ns, rounded, and at most what the option can state. */
static __always_inline __u32 latency_units(__u64 ns)
{
	__u64 units = (ns + (1 << (TCP_OPTION_UNIT_SHIFT - 1))) >> TCP_OPTION_UNIT_SHIFT;

	return units < TCP_OPTION_LATENCY ? units : TCP_OPTION_LATENCY;
}

#endif
