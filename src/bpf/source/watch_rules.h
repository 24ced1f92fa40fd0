/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides by the rules of the watchlist where a packet's destination alone does not decide. */
#ifndef HOSTINT_SOURCE_WATCH_RULES_H
#define HOSTINT_SOURCE_WATCH_RULES_H

#include "kernel/kernel.h"
#include "hostint/watch.h"
#include "packet/headers.h"
#include "source/outgoing.h"
#include "source/sampling.h"
#include "watch/list.h"

/* Returns the packet's value for the test of a node. */
static __always_inline __u32 tested_value(const struct outgoing_packet *p, __u32 test)
{
	__u32 generation = p->watching.generation;

	switch (test) {
	case WATCH_BY_FROM:
		return source_class(&p->key, p->at.family);
	case WATCH_BY_TRAFFIC:
		return find_class(generation, WATCH_PORTS + (p->at.protocol == IPPROTO_TCP) * 64 + (p->at.tos >> 2));
	case WATCH_BY_DEV:
		return p->ifindex;
	case WATCH_BY_TO_PORT:
		return find_class(generation, bpf_ntohs(p->key.dport)) & 0xffff;
	default:
		return find_class(generation, bpf_ntohs(p->key.sport)) >> 16;
	}
}

/* Leaves the verdict in the scratch. */
__noinline int decide(void)
{
	struct outgoing_packet *p = outgoing();
	struct watch_edge edge = {};
	__u32 *next;

	if (!p)
		return 0;
	p->watching.watched = UNWATCHED;
	edge.node = p->watching.node;
	for (int i = 0; i < WATCH_TESTS; i++) {
		const struct watch_node *node = bpf_map_lookup_elem(&watch_nodes, &edge.node);

		if (!node)
			return 0;
		if (node->test == WATCH_VERDICT) {
			p->watching.node = edge.node;
			p->watching.watched = watched_by(node->flags);
			if (node->flags & WATCH_TAG && !is_sampled(node, &p->key))
				p->watching.watched = NOT_SAMPLED;
			return 0;
		}
		edge.value = tested_value(p, node->test);
		next = bpf_map_lookup_elem(&watch_edges, &edge);
		edge.node = next ? *next : node->other;
	}
	return 0;
}

#endif
