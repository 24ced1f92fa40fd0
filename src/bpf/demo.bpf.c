// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Loses packets at the router of hostint demo: every n-th tagged one of each of its two flows, while it is attached. It counts
 * them, so that the demo knows what hostint has to report. All other packets pass: those of leases, and those that the source
 * left untagged (on a slow machine it may take the connection out), whose loss no sink can know.
 */
#include "kernel/kernel.h"
#include "kernel/single_value.h"
#include "hostint/wire.h"
#include "packet/headers.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* The destination port of each flow. */
const volatile __be16 demo_udp_port = 0;
const volatile __be16 demo_tcp_port = 0;
const volatile __u32 demo_drop_every = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} demo_dropped SEC(".maps");

static __u32 udp_packets;
static __u32 tcp_packets;

/* True if the header with ports that begins here, if one does, names this destination port. */
static __always_inline bool names(struct __sk_buff *ctx, __u32 offset, __be16 port)
{
	__be16 ports[2];

	return !bpf_skb_load_bytes(ctx, offset, ports, sizeof(ports)) && ports[1] == port;
}

/*
 * The ports are behind INT in either form that the source takes by itself. The demo's packets have neither VLAN tags nor IP
 * options, and meet no transit hop.
 */
static __always_inline bool is_tagged_to(struct __sk_buff *ctx, __be16 port)
{
	const __u32 l4 = ETH_HLEN + IP4_LEN;

	if (ctx->protocol != bpf_htons(ETH_P_IP))
		return false;
	return names(ctx, l4 + EXTENSION_LEN, port) || names(ctx, l4 + GPE_ROOM + IP4_LEN, port);
}

/* Two CPUs may count one packet too few here, which only moves the next loss. */
static __always_inline bool is_to_be_lost(struct __sk_buff *ctx, __be16 port, __u32 *packets)
{
	return is_tagged_to(ctx, port) && ++*packets % demo_drop_every == 0;
}

SEC("tc")
int demo_loss(struct __sk_buff *ctx)
{
	__u64 *dropped = single_value(&demo_dropped);

	if (!dropped)
		return TCX_NEXT;
	if (!is_to_be_lost(ctx, demo_udp_port, &udp_packets) && !is_to_be_lost(ctx, demo_tcp_port, &tcp_packets))
		return TCX_NEXT;
	__sync_fetch_and_add(dropped, 1);
	return TCX_DROP;
}
