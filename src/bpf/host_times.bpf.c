// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Measures what packets wait inside the hosts at both ends of their way. It only looks: no packet is changed or delayed.
 *
 *	net_dev_start_xmit -> not tagged by this host, or a probe: end
 *			      the time in the queue, since the stamp that the source wrote into the packet
 *			      the time in the stack up to that stamp, since TCP sent it
 *	TC ingress, behind the sink -> no TCP segment with data, or no measured flow: end
 *			      remembered
 *	skb_copy_datagram_iovec -> not remembered: end
 *			      the time since then
 */
#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "drop/size.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "kernel/stamp.h"
#include "packet/headers.h"
#include "sink/flow_table.h"
#include "sink/latency.h"
#include "transit/sent.h"
#include "transit/unread.h"
#include "transit/wait_times.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 host_netns = 0; /* the inode of the network namespace */

/* What TCP sends has the time of that, which may be one to come if the kernel paces it. */
static __always_inline void count_stack(struct sk_buff *skb, struct wait_key *key, __u64 queued_ns, __u32 segments,
					__u64 now)
{
	__u64 sent_ns = skb->tstamp, all_ns = bpf_ktime_get_ns() - sent_ns;

	if (!sent_ns || !has_monotonic_stamp(skb) || all_ns < queued_ns)
		return;
	key->part = WAIT_IN_STACK;
	count_wait(key, all_ns - queued_ns, fine_slot(all_ns - queued_ns), segments, now);
}

/* Probes of paths have INT with times of their own. Behind it, or behind the header of UDP or TCP there, stands their mark. */
static __always_inline bool is_probe(const struct sent_packet *p)
{
	const __u32 headers[] = { 0, UDP_LEN, TCP_BASE_LEN };
	bool found = false;
	__be32 magic = 0;

#pragma unroll
	for (int i = 0; i < 3; i++)
		found |= read_sent(p, p->behind + headers[i], &magic, sizeof(magic)) &&
			 magic == bpf_htonl(LEASE_PROBE_MAGIC);
	return found;
}

SEC("tp_btf/net_dev_start_xmit")
int host_sent(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct net_device *dev = (struct net_device *)ctx[1];
	const struct host_settings *host = get_host_settings();
	struct wait_key key = { .part = WAIT_IN_QUEUE };
	struct sent_packet p = {};
	struct drop_size size;
	__u64 now, queued_ns;

	if (!host || dev->nd_net.net->ns.inum != host_netns || !find_sent(skb, &p))
		return 0;
	if (p.source_node != bpf_htonl(host->node_id) || is_probe(&p))
		return 0;
	now = now_ns(host);
	queued_ns = (__u32)((__u32)now - bpf_ntohl(p.source_time));
	if (queued_ns > MOST_WAIT_NS)
		return 0;
	find_size(skb, &size);
	key.source_node = host->node_id;
	key.ifindex = dev->ifindex;
	count_wait(&key, queued_ns, fine_slot(queued_ns), size.segments, now);
	count_stack(skb, &key, queued_ns, size.segments, now);
	return 0;
}

/* Reads addresses, and where the segment begins and how long it is, in front of which these headers end. */
static __always_inline bool load_addresses(struct __sk_buff *ctx, struct flow_key *key, __u32 *at, __u32 *len)
{
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} ip;

	if (ctx->protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(ctx, ETH_HLEN, &ip.ip4, sizeof(ip.ip4)) || ip.ip4.protocol != IPPROTO_TCP ||
		    is_fragment(ip.ip4.frag_off))
			return false;
		*at = (ip.ip4.version_ihl & 15) * 4;
		*len = bpf_ntohs(ip.ip4.tot_len) - *at;
		map_addresses(&ip.ip4, key->saddr, key->daddr);
	} else {
		if (ctx->protocol != bpf_htons(ETH_P_IPV6) ||
		    bpf_skb_load_bytes(ctx, ETH_HLEN, &ip.ip6, sizeof(ip.ip6)) || ip.ip6.nexthdr != IPPROTO_TCP)
			return false;
		*at = IP6_LEN;
		*len = bpf_ntohs(ip.ip6.payload_len);
		__builtin_memcpy(key->saddr, ip.ip6.saddr, sizeof(key->saddr));
		__builtin_memcpy(key->daddr, ip.ip6.daddr, sizeof(key->daddr));
	}
	*at += ETH_HLEN;
	return true;
}

/* Runs at tcx ingress behind the sink, or where XDP took the INT off. Packets in VLANs are left out. */
SEC("tc")
int host_in(struct __sk_buff *ctx)
{
	const struct host_settings *host = get_host_settings();
	volatile struct unread_segment *slot;
	const struct sink_flow *flow;
	struct flow_key key = {};
	struct tcphdr tcp;
	__u64 identity;
	__u32 at, len;

	if (!host || ctx->pkt_type != PACKET_HOST || ctx->vlan_present || !load_addresses(ctx, &key, &at, &len) ||
	    bpf_skb_load_bytes(ctx, at, &tcp, TCP_BASE_LEN))
		return TCX_NEXT;
	/* Only a superpacket may be too long to say so. */
	if (!ctx->gso_size && len <= (tcp.doff >> 4) * 4)
		return TCX_NEXT;
	key.sport = tcp.source;
	key.dport = tcp.dest;
	key.layers = IPPROTO_TCP;
	flow = bpf_map_lookup_elem(&sink_flows, &key);
	if (!flow)
		return TCX_NEXT;
	identity = unread_identity(&key, tcp.seq);
	slot = unread_at(identity);
	if (slot)
		note_unread(slot, identity, flow->source_node, ctx->ifindex, now_ns(host));
	return TCX_NEXT;
}

/* The headers still stand in front of the data. Namespaces do not matter: only what came here is remembered. */
static __always_inline bool identify_read(struct sk_buff *skb, __u64 *identity)
{
	unsigned char *head = skb->head;
	struct flow_key key = {};
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} ip;
	struct {
		__be16 source;
		__be16 dest;
		__be32 seq;
	} tcp;

	if (bpf_probe_read_kernel(&ip.ip4, sizeof(ip.ip4), head + skb->network_header) ||
	    bpf_probe_read_kernel(&tcp, sizeof(tcp), head + skb->transport_header))
		return false;
	if (ip.ip4.version_ihl >> 4 == 4) {
		map_addresses(&ip.ip4, key.saddr, key.daddr);
	} else {
		if (bpf_probe_read_kernel(&ip.ip6, sizeof(ip.ip6), head + skb->network_header))
			return false;
		key.saddr[3] = ip.ip6.saddr[3];
		key.daddr[3] = ip.ip6.daddr[3];
	}
	key.sport = tcp.source;
	key.dport = tcp.dest;
	*identity = unread_identity(&key, tcp.seq);
	return true;
}

/* Of a segment that is read in parts, the first one counts. */
SEC("tp_btf/skb_copy_datagram_iovec")
int host_copied(__u64 *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct wait_key key = { .part = WAIT_TO_BE_READ };
	volatile struct unread_segment *slot;
	__u64 identity, word, came, now;

	if (!host || !identify_read((struct sk_buff *)ctx[0], &identity))
		return 0;
	slot = unread_at(identity);
	if (!slot)
		return 0;
	word = slot->word;
	if (!word || (word ^ identity) & ~REMEMBERED_NS)
		return 0;
	key.source_node = slot->source_node;
	key.ifindex = slot->ifindex;
	/* Another segment took the place meanwhile. */
	if (slot->word != word)
		return 0;
	now = now_ns(host);
	came = remembered(word, identity, now);
	if (!came)
		return 0;
	slot->word = 0;
	return count_wait(&key, now - came, fine_slot(now - came), 1, now);
}
