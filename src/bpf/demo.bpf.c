// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Loses packets at the router of hostint demo: every n-th tagged one of each of its two flows, while it is attached. It counts
 * them, so that the demo knows what hostint has to report. All other packets pass: those of leases, and those that the source
 * left untagged (on a slow machine it may take the connection out), whose loss no sink can know.
 */
#include "kernel/kernel.h"
#include "kernel/single_value.h"
#include "hostint/int_option.h"
#include "int/option.h"
#include "packet/headers.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* The destination port of each flow. */
const volatile __be16 demo_udp_port = 0;
const volatile __be16 demo_tcp_port = 0;
const volatile __u32 demo_drop_every = 1;

enum {
	DEMO_L4 = ETH_HLEN + IP4_LEN,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} demo_dropped SEC(".maps");

static __u32 udp_packets;
static __u32 tcp_packets;

/*
 * The source puts INT in an option at the packet's end, or at that of its TCP header. The demo's packets have neither VLAN
 * tags nor IP options.
 */
static __always_inline bool has_option_at(struct __sk_buff *ctx, __u32 end, __u8 kind)
{
	struct int_option option;

	return !bpf_skb_load_bytes(ctx, end - INT_OPTION_LEN, &option, sizeof(option)) && is_option_of(&option, kind) &&
	       option.flags & INT_OPTION_FILLED;
}

static __always_inline bool is_tagged_datagram(struct __sk_buff *ctx)
{
	struct udphdr udp;

	return !bpf_skb_load_bytes(ctx, DEMO_L4, &udp, sizeof(udp)) && udp.dest == demo_udp_port &&
	       has_option_at(ctx, ctx->len, INT_DATAGRAM_KIND);
}

static __always_inline bool is_tagged_segment(struct __sk_buff *ctx)
{
	struct tcphdr tcp;

	return !bpf_skb_load_bytes(ctx, DEMO_L4, &tcp, sizeof(tcp)) && tcp.dest == demo_tcp_port &&
	       has_option_at(ctx, DEMO_L4 + (tcp.doff >> 4) * 4, INT_OPTION_KIND);
}

/* Two CPUs may count one packet too few here, which only moves the next loss. */
static __always_inline bool is_to_be_lost(__u32 *packets)
{
	return ++*packets % demo_drop_every == 0;
}

SEC("tc")
int demo_loss(struct __sk_buff *ctx)
{
	__u64 *dropped = single_value(&demo_dropped);

	if (!dropped)
		return TCX_NEXT;
	if (ctx->protocol != bpf_htons(ETH_P_IP) || !((is_tagged_datagram(ctx) && is_to_be_lost(&udp_packets)) ||
						      (is_tagged_segment(ctx) && is_to_be_lost(&tcp_packets))))
		return TCX_NEXT;
	__sync_fetch_and_add(dropped, ctx->gso_segs > 1 ? ctx->gso_segs : 1);
	return TCX_DROP;
}
