// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Measures what packets wait inside the hosts at both ends of their way. It only looks: no packet is changed or delayed.
 *
 *	net_dev_start_xmit -> not tagged by this host, or a probe: end
 *			      the time in the queue, since the stamp that the source wrote into the packet
 *			      the time in the stack up to that stamp, since TCP sent it
 *			      the time in the send buffer up to then, since the application wrote it
 *			      the time until an application answered, if this is the first packet of that
 *	tcp_sendmsg_locked -> no socket whose packets are tagged: end
 *			      remembered
 *	TC ingress, behind the sink -> no datagram, and no TCP segment with data, or no measured flow: end
 *			      remembered
 *	skb_copy_datagram_iovec -> no segment that is remembered: end
 *			      the time since then
 *	sk_data_ready -> no UDP socket that got such datagrams: end
 *			      remembered as one that waits there
 *	sock_recv_length -> nothing was taken out of such a socket: end
 *			      the time since the datagram came
 */
#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "drop/size.h"
#include "host/answer.h"
#include "host/datagrams.h"
#include "host/send_buffer.h"
#include "host/sent_option.h"
#include "host/unread.h"
#include "kernel/clock.h"
#include "kernel/host_settings.h"
#include "kernel/stamp.h"
#include "packet/headers.h"
#include "sink/flow_table.h"
#include "sink/latency.h"
#include "transit/sent.h"
#include "transit/wait_times.h"

char _license[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 host_netns = 0; /* the inode of the network namespace */

/* What TCP sends has the time of that, which may be one to come if the kernel paces it. */
static __always_inline void count_before_stamp(struct sk_buff *skb, const struct sent_packet *p, struct wait_key *key,
					       __u64 queued_ns, const struct drop_size *size, __u64 now)
{
	__u64 sent_ns = skb->tstamp, all_ns = bpf_ktime_get_ns() - sent_ns;
	__s64 buffered_ns;

	if (!sent_ns || !has_monotonic_stamp(skb) || all_ns < queued_ns)
		return;
	key->part = WAIT_IN_STACK;
	count_wait(key, all_ns - queued_ns, fine_slot(all_ns - queued_ns), size->segments, now);
	if (!follows_writes)
		return;
	buffered_ns = wait_in_buffer(skb, p, size->bytes, sent_ns);
	key->part = WAIT_TO_BE_SENT;
	/* A superpacket's data may have been written in parts: it counts once, by its first byte. */
	if (buffered_ns >= 0)
		count_wait(key, buffered_ns, fine_slot(buffered_ns), 1, now);
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
	__s64 answered_ns;

	if (!host || dev->nd_net.net->ns.inum != host_netns || (!find_sent(skb, &p) && !find_sent_option(&p)))
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
	count_before_stamp(skb, &p, &key, queued_ns, &size, now);
	answered_ns = wait_for_answer(skb, &p, size.bytes, now - queued_ns, &key);
	if (answered_ns >= 0)
		count_wait(&key, answered_ns, fine_slot(answered_ns), 1, now);
	return 0;
}

SEC("?tp_btf/tcp_sendmsg_locked")
int host_written(__u64 *ctx)
{
	note_written((struct sock *)ctx[0], bpf_ktime_get_ns());
	return 0;
}

static __always_inline bool is_followed(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

/* Reads addresses and the protocol, and where the segment begins and how long it is, in front of which these headers end. */
static __always_inline bool load_addresses(struct __sk_buff *ctx, struct flow_key *key, __u32 *at, __u32 *len)
{
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} ip;

	if (ctx->protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(ctx, ETH_HLEN, &ip.ip4, sizeof(ip.ip4)) || !is_followed(ip.ip4.protocol) ||
		    is_fragment(ip.ip4.frag_off))
			return false;
		*at = (ip.ip4.version_ihl & 15) * 4;
		*len = bpf_ntohs(ip.ip4.tot_len) - *at;
		key->layers = ip.ip4.protocol;
		map_addresses(&ip.ip4, key->saddr, key->daddr);
	} else {
		if (ctx->protocol != bpf_htons(ETH_P_IPV6) ||
		    bpf_skb_load_bytes(ctx, ETH_HLEN, &ip.ip6, sizeof(ip.ip6)) || !is_followed(ip.ip6.nexthdr))
			return false;
		*at = IP6_LEN;
		*len = bpf_ntohs(ip.ip6.payload_len);
		key->layers = ip.ip6.nexthdr;
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
	struct arrived_datagram *arrived = single_value(&host_arrived);
	const struct host_settings *host = get_host_settings();
	volatile struct unread_segment *slot;
	const struct sink_flow *flow;
	struct flow_key key = {};
	struct tcphdr l4 = {};
	__u64 identity;
	__u32 at, len;

	if (!host || !arrived)
		return TCX_NEXT;
	arrived->skb = 0;
	if (ctx->pkt_type != PACKET_HOST || ctx->vlan_present || !load_addresses(ctx, &key, &at, &len) ||
	    bpf_skb_load_bytes(ctx, at, &l4, UDP_LEN))
		return TCX_NEXT;
	key.sport = l4.source;
	key.dport = l4.dest;
	flow = bpf_map_lookup_elem(&sink_flows, &key);
	if (!flow)
		return TCX_NEXT;
	/* Where TCP has the sequence number, UDP has the length and the checksum. */
	identity = unread_identity(&key, l4.seq);
	if (key.layers == IPPROTO_UDP) {
		arrived->identity = identity;
		arrived->source_node = flow->source_node;
		arrived->ifindex = ctx->ifindex;
		arrived->ns = now_ns(host);
		arrived->skb = (unsigned long)ctx;
		return TCX_NEXT;
	}
	/* Only a superpacket may be too long to say so. */
	if (bpf_skb_load_bytes(ctx, at, &l4, TCP_BASE_LEN) || (!ctx->gso_size && len <= (l4.doff >> 4) * 4))
		return TCX_NEXT;
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
		__be32 more; /* the sequence number; the length and the checksum of a datagram */
	} l4;

	if (bpf_probe_read_kernel(&ip.ip4, sizeof(ip.ip4), head + skb->network_header) ||
	    bpf_probe_read_kernel(&l4, sizeof(l4), head + skb->transport_header))
		return false;
	if (ip.ip4.version_ihl >> 4 == 4) {
		map_addresses(&ip.ip4, key.saddr, key.daddr);
	} else {
		if (bpf_probe_read_kernel(&ip.ip6, sizeof(ip.ip6), head + skb->network_header))
			return false;
		key.saddr[3] = ip.ip6.saddr[3];
		key.daddr[3] = ip.ip6.daddr[3];
	}
	key.sport = l4.source;
	key.dport = l4.dest;
	*identity = unread_identity(&key, l4.more);
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
	note_asked(BPF_CORE_READ((struct sk_buff *)ctx[0], sk), &key, now);
	return count_wait(&key, now - came, fine_slot(now - came), 1, now);
}

/* The socket has its datagram within the call in which that came by the program at tcx ingress. */
SEC("?tp_btf/sk_data_ready")
int host_queued(__u64 *ctx)
{
	struct arrived_datagram *arrived = single_value(&host_arrived);
	struct sock *sk = (struct sock *)ctx[0];
	struct sk_buff *newest;
	bool is_it = false;
	__u64 identity;

	if (sk->sk_protocol != IPPROTO_UDP || !arrived)
		return 0;
	newest = sk->sk_receive_queue.prev;
	if (arrived->skb && (unsigned long)newest == arrived->skb)
		is_it = identify_read(newest, &identity) && identity == arrived->identity;
	note_queued(sk, is_it ? arrived : NULL);
	if (is_it)
		arrived->skb = 0;
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int host_received(__u64 *ctx)
{
	const struct host_settings *host = get_host_settings();
	struct wait_key key = { .part = WAIT_TO_BE_READ };
	struct sock *sk = (struct sock *)ctx[0];
	const struct unread_datagram *datagram;
	__u64 now, ns;

	if (!host || sk->sk_protocol != IPPROTO_UDP || (int)ctx[1] < 0 || ctx[2] & (RECEIVE_PEEK | RECEIVE_ERRORS))
		return 0;
	datagram = take_read(sk);
	ns = datagram ? datagram->ns : 0;
	now = now_ns(host);
	if (!ns || ns > now)
		return 0;
	key.source_node = datagram->source_node;
	key.ifindex = datagram->ifindex;
	return count_wait(&key, now - ns, fine_slot(now - ns), 1, now);
}
