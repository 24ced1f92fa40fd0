/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides which packets get a stamp when they arrive: those that are watched and forwarded, but none that tell time. */
#ifndef HOSTINT_HOP_ARRIVAL_H
#define HOSTINT_HOP_ARRIVAL_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/fib.h"
#include "packet/ip_headers.h"
#include "watch/chosen_flows.h"
#include "watch/list.h"
#include "watch/verdict.h"

enum {
	PORT_NTP = 123,
	PORT_PTP_EVENT = 319,
	PORT_PTP_GENERAL = 320,
};

struct hop_arrival {
	struct ip_headers ip;
	struct flow_key key;
};

/* Returns false if there are no headers that can be read. */
static __always_inline bool read_arrival(struct __sk_buff *ctx, struct hop_arrival *a)
{
	__be16 ports[2];

	if (!read_outer_ip(ctx, &a->ip))
		return false;
	__builtin_memset(&a->key, 0, sizeof(a->key));
	if (a->ip.version == 4) {
		a->key.saddr[2] = a->key.daddr[2] = bpf_htonl(0xffff);
		a->key.saddr[3] = a->ip.saddr[0];
		a->key.daddr[3] = a->ip.daddr[0];
	} else {
		__builtin_memcpy(a->key.saddr, a->ip.saddr, sizeof(a->key.saddr));
		__builtin_memcpy(a->key.daddr, a->ip.daddr, sizeof(a->key.daddr));
	}
	a->key.layers = a->ip.protocol;
	if (is_l4(a->ip.protocol) && !bpf_skb_load_bytes(ctx, a->ip.l4, ports, sizeof(ports))) {
		a->key.sport = ports[0];
		a->key.dport = ports[1];
	}
	return true;
}

static __always_inline bool is_clock_port(__be16 port)
{
	return port == bpf_htons(PORT_NTP) || port == bpf_htons(PORT_PTP_EVENT) || port == bpf_htons(PORT_PTP_GENERAL);
}

static __always_inline bool tells_time(const struct hop_arrival *a)
{
	return a->ip.protocol == IPPROTO_UDP && (is_clock_port(a->key.sport) || is_clock_port(a->key.dport));
}

/* Asks by which interface the packet will leave. */
static __always_inline bool leaves_again(struct __sk_buff *ctx, const struct hop_arrival *a, __u32 *out_ifindex)
{
	struct fib_question question = {
		.family = a->ip.version == 4 ? FIB_FAMILY_IPV4 : FIB_FAMILY_IPV6,
		.l4_protocol = a->ip.protocol,
		.sport = a->key.sport,
		.dport = a->key.dport,
		.ifindex = ctx->ifindex,
	};

	__builtin_memcpy(question.saddr, a->ip.saddr, sizeof(question.saddr));
	__builtin_memcpy(question.daddr, a->ip.daddr, sizeof(question.daddr));
	if (!is_forwarded(ctx, &question))
		return false;
	*out_ifindex = question.ifindex;
	return true;
}

/* Looks up where the rules begin for the packet's destination. Returns false if no rule watches it. */
static __always_inline bool begin_rules(const struct hop_arrival *a, struct watching *w)
{
	w->watched = UNWATCHED;
	w->node = 0;
	watch(a->ip.daddr, a->ip.version, w);
	return w->node;
}

static __always_inline bool watches_arrival(const struct hop_arrival *a, const struct watching *w, __u32 out_ifindex)
{
	const struct watch_values values = {
		.key = &a->key,
		.generation = w->generation,
		.ifindex = out_ifindex,
		.family = a->ip.version,
		.is_tcp = a->ip.protocol == IPPROTO_TCP,
		.tos = a->ip.tos,
	};
	const struct watch_node *verdict = find_verdict(w->node, &values);

	return verdict && verdict->flags & WATCH_TAG && is_chosen_flow(verdict, &a->key);
}

#endif
