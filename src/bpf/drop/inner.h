/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the flow inside of a tunnel, by which its packets are known instead of the tunnel's own flow. */
#ifndef HOSTINT_DROP_INNER_H
#define HOSTINT_DROP_INNER_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/tunnel.h"
#include "hostint/wire.h"
#include "drop/flow_of.h"
#include "packet/tunnel.h"

/* Looks into a tunnel of this kind, from its UDP header on. Returns 0 if there is no IP inside. */
__noinline int open_tunnel(__u32 kind)
{
	struct header_search *search = single_value(&header_search);
	struct tunnelled found = {};
	struct drop_headers h = {};
	struct flow_key flow = {};

	if (!search)
		return 0;
	h.head = (unsigned char *)search->head;
	h.at = search->at;
	h.end = search->end;
	if (!find_tunnelled_ip(&h, read_kernel_bytes, h.at + UDP_LEN, kind, &found))
		return 0;
	h.at = found.at;
	if (!(found.version == 4 ? find_ipv4_flow(&h, &flow) : find_ipv6_flow(&h, &flow)))
		return 0;
	search->flow = flow;
	search->id = found.id;
	search->kind = kind;
	return 1;
}

/*
 * Makes the flow in a tunnel the packet's flow, if the tunnel is of one of these kinds (a bit each). The headers are at the
 * transport header of the present flow, whose later fragments have no ports.
 */
static __always_inline void find_inner(const struct drop_headers *h, __u32 kinds, struct flow_key *key, __u32 *kind,
				       __u32 *id)
{
	enum tunnel_kind by_port = tunnel_of_port(key->dport);
	struct header_search *search;

	/* Then the verifier takes the other way for a part of this one. */
	if (__builtin_expect(key->layers == DROP_UDP && kinds >> by_port & 1, true)) {
		search = begin_search(h);
		if (!search || !open_tunnel(by_port))
			return;
		search->outer = *key;
		*key = search->flow;
		*kind = search->kind;
		*id = search->id;
	}
}

/* Finds the own flow of the tunnel that find_inner() entered last on this CPU. */
static __always_inline void copy_outer(struct flow_key *outer)
{
	const struct header_search *search = single_value(&header_search);

	if (search)
		*outer = search->outer;
}

#endif
