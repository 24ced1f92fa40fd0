// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Measures how long packets wait in the queues behind a transit hop: from the hop's program at TC egress, which lies in
 * front of the queue, to the driver, which gets them from it. It only looks: no packet is changed or delayed.
 *
 *	net_dev_start_xmit -> another namespace's, or this host's own: end
 *			      no INT, or no departure known: end
 *			      counted by source node and interface
 * A packet that had a budget is counted whether its departure is known or not.
 *
 * Of a superpacket that the kernel cuts, the first segment counts.
 *
 * Of segments with a request of option 114 the whole time through this host is noted for the requests that follow.
 */
#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/transit.h"
#include "drop/size.h"
#include "int/crossings.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "sink/latency.h"
#include "transit/arrivals.h"
#include "transit/departures.h"
#include "transit/gauge.h"
#include "transit/remembered.h"
#include "transit/sent.h"
#include "transit/wait_times.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 sent_netns = 0; /* the inode of the network namespace */
const volatile bool times_options = false;

/* Of a superpacket that the kernel cuts, all segments come here. */
static __always_inline void note_sent(struct sk_buff *skb, const struct sent_packet *p, __u32 ifindex, __u64 now)
{
	struct drop_size size;

	find_size(skb, &size);
	count_crossing(bpf_ntohl(p->source_node), dest_tag(p->daddr), ifindex,
		       crossing_of(CROSSING_SENT, p->ttl, size.segments), block_of(now, bpf_ntohl(p->source_time)));
}

/* Finds what tells a segment from all others that have option 114 in its usual place, at the end of the options. */
static __always_inline bool identify_sent_option(struct sent_packet *p)
{
	struct tcphdr tcp;
	__u8 option[2];

	if (p->protocol != IPPROTO_TCP || !read_sent(p, p->l4, &tcp, sizeof(tcp)) ||
	    tcp.doff >> 4 < (TCP_BASE_LEN + TCP_OPTION_LEN) / 4 ||
	    !read_sent(p, p->l4 + (tcp.doff >> 4) * 4 - TCP_OPTION_LEN, option, sizeof(option)))
		return false;
	if (option[0] != TCP_OPTION_KIND || option[1] != TCP_OPTION_LEN)
		return false;
	p->identity = identity_of(tcp.seq, tcp.ack_seq, tcp.window, 0);
	return true;
}

/* The place is free then: of the segments of a superpacket, the first one counts. */
static __always_inline int time_option(struct sent_packet *p, __u32 ifindex, const struct host_settings *host)
{
	struct transit_gauge *g;
	volatile __u64 *slot;
	__u64 now, arrived;

	if (!identify_sent_option(p))
		return 0;
	g = gauge_of(ifindex);
	slot = slot_of(&transit_arrivals, p->identity);
	if (!g || !slot)
		return 0;
	now = now_ns(host);
	arrived = remembered(*slot, p->identity, now);
	if (!arrived)
		return 0;
	*slot = 0;
	note_sent_latency(g, latency_units(now - arrived), bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int transit_sent(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct net_device *dev = (struct net_device *)ctx[1];
	const struct host_settings *host = get_host_settings();
	struct sent_packet p = {};
	struct wait_key key = { .part = WAIT_IN_QUEUE };
	volatile __u64 *slot;
	__u64 identity, now, departed, word;

	if (!host || !skb->skb_iif || dev->nd_net.net->ns.inum != sent_netns)
		return 0;
	if (!find_sent(skb, &p))
		return times_options ? time_option(&p, dev->ifindex, host) : 0;
	key.source_node = bpf_ntohl(p.source_node);
	key.ifindex = dev->ifindex;
	identity = departure_identity(p.identity, key.ifindex);
	slot = slot_of(&transit_departures, identity);
	if (!slot)
		return 0;
	now = now_ns(host);
	word = *slot;
	/* A driver that is busy gets the packet once more. Segments of a superpacket may be alike. */
	if (!p.is_gpe && word == sent_word(identity))
		return 0;
	if (p.had_budget && p.source_node != bpf_htonl(host->node_id))
		note_sent(skb, &p, key.ifindex, now);
	departed = remembered(word, identity, now);
	if (!departed)
		return 0;
	*slot = p.is_gpe ? 0 : sent_word(identity);
	return count_wait(&key, now - departed, fine_slot(now - departed), 1, now);
}
