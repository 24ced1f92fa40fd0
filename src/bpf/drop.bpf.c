// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Sees each packet that the kernel drops: counts it by reason and place, and by flow. It only looks: no packet is
 * changed, and none is dropped or kept because of it.
 *
 *	kfree_skb -> another namespace's: end
 *		     hostint's INT, and the flow behind it, unless the reason is ignored
 *		     ignored of packets to groups, of acknowledgements, or of copies?
 *		     counted by place (reason, interface, code, namespace, tagging node, ignored), or else by reason
 *		     ignored: end
 *		     not IP: end
 *		     in a tunnel, without INT: the flow is the one inside
 *		     flow known: counted; new: a token, an event
 *
 * One of the three programs is loaded, by what the kernel's tracepoint tells.
 */
#include "kernel/kernel.h"
#include "hostint/drop.h"
#include "kernel/single_value.h"
#include "kernel/token.h"
#include "drop/counts.h"
#include "drop/flow_of.h"
#include "drop/flows.h"
#include "drop/inner.h"
#include "drop/int_of.h"
#include "drop/origin.h"
#include "drop/settings.h"
#include "drop/size.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Counts the packet by place, or else by reason. A function of its own, for the room that its key takes on the stack. */
static __noinline int count_where(const struct dropped_packet *p, __u32 is_ignored)
{
	struct drop_place_key at = {
		.place = p->place,
		.reason = p->key.reason,
		.ifindex = p->key.ifindex,
		.netns = p->key.netns,
		.tagged = p->key.tagged,
		.source_node = p->key.source_node,
		.ignored = is_ignored,
	};

	if (!count_place(&at, &p->size))
		count_reason(reason_slot(p->key.reason), &p->size);
	return 0;
}

/*
 * Counts the packet for its flow. A new flow takes a token, or else it is counted by reason and place alone. A function
 * of its own, so that its variables take no room on the stack beside those of find_measured().
 */
static __noinline int count_flow(const struct dropped_packet *p, struct sk_buff *skb, const struct drop_settings *set)
{
	struct drop_flow *flow = bpf_map_lookup_elem(&drop_flows, &p->key);
	__u64 now = bpf_ktime_get_ns(), *full_ns;
	struct token_rate rate;

	if (flow) {
		add_to_flow(flow, skb, &p->size, now);
		return 0;
	}
	rate.interval_ns = set->new_flow_interval_ns;
	rate.burst_ns = set->new_flow_burst_ns;
	full_ns = single_value(&drop_tokens);
	if (full_ns && take_token(full_ns, &rate, now))
		begin_drops(p, skb, now);
	else
		count_drop(COUNT_DROP_FLOW_LIMITED, &p->size);
	return 0;
}

static __always_inline int see_drop(struct sk_buff *skb, __u64 place, __u32 reason, struct sock *rx_sk)
{
	const struct drop_settings *set = get_drop_settings();
	struct dropped_packet p = { .key.reason = reason, .place = place };
	__u32 slot = reason_slot(reason);
	struct drop_headers headers;
	bool is_ignored, has_flow;

	if (!set || is_test_run(skb))
		return 0;
	find_origin(skb, rx_sk, &p.from);
	if (set->netns && p.from.netns != set->netns)
		return 0;
	find_size(skb, &p.size);
	p.key.ifindex = p.from.ifindex;
	p.key.netns = p.from.netns;
	is_ignored = has_slot(set->ignored, slot);
	has_flow = !is_ignored && read_flow(skb, set, &headers, &p.key.flow, &p.found);
	if (has_flow && (tries_a_path(&p.key.flow, p.found.tagged) ||
			 (has_slot(set->ignored_groups, slot) && (is_multicast(&p.key.flow) || is_to_many(skb))) ||
			 (has_slot(set->ignored_copies, slot) && is_icmp(&p.key.flow)) ||
			 (has_slot(set->ignored_acks, slot) &&
			  is_bare_ack(&headers, &p.key.flow, p.size.bytes - (headers.at - skb->network_header)))))
		is_ignored = true;
	p.key.tagged = p.found.tagged;
	p.key.source_node = p.found.source_node;
	count_where(&p, is_ignored);
	if (is_ignored) {
		count_drop(COUNT_DROP_IGNORED, &p.size);
		return 0;
	}
	if (!has_flow) {
		count_drop(COUNT_DROP_NO_FLOW, &p.size);
		return 0;
	}
	/* INT measures the flow that it knows; so its packets are not known by another one. */
	/* A zero that the verifier does not know: with and without a tunnel it then walks one way. */
	p.key.tunnel = p.key.tunnel_id = set->zero;
	if (!p.found.tagged)
		find_inner(&headers, set->tunnels, &p.key.flow, &p.key.tunnel, &p.key.tunnel_id);
	return count_flow(&p, skb, set);
}

/* Before 5.17 the kernel gives no reason. */
SEC("tp_btf/kfree_skb")
int see_drop_without_reason(__u64 *ctx)
{
	return see_drop((struct sk_buff *)ctx[0], ctx[1], 0, NULL);
}

SEC("tp_btf/kfree_skb")
int see_drop_with_reason(__u64 *ctx)
{
	return see_drop((struct sk_buff *)ctx[0], ctx[1], ctx[2], NULL);
}

/* Since 6.11 the kernel gives the receiving socket, too. */
SEC("tp_btf/kfree_skb")
int see_drop_with_socket(__u64 *ctx)
{
	return see_drop((struct sk_buff *)ctx[0], ctx[1], ctx[2], (struct sock *)ctx[3]);
}
