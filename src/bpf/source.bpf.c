// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* INT source: adds an INT block to packets of watched flows. */
#include "kernel.h"
#include "../../include/hostint/abi.h"
#include "../../include/hostint/wire.h"
#include "features.h"
#include "settings.h"
#include "checksum.h"
#include "packet.h"
#include "counters.h"
#include "source_maps.h"
#include "watchlist.h"
#include "source_flows.h"
#include "int_push.h"
#include "checksum_state.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Fixed at attach: each attachment has a program of its own. */
const volatile __u32 encapsulation = ENCAP_OVER_TCP_UDP;
const volatile __u8 tos_value = 0x04;
const volatile __u8 tos_mask = 0x04;
const volatile __be16 extension_port = 0; /* network order */
const volatile __u32 fixed_mtu = 0;       /* 0: ask the device */

enum {
	L3 = ETH_HLEN,
	L4 = ETH_HLEN + sizeof(struct iphdr),
};

enum source_parse {
	SOURCE_LEAVE, /* counted */
	SOURCE_WATCHED,
};

static __always_inline enum source_parse leave(enum source_counter reason, __u64 bytes)
{
	count_source(reason, 1, bytes);
	return SOURCE_LEAVE;
}

static __always_inline __u32 added_len(void)
{
	return encapsulation == ENCAP_EXTENSION_UDP ? EXTENSION_LEN : INT_BLOCK_LEN;
}

static __always_inline bool has_int(const struct outgoing_packet *p, void *data, void *end)
{
	struct int_block *block = data + L4 + p->l4_len;

	if (p->ip.protocol == IPPROTO_UDP && p->l4.udp.dest == extension_port)
		return true; /* a sink would take it for INT */
	return (p->ip.tos & tos_mask) == tos_value && (void *)(block + 1) <= end && check_int_block(block) == INT_VALID;
}

static __always_inline bool is_report(const struct host_settings *host, __be16 dport)
{
	for (__u32 i = 0; i < MAX_REPORT_PORTS; i++)
		if (i < host->report_port_count && host->report_port[i] == dport)
			return true;
	return false;
}

/* Looks at a packet from its Ethernet header on; changes nothing. */
static __always_inline enum source_parse parse(void *data, void *end, __u64 frame_len, const struct host_settings *host,
					       struct outgoing_packet *p)
{
	struct {
		struct ethhdr eth;
		struct iphdr ip;
	} __attribute__((packed)) *head = data;
	void *l4 = data + L4;
	__u32 ip_len;

	if ((void *)(head + 1) > end || head->eth.h_proto != bpf_htons(ETH_P_IP))
		return leave(COUNT_SOURCE_OTHER_PROTOCOL, frame_len);
	if (head->ip.protocol != IPPROTO_TCP && head->ip.protocol != IPPROTO_UDP)
		return leave(COUNT_SOURCE_OTHER_PROTOCOL, frame_len);
	if (!is_watched(head->ip.daddr))
		return leave(COUNT_SOURCE_UNWATCHED, frame_len);
	/* Broadcast and multicast frames, limited broadcast and 224.0.0.0/4 */
	if (head->eth.h_dest[0] & 1 || (head->ip.daddr & bpf_htonl(0xf0000000)) == bpf_htonl(0xe0000000) ||
	    head->ip.daddr == 0xffffffff)
		return leave(COUNT_SOURCE_GROUP_ADDRESS, frame_len);
	if (head->ip.version_ihl != 0x45)
		return leave(COUNT_SOURCE_IP_OPTIONS, frame_len);
	if (is_fragment(head->ip.frag_off))
		return leave(COUNT_SOURCE_FRAGMENT, frame_len);
	ip_len = bpf_ntohs(head->ip.tot_len);
	__builtin_memcpy(&p->ip, &head->ip, sizeof(p->ip));
	p->ip_len = ip_len;
	if (p->ip.protocol == IPPROTO_TCP) {
		if (l4 + TCP_BASE_LEN > end)
			return leave(COUNT_SOURCE_MALFORMED, frame_len);
		p->l4.tcp = *(struct tcphdr *)l4;
		p->l4_len = TCP_BASE_LEN;
		if (p->l4.tcp.doff >> 4 < 5 || ip_len < sizeof(struct iphdr) + (p->l4.tcp.doff >> 4) * 4)
			return leave(COUNT_SOURCE_MALFORMED, frame_len);
	} else {
		if (l4 + UDP_LEN > end)
			return leave(COUNT_SOURCE_MALFORMED, frame_len);
		p->l4.udp = *(struct udphdr *)l4;
		p->l4_len = UDP_LEN;
	}
	return SOURCE_WATCHED;
}

/* What can be said of a single packet only: not of a superpacket. */
static __always_inline enum source_parse check_size(void *data, void *end, __u64 frame_len,
						    const struct host_settings *host, const struct outgoing_packet *p,
						    __u32 mtu)
{
	if (p->ip_len > frame_len - L3)
		return leave(COUNT_SOURCE_MALFORMED, frame_len);
	if (p->ip.protocol == IPPROTO_UDP) {
		if (bpf_ntohs(p->l4.udp.len) != p->ip_len - sizeof(struct iphdr) ||
		    p->ip_len < sizeof(struct iphdr) + UDP_LEN)
			return leave(COUNT_SOURCE_MALFORMED, frame_len);
		if (is_report(host, p->l4.udp.dest))
			return leave(COUNT_SOURCE_REPORT, frame_len);
	}
	if (has_int(p, data, end))
		return leave(COUNT_SOURCE_HAS_INT, frame_len);
	if (p->ip_len + added_len() > mtu)
		return leave(COUNT_SOURCE_TOO_LONG, frame_len);
	/* A router that fragments a tagged packet would separate INT from the rest. No link that carries
	 * IPv4 hosts has a smaller MTU than 576. */
	if (!(p->ip.frag_off & bpf_htons(IP_DF)) && p->ip_len + added_len() > 576)
		return leave(COUNT_SOURCE_MAY_FRAGMENT, frame_len);
	return SOURCE_WATCHED;
}

static __always_inline struct source_flow *flow_of(const struct outgoing_packet *p)
{
	struct flow_key key = {
		.saddr = p->ip.saddr,
		.daddr = p->ip.daddr,
		.sport = p->l4.udp.source,
		.dport = p->l4.udp.dest,
		.protocol = p->ip.protocol,
	};

	return find_or_add_flow(&key);
}

/* Once there is room for it: a number that is not sent would be missed. */
static __always_inline void number_packet(const struct host_settings *host, __u32 ifindex, struct source_flow *f,
					  struct int_block *block)
{
	struct flow_number number;
	__u64 now = now_ns(host);

	next_number(f, now, &number);
	fill_block(block, host->node_id, ifindex, now, &number);
}

static __always_inline __u32 device_mtu(void *ctx)
{
	__u32 mtu = 0;

	if (fixed_mtu)
		return fixed_mtu;
	if (have_check_mtu)
		bpf_check_mtu(ctx, 0, &mtu, 0, 0);
	/* The loopback device claims one byte more than an IPv4 packet can have. */
	return mtu < 0xffff ? mtu : 0xffff;
}

/* Room was made but the header could not be written: give the room back, or the packet is lost. */
static __always_inline int undo(struct __sk_buff *ctx, __u64 frame_len)
{
	if (!bpf_skb_adjust_room(ctx, -(__s32)added_len(), BPF_ADJ_ROOM_NET, 0)) {
		count_source(COUNT_SOURCE_UNDONE, 1, frame_len);
		return TCX_NEXT;
	}
	count_source(COUNT_SOURCE_DROPPED, 1, frame_len);
	return TCX_DROP;
}

static __always_inline int tag_skb(struct __sk_buff *ctx, __u32 ifindex)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct host_settings *host = get_host_settings();
	__u64 frame_len = ctx->len;
	struct outgoing_packet p;
	struct pushed_headers out;
	struct int_block block;
	struct checksum_state state = {};
	struct source_flow *flow;

	if (!host)
		return TCX_NEXT;
	/* The headers may lie in fragments of the skb: bring them to where they can be read. */
	if (data + L4 + TCP_BASE_LEN + INT_BLOCK_LEN > end && frame_len > (__u64)(end - data) &&
	    ctx->protocol == bpf_htons(ETH_P_IP)) {
		__u32 want = L4 + TCP_BASE_LEN + INT_BLOCK_LEN;

		bpf_skb_pull_data(ctx, frame_len < want ? frame_len : want);
		data = (void *)(long)ctx->data;
		end = (void *)(long)ctx->data_end;
	}
	__builtin_memset(&p, 0, sizeof(p));
	if (parse(data, end, frame_len, host, &p) != SOURCE_WATCHED)
		return TCX_NEXT;
	if (ctx->vlan_present) {
		count_source(COUNT_SOURCE_VLAN, 1, frame_len);
		return TCX_NEXT;
	}
	if (ctx->gso_size) {
		count_source(COUNT_SOURCE_SUPERPACKET, ctx->gso_segs, frame_len);
		return TCX_NEXT;
	}
	if (check_size(data, end, frame_len, host, &p, device_mtu(ctx)) != SOURCE_WATCHED)
		return TCX_NEXT;
	if (encapsulation == ENCAP_OVER_TCP_UDP && !read_checksum_state(ctx, &p, L4, &state)) {
		count_source(COUNT_SOURCE_NO_CHECKSUM_STATE, 1, frame_len);
		return TCX_NEXT;
	}
	flow = flow_of(&p);
	if (!flow) {
		count_source(COUNT_SOURCE_TABLE_FULL, 1, frame_len);
		return TCX_NEXT;
	}
	if (bpf_skb_adjust_room(ctx, added_len(), BPF_ADJ_ROOM_NET, 0)) {
		count_source(COUNT_SOURCE_CANNOT_RESIZE, 1, frame_len);
		return TCX_NEXT;
	}
	number_packet(host, ifindex, flow, &block);
	if (encapsulation == ENCAP_EXTENSION_UDP) {
		push_extension(&p, &block, extension_port, &out);
		if (bpf_skb_store_bytes(ctx, L3, &out, sizeof(struct iphdr) + EXTENSION_LEN, 0))
			return undo(ctx, frame_len);
	} else {
		push_over_tcp_udp(&p, &block, tos_value, tos_mask, state.unfinished, &out);
		if (p.l4_len == TCP_BASE_LEN ?
			    bpf_skb_store_bytes(ctx, L3, &out, sizeof(struct iphdr) + TCP_BASE_LEN + INT_BLOCK_LEN, 0) :
			    bpf_skb_store_bytes(ctx, L3, &out, sizeof(struct iphdr) + UDP_LEN + INT_BLOCK_LEN, 0))
			return undo(ctx, frame_len);
	}
	count_source(COUNT_SOURCE_TAGGED, 1, frame_len);
	return TCX_NEXT;
}

/* TC egress (tcx or clsact), or TC ingress of a veth whose peer is a guest. */
SEC("tc")
int source_tc(struct __sk_buff *ctx)
{
	return tag_skb(ctx, ctx->ifindex);
}

/* XDP on a veth whose peer is a guest. XDP can't see whether a checksum is still to be finished, so only
 * extension-udp, which leaves it alone, is possible here. */
SEC("xdp")
int source_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct host_settings *host = get_host_settings();
	__u64 frame_len = end - data;
	struct outgoing_packet p;
	struct pushed_headers out;
	struct int_block block;
	struct source_flow *flow;
	struct ethhdr eth;

	if (!host)
		return XDP_PASS;
	__builtin_memset(&p, 0, sizeof(p));
	if (parse(data, end, frame_len, host, &p) != SOURCE_WATCHED ||
	    check_size(data, end, frame_len, host, &p, device_mtu(ctx)) != SOURCE_WATCHED)
		return XDP_PASS;
	__builtin_memcpy(&eth, data, sizeof(eth));
	flow = flow_of(&p);
	if (!flow) {
		count_source(COUNT_SOURCE_TABLE_FULL, 1, frame_len);
		return XDP_PASS;
	}
	if (bpf_xdp_adjust_head(ctx, -EXTENSION_LEN)) {
		count_source(COUNT_SOURCE_CANNOT_RESIZE, 1, frame_len);
		return XDP_PASS;
	}
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + L4 + EXTENSION_LEN > end) {
		count_source(COUNT_SOURCE_CANNOT_RESIZE, 1, frame_len);
		bpf_xdp_adjust_head(ctx, EXTENSION_LEN);
		return XDP_PASS;
	}
	number_packet(host, ctx->ingress_ifindex, flow, &block);
	push_extension(&p, &block, extension_port, &out);
	__builtin_memcpy(data, &eth, sizeof(eth));
	__builtin_memcpy(data + L3, &out, sizeof(struct iphdr) + EXTENSION_LEN);
	count_source(COUNT_SOURCE_TAGGED, 1, frame_len);
	return XDP_PASS;
}
