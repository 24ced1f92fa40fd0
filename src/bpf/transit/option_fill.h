/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fills in a request of option 114, as TCP-INT's switches do: the worst value of the path with its hop and link, and the sum
 * of all latencies. Nothing but these bytes and the checksum changes.
 */
#ifndef HOSTINT_TRANSIT_OPTION_FILL_H
#define HOSTINT_TRANSIT_OPTION_FILL_H

#include "kernel/kernel.h"
#include "hostint/tcp.h"
#include "packet/headers.h"
#include "transit/gauge.h"
#include "transit/link_rate.h"
#include "transit/passing.h"
#include "transit/queue_bytes.h"

union option_bytes {
	struct tcp_option it;
	__be32 words[TCP_OPTION_LEN / 4];
};

/* Returns the value of this hop plus 1, or 0 if neither its queue nor its free bandwidth is known. */
static __always_inline __u32 gauge_value(struct __sk_buff *ctx, const struct transit_gauge *g, bool reads_all,
					 __u32 now_us)
{
	int queue = queue_bytes(ctx, reads_all);
	__u32 steps = queue > 0 ? queue >> TCP_OPTION_QUEUE_SHIFT : 0;
	__s32 gbit;

	if (steps > TCP_OPTION_MOST)
		steps = TCP_OPTION_MOST;
	if (steps)
		return (TCP_OPTION_QUEUE | steps) + 1;
	if (g->link_mbit < TCP_OPTION_LEAST_MBIT)
		return queue == QUEUE_UNKNOWN ? 0 : TCP_OPTION_QUEUE + 1;
	gbit = free_gbit(g->link_mbit, now_us);
	if (gbit == FREE_UNKNOWN)
		return 0;
	return (gbit < TCP_OPTION_MOST ? TCP_OPTION_MOST - gbit : 0) + 1;
}

/* Notes what the packet met, and returns what all packets of this window get. */
static __always_inline struct gauged gauge_packet(struct __sk_buff *ctx, struct transit_gauge *g, __u32 latency)
{
	__u64 monotonic_ns = bpf_ktime_get_ns();
	__u32 window = window_of(g, monotonic_ns), sent = last_sent_latency(g, monotonic_ns);
	bool is_first = !is_of_window(*word_of(g, window), window);
	struct gauged met = {
		.value = gauge_value(ctx, g, is_first, monotonic_ns / 1000),
		.latency = latency > sent ? latency : sent,
	}, worst = held(g, window, &met);

	note_gauged(g, window, &met);
	return worst;
}

/* A request with key n asks one hop of 2^n packets to fill it in, by chance; 15: all. */
static __always_inline bool is_chosen(const struct tcp_option *option)
{
	__u8 key = option->key_speed >> 4;

	return key == TCP_OPTION_ALL || !(bpf_get_prandom_u32() & ((1U << key) - 1));
}

static __always_inline __u32 latency_in(const struct tcp_option *option)
{
	return option->latency[0] << 16 | option->latency[1] << 8 | option->latency[2];
}

static __always_inline void add_gauged(struct tcp_option *option, const struct gauged *worst, __u8 ttl, __u32 speed)
{
	__u32 latency = latency_in(option) + worst->latency;

	if (latency > TCP_OPTION_LATENCY)
		latency = TCP_OPTION_LATENCY;
	option->latency[0] = latency >> 16;
	option->latency[1] = latency >> 8;
	option->latency[2] = latency;
	if (worst->value && (worst->value - 1 > option->value || !option->hop)) {
		option->value = worst->value - 1;
		option->hop = ttl;
		option->key_speed = (option->key_speed & 0xf0) | (speed & 15);
	}
}

static __always_inline bool load_ttl(struct __sk_buff *ctx, const struct layout *at, __u8 *ttl)
{
	__u32 offset = at->family == 4 ? __builtin_offsetof(struct iphdr, ttl) :
					 __builtin_offsetof(struct ipv6hdr, hop_limit);

	return !bpf_skb_load_bytes(ctx, at->l3 + offset, ttl, sizeof(*ttl));
}

/*
 * Stores the option, and corrects the checksum. One that the device finishes, also of each segment of a superpacket, is that
 * of the pseudo header until then, which the kernel's function leaves alone. Options may begin at odd places: the sum is that
 * of words, so its bytes change places then.
 *
 * Only the first store may be refused; it makes the headers before it writable, too.
 */
static __always_inline bool store_option(struct __sk_buff *ctx, const struct passing_packet *p,
					 union option_bytes *before, union option_bytes *now)
{
	__u32 check_at = p->at.l4 + __builtin_offsetof(struct tcphdr, check);
	__u32 diff = bpf_csum_diff(before->words, TCP_OPTION_LEN, now->words, TCP_OPTION_LEN, 0);

	if ((p->option_at - p->at.l4) & 1)
		diff = diff >> 8 | diff << 24;
	return !bpf_skb_store_bytes(ctx, p->option_at, now, TCP_OPTION_LEN, 0) &&
	       !bpf_l4_csum_replace(ctx, check_at, 0, diff, 0);
}

#endif
