/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Leaves flows out, so that the host's budget holds: of 2^share_shift flows, the one whose hash begins with as many zeros stays.
 * Both directions of a flow have the same hash, on all hosts, and what one in four chooses is among what one in two does.
 *
 * In options, a flow may leave and come back at any packet, so this is decided before anything else. What a sink asks for
 * concerns the flows to it alone: lease/settle.h leaves those out. In tunnels, devices that
 * follow connections may not know a flow that leaves one: there, flows that have begun stay.
 */
#ifndef HOSTINT_SOURCE_SHARE_H
#define HOSTINT_SOURCE_SHARE_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/source_flow.h"
#include "kernel/host_settings.h"
#include "packet/headers.h"
#include "source/attachment.h"
#include "source/counters.h"
#include "source/outgoing.h"
#include "watch/chosen_flows.h"
#include "watch/state.h"

/* Leaves the watched packet in the scratch, whose flow has this record or none, if the budget leaves it out. */
static __always_inline bool leave_over_budget(const struct host_settings *host, const struct outgoing_packet *p,
					      const struct source_flow *f, __u32 segments)
{
	if (!host->share_shift || p->watching.always || (encapsulation != ENCAP_OPTIONS && f) ||
	    !is_left_out(host->share_shift, &p->key))
		return false;
	count_source(COUNT_SOURCE_BUDGET, segments, p->frame_len);
	return true;
}

/* Reads the key of a packet without options, extension headers and fragments. */
static __always_inline bool read_plain_key(void *data, void *end, struct flow_key *key)
{
	const struct ethhdr *eth = data;
	const struct udphdr *l4; /* or TCP, whose ports have the same place */

	if (data + ETH_HLEN + IP4_LEN + UDP_LEN > end)
		return false;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		const struct iphdr *ip = data + ETH_HLEN;

		if (ip->version_ihl != 0x45 || is_fragment(ip->frag_off))
			return false;
		key->layers = ip->protocol;
		map_addresses(ip, key->saddr, key->daddr);
		l4 = (void *)(ip + 1);
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip = data + ETH_HLEN;

		if (data + ETH_HLEN + IP6_LEN + UDP_LEN > end)
			return false;
		key->layers = ip->nexthdr;
		__builtin_memcpy(key->saddr, ip->saddr, sizeof(key->saddr));
		__builtin_memcpy(key->daddr, ip->daddr, sizeof(key->daddr));
		l4 = (void *)(ip + 1);
	} else {
		return false;
	}
	key->sport = l4->source;
	key->dport = l4->dest;
	return is_l4(key->layers);
}

/* Leaves most packets of such flows, before their destination is looked up, where no rule makes an exception. */
static __always_inline bool leaves_by_budget(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	const struct watch_state *state;
	struct flow_key key = {};

	if (encapsulation != ENCAP_OPTIONS || !host || !host->share_shift)
		return false;
	state = get_watch_state();
	if (!state || state->has_always ||
	    !read_plain_key((void *)(long)ctx->data, (void *)(long)ctx->data_end, &key) ||
	    !is_left_out(host->share_shift, &key))
		return false;
	count_source(COUNT_SOURCE_BUDGET, ctx->gso_segs ? ctx->gso_segs : 1, ctx->len);
	return true;
}

#endif
