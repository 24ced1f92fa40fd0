/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Walks through the rules of the watchlist where a destination alone does not decide. */
#ifndef HOSTINT_WATCH_VERDICT_H
#define HOSTINT_WATCH_VERDICT_H

#include "kernel/kernel.h"
#include "hostint/watch.h"
#include "watch/list.h"

/* Returns the verdict that the values lead to from this node on, or NULL. */
static __always_inline const struct watch_node *find_verdict(__u32 from, const struct watch_values *values)
{
	struct watch_edge edge = { .node = from };

	for (int i = 0; i < WATCH_TESTS; i++) {
		const struct watch_node *node = bpf_map_lookup_elem(&watch_nodes, &edge.node);
		__u32 *next;

		if (!node || node->test == WATCH_VERDICT)
			return node;
		edge.value = tested_value(values, node->test);
		next = bpf_map_lookup_elem(&watch_edges, &edge);
		edge.node = next ? *next : node->other;
	}
	return NULL;
}

#endif
