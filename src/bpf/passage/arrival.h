/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides which packets get a stamp when they arrive: those that are watched and forwarded, but none that tell time. */
#ifndef HOSTINT_PASSAGE_ARRIVAL_H
#define HOSTINT_PASSAGE_ARRIVAL_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/passage.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/gpe_block.h"
#include "kernel/fib.h"
#include "packet/ip_headers.h"
#include "packet/tunnel.h"
#include "watch/chosen_flows.h"
#include "watch/list.h"
#include "watch/verdict.h"

enum {
	PORT_NTP = 123,
	PORT_PTP_EVENT = 319,
	PORT_PTP_GENERAL = 320,
};

/* What the rules test. */
struct hop_subject {
	struct flow_key key;
	__u8 version;
	__u8 tos;
	__u16 zero;
};

struct hop_arrival {
	struct ip_headers ip; /* by which the packet is forwarded */
	__be16 ports[2];
	struct hop_subject flow; /* the same one, or that inside of a tunnel */
};

static __always_inline void note_flow(const struct ip_headers *ip, const __be16 *ports, struct hop_subject *flow)
{
	flow->version = ip->version;
	flow->tos = ip->tos;
	if (ip->version == 4) {
		flow->key.saddr[0] = flow->key.saddr[1] = flow->key.daddr[0] = flow->key.daddr[1] = 0;
		flow->key.saddr[2] = flow->key.daddr[2] = bpf_htonl(0xffff);
		flow->key.saddr[3] = ip->saddr[0];
		flow->key.daddr[3] = ip->daddr[0];
	} else {
		__builtin_memcpy(flow->key.saddr, ip->saddr, sizeof(flow->key.saddr));
		__builtin_memcpy(flow->key.daddr, ip->daddr, sizeof(flow->key.daddr));
	}
	flow->key.layers = ip->protocol;
	flow->key.sport = ports[0];
	flow->key.dport = ports[1];
}

/* A packet without ports, or too short for them, has zeros. */
static __always_inline void read_arrival_ports(struct __sk_buff *ctx, const struct ip_headers *ip, __be16 *ports)
{
	ports[0] = ports[1] = 0;
	if (is_l4(ip->protocol) && bpf_skb_load_bytes(ctx, ip->l4, ports, 2 * sizeof(*ports)))
		ports[0] = ports[1] = 0;
}

static __always_inline bool read_packet_bytes(const void *ctx, __u32 at, void *to, __u32 len)
{
	return !bpf_skb_load_bytes(ctx, at, to, len);
}

/* The functions here that are neither static nor inlined are walked by the verifier once, whatever is before them. */
__noinline int look_inside(struct __sk_buff *ctx, __u32 l4, __u32 kind, struct hop_subject *flow)
{
	struct tunnelled found = {};
	struct ip_headers ip;
	__be16 ports[2];

	if (!flow)
		return 0;
	if (find_tunnelled_ip(ctx, read_packet_bytes, l4 + sizeof(struct udphdr), kind, &found) &&
	    read_ip(ctx, found.at, found.version, &ip)) {
		read_arrival_ports(ctx, &ip, ports);
		note_flow(&ip, ports, flow);
	}
	return 0;
}

/* Finds the flow in VXLAN-GPE with INT, at this offset. */
__noinline int look_behind_gpe(struct __sk_buff *ctx, __u32 at, struct hop_subject *flow)
{
	/* The rest of the block is not read. */
	__u64 head[(GPE_HEAD_LEN + 7) / 8];
	const struct gpe_block *b = (void *)head;
	struct ip_headers ip;
	__be16 ports[2];

	if (!flow || bpf_skb_load_bytes(ctx, at, head, GPE_HEAD_LEN) || check_gpe_block(b) != INT_VALID)
		return 0;
	if (!read_ip(ctx, at + GPE_BLOCK_LEN + gpe_grown(b), b->next == GPE_NEXT_IPV4 ? 4 : 6, &ip))
		return 0;
	read_arrival_ports(ctx, &ip, ports);
	note_flow(&ip, ports, flow);
	return 1;
}

/* Finds the protocol and ports behind INT to the extension port, at this offset. */
__noinline int look_behind_extension(struct __sk_buff *ctx, __u32 at, struct hop_subject *flow)
{
	__be16 ports[2] = {};
	struct int_block b;

	if (!flow || bpf_skb_load_bytes(ctx, at, &b, INT_HEAD_LEN) || check_int_block(&b) != INT_VALID)
		return 0;
	at += int_pushed(&b) * INT_HOP_LEN;
	if (bpf_skb_load_bytes(ctx, at, &b, sizeof(b)))
		return 0;
	flow->key.layers = *(__u8 *)&b.tail1;
	if (is_l4(flow->key.layers) && bpf_skb_load_bytes(ctx, at + INT_BLOCK_LEN, ports, sizeof(ports)))
		ports[0] = ports[1] = 0;
	flow->key.sport = ports[0];
	flow->key.dport = ports[1];
	return 1;
}

/*
 * Reads in one piece what nearly all packets have: IPv4 without options, and ports. The data has no VLAN tag here. Returns
 * false for other packets.
 */
static __always_inline bool read_plain_arrival(struct __sk_buff *ctx, struct hop_arrival *a)
{
	__u32 at = begins_with_ip(ctx) ? 0 : ETH_HLEN;
	struct {
		struct iphdr ip;
		__be16 ports[2];
	} head;

	if (ctx->protocol != bpf_htons(ETH_P_IP) || bpf_skb_load_bytes(ctx, at, &head, sizeof(head)))
		return false;
	if (head.ip.version_ihl != 0x45 || is_fragment(head.ip.frag_off) || !is_l4(head.ip.protocol))
		return false;
	a->ip.version = 4;
	a->ip.protocol = head.ip.protocol;
	a->ip.tos = head.ip.tos;
	a->ip.l4 = at + sizeof(head.ip);
	a->ip.saddr[0] = head.ip.saddr;
	a->ip.daddr[0] = head.ip.daddr;
	a->ports[0] = head.ports[0];
	a->ports[1] = head.ports[1];
	return true;
}

/* Reads any packet. Returns 0 if there are no headers that can be read. */
__noinline int read_any_arrival(struct __sk_buff *ctx, struct hop_arrival *a)
{
	if (!a || !read_outer_ip(ctx, &a->ip))
		return 0;
	read_arrival_ports(ctx, &a->ip, a->ports);
	return 1;
}

/* Returns false if there are no headers that can be read. All was zeros before. */
static __always_inline bool read_arrival(struct __sk_buff *ctx, struct hop_arrival *a)
{
	if (!read_plain_arrival(ctx, a) && !read_any_arrival(ctx, a))
		return false;
	note_flow(&a->ip, a->ports, &a->flow);
	return true;
}

/* Makes the flow behind INT, or in a tunnel that is to be opened, the one that rules test. */
static __always_inline void enter_arrival(struct __sk_buff *ctx, const struct hop_settings *set, struct hop_arrival *a)
{
	enum tunnel_kind kind = tunnel_of_port(a->ports[1]);

	if (a->ip.protocol != IPPROTO_UDP)
		return;
	if (a->ports[1] == bpf_htons(GPE_PORT))
		look_behind_gpe(ctx, a->ip.l4 + UDP_LEN, &a->flow);
	else if (a->ports[1] == set->extension_port)
		look_behind_extension(ctx, a->ip.l4 + UDP_LEN, &a->flow);
	else if (set->tunnels >> kind & 1)
		look_inside(ctx, a->ip.l4, kind, &a->flow);
}

static __always_inline bool is_clock_port(__be16 port)
{
	return port == bpf_htons(PORT_NTP) || port == bpf_htons(PORT_PTP_EVENT) || port == bpf_htons(PORT_PTP_GENERAL);
}

static __always_inline bool tells_time(const struct hop_arrival *a)
{
	const struct flow_key *key = &a->flow.key;

	return key->layers == IPPROTO_UDP && (is_clock_port(key->sport) || is_clock_port(key->dport));
}

/* Asks by which interface the packet will leave. */
static __always_inline bool leaves_again(struct __sk_buff *ctx, const struct hop_arrival *a, __u32 *out_ifindex)
{
	struct fib_question question = {
		.family = a->ip.version == 4 ? FIB_FAMILY_IPV4 : FIB_FAMILY_IPV6,
		.l4_protocol = a->ip.protocol,
		.sport = a->ports[0],
		.dport = a->ports[1],
		.ifindex = ctx->ifindex,
	};

	__builtin_memcpy(question.saddr, a->ip.saddr, sizeof(question.saddr));
	__builtin_memcpy(question.daddr, a->ip.daddr, sizeof(question.daddr));
	if (!is_forwarded(ctx, &question))
		return false;
	*out_ifindex = question.ifindex;
	return true;
}

/* Looks up where the rules begin for the packet's destination. Returns false if no rule watches it. */
static __always_inline bool begin_rules(const struct hop_arrival *a, struct watching *w)
{
	w->watched = UNWATCHED;
	w->node = 0;
	watch(a->flow.version == 4 ? a->flow.key.daddr + 3 : a->flow.key.daddr, a->flow.version, w);
	return w->node;
}

/* Returns 1 if the rules watch the flow, where it leaves by this interface. */
__noinline int watches_flow(const struct hop_subject *flow, const struct watching *w, __u32 out_ifindex)
{
	const struct watch_node *verdict;
	struct watch_values values;

	if (!flow || !w)
		return 0;
	values.key = &flow->key;
	values.generation = w->generation & 1;
	values.ifindex = out_ifindex;
	values.family = flow->version;
	values.is_tcp = flow->key.layers == IPPROTO_TCP;
	values.tos = flow->tos;
	verdict = find_verdict(w->node, &values);
	return verdict && verdict->flags & WATCH_TAG && is_chosen_flow(verdict, &flow->key);
}

#endif
