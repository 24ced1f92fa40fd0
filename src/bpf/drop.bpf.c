// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Sees each packet that the kernel drops: counts it by reason and place, and by flow. It only looks: no packet is
 * changed, and none is dropped or kept because of it.
 *
 *	kfree_skb -> another namespace's: end
 *		     hostint's INT, and the flow behind it, unless the reason is ignored
 *		     counted by place (reason, interface, code, namespace, tagging node), or else by reason
 *		     ignored reason: end
 *		     not IP: end
 *		     reason that is ignored of packets to groups, or of acknowledgements: end
 *		     flow known: counted; new: a token, an event
 *
 * One of the three programs is loaded, by what the kernel's tracepoint tells.
 */
#include "kernel/kernel.h"
#include "hostint/drop.h"
#include "drop/counts.h"
#include "drop/flow_of.h"
#include "drop/flows.h"
#include "drop/int_of.h"
#include "drop/origin.h"
#include "drop/settings.h"
#include "drop/size.h"

char _license[] SEC("license") = "Dual BSD/GPL";

static __always_inline int see_drop(struct sk_buff *skb, __u64 place, __u32 reason, struct sock *rx_sk)
{
	const struct drop_settings *set = get_drop_settings();
	struct drop_place_key at = { .place = place, .reason = reason };
	struct drop_key key = { .reason = reason };
	__u32 slot = reason_slot(reason);
	struct drop_headers headers;
	struct drop_int found = {};
	struct drop_origin from;
	struct drop_size size;
	bool is_ignored, has_flow;

	if (!set)
		return 0;
	find_origin(skb, rx_sk, &from);
	if (set->netns && from.netns != set->netns)
		return 0;
	find_size(skb, &size);
	at.ifindex = key.ifindex = from.ifindex;
	at.netns = key.netns = from.netns;
	is_ignored = has_slot(set->ignored, slot);
	has_flow = !is_ignored && read_flow(skb, set, &headers, &key.flow, &found);
	at.tagged = key.tagged = found.tagged;
	at.source_node = key.source_node = found.source_node;
	if (!count_place(&at, &size))
		count_reason(slot, &size);
	if (is_ignored) {
		count_drop(COUNT_DROP_IGNORED, &size);
		return 0;
	}
	if (!has_flow) {
		count_drop(COUNT_DROP_NO_FLOW, &size);
		return 0;
	}
	if ((has_slot(set->ignored_groups, slot) && is_multicast(&key.flow)) ||
	    (has_slot(set->ignored_acks, slot) &&
	     is_bare_ack(&headers, &key.flow, size.bytes - (headers.at - skb->network_header)))) {
		count_drop(COUNT_DROP_IGNORED, &size);
		return 0;
	}
	count_flow(&key, skb, &from, &found, &size, place, set);
	return 0;
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
