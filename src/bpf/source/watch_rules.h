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

/*
 * These are functions of their own because the verifier would walk a search anew for each way that leads to it. The packet
 * is that in the scratch.
 */
__noinline int watch_destination(void)
{
	struct outgoing_packet *p = outgoing();

	if (p)
		watch(p->at.family == 4 ? p->key.daddr + 3 : p->key.daddr, p->at.family, &p->watching);
	return 0;
}

__noinline __u32 class_of_source(void)
{
	struct outgoing_packet *p = outgoing();

	return p ? source_class(&p->key, p->at.family) : 0;
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
		const struct watch_values values = {
			.key = &p->key,
			.generation = p->watching.generation,
			.ifindex = p->ifindex,
			.family = p->at.family,
			.is_tcp = p->at.protocol == IPPROTO_TCP,
			.tos = p->at.tos,
		};

		if (!node)
			return 0;
		if (node->test == WATCH_VERDICT) {
			p->watching.node = edge.node;
			p->watching.watched = watched_by(node->flags);
			p->watching.always = node->flags & WATCH_ALWAYS;
			if (node->flags & WATCH_TAG && !is_sampled(node, &p->key))
				p->watching.watched = NOT_SAMPLED;
			return 0;
		}
		edge.value = node->test == WATCH_BY_FROM ? class_of_source() : tested_value(&values, node->test);
		next = bpf_map_lookup_elem(&watch_edges, &edge);
		edge.node = next ? *next : node->other;
	}
	return 0;
}

#endif
