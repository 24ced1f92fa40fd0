// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* INT sink: takes INT out of received packets, accounts for the flow, reports news. */
#include "kernel.h"
#include "../../include/hostint/abi.h"
#include "../../include/hostint/wire.h"
#include "features.h"
#include "settings.h"
#include "checksum.h"
#include "packet.h"
#include "counters.h"
#include "sink_maps.h"
#include "events.h"
#include "branchless.h"
#include "sequence.h"
#include "latency.h"
#include "sink_flows.h"

char _license[] SEC("license") = "Dual BSD/GPL";

enum {
	L3 = ETH_HLEN,
	L4 = ETH_HLEN + sizeof(struct iphdr),
};

/* Everything that is taken from the packet before it is changed, and what it meant. */
struct tagged_packet {
	struct iphdr ip;
	union {
		struct udphdr udp;
		struct tcphdr tcp;
		__u8 bytes[TCP_BASE_LEN];
	} l4;
	struct arrival_facts facts;
	struct flow_news news;
	struct ethhdr eth;
};

/*
 * One packet at a time and CPU. Not on the stack: the verifier remembers every constant that was stored
 * there and would walk the rest of the program once for each combination.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tagged_packet);
} sink_scratch SEC(".maps");

enum sink_parse {
	SINK_NOT_MARKED,
	SINK_REFUSED, /* counted */
	SINK_TAGGED,
};

static __always_inline enum sink_parse refuse(enum sink_counter reason, __u64 frame_len)
{
	count_sink(reason, 1, frame_len);
	return SINK_REFUSED;
}

static __always_inline enum sink_parse refuse_block(enum int_verdict verdict, __u64 frame_len)
{
	switch (verdict) {
	case INT_BAD_SHIM:
		return refuse(COUNT_SINK_BAD_SHIM, frame_len);
	case INT_BAD_VERSION:
		return refuse(COUNT_SINK_BAD_VERSION, frame_len);
	case INT_BAD_BITMAP:
		return refuse(COUNT_SINK_BAD_BITMAP, frame_len);
	default:
		return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
	}
}

/* UDP with an extra header in front: IP | UDP to the extension port | INT | original UDP or TCP. */
static __always_inline enum sink_parse parse_extension(void *data, void *end, __u32 ip_len, struct tagged_packet *p)
{
	struct {
		struct udphdr udp;
		struct int_block block;
	} *head = data + L4;
	void *inner = head + 1;
	__u64 frame_len = end - data;
	enum int_verdict verdict;
	__u32 l4_len;
	__u8 protocol;

	if (inner + UDP_LEN > end)
		return refuse(COUNT_SINK_TRUNCATED, frame_len);
	verdict = check_int_block(&head->block);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	protocol = *(__u8 *)&head->block.tail1;
	if (protocol == IPPROTO_UDP) {
		p->l4.udp = *(struct udphdr *)inner;
		l4_len = UDP_LEN;
	} else if (protocol == IPPROTO_TCP) {
		if (inner + TCP_BASE_LEN > end)
			return refuse(COUNT_SINK_TRUNCATED, frame_len);
		p->l4.tcp = *(struct tcphdr *)inner;
		l4_len = TCP_BASE_LEN;
	} else {
		return refuse(COUNT_SINK_BAD_PROTOCOL, frame_len);
	}
	if (ip_len < sizeof(struct iphdr) + EXTENSION_LEN + l4_len ||
	    bpf_ntohs(head->udp.len) != ip_len - sizeof(struct iphdr))
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);

	p->facts.block = head->block;
	p->facts.encapsulation = ENCAP_EXTENSION_UDP;
	p->facts.l4_len = l4_len;
	p->facts.key.protocol = protocol;
	p->facts.orig_len = ip_len - EXTENSION_LEN;
	return SINK_TAGGED;
}

/* INT between the L4 header (of TCP: its first 20 bytes) and what follows. */
static __always_inline enum sink_parse parse_over_tcp_udp(void *data, void *end, __u32 ip_len,
							   struct tagged_packet *p)
{
	__u64 frame_len = end - data;
	struct int_block *block;
	enum int_verdict verdict;
	__u32 l4_len, want;

	if (p->ip.protocol == IPPROTO_UDP) {
		struct udphdr *udp = data + L4;

		block = (void *)(udp + 1);
		if ((void *)(block + 1) > end)
			return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
		p->l4.udp = *udp;
		l4_len = UDP_LEN;
		want = ip_len == sizeof(struct iphdr) + bpf_ntohs(udp->len) ? UDP_LEN : 0;
	} else {
		struct tcphdr *tcp = data + L4;

		block = (void *)(tcp + 1);
		if ((void *)(block + 1) > end)
			return refuse(COUNT_SINK_FOREIGN_MARK, frame_len);
		p->l4.tcp = *tcp;
		l4_len = TCP_BASE_LEN;
		want = (tcp->doff >> 4) * 4;
	}
	verdict = check_int_block(block);
	if (verdict != INT_VALID)
		return refuse_block(verdict, frame_len);
	if (want < l4_len || ip_len < sizeof(struct iphdr) + want + INT_BLOCK_LEN)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);

	p->facts.block = *block;
	p->facts.encapsulation = ENCAP_OVER_TCP_UDP;
	p->facts.l4_len = l4_len;
	p->facts.key.protocol = p->ip.protocol;
	p->facts.orig_len = ip_len - INT_BLOCK_LEN;
	return SINK_TAGGED;
}

static __always_inline enum sink_parse parse(void *data, void *end, const struct sink_settings *set,
					     struct tagged_packet *p)
{
	struct {
		struct ethhdr eth;
		struct iphdr ip;
	} __attribute__((packed)) *head = data;
	__u64 frame_len = end - data;
	bool marked, extension = false;
	__u32 ip_len;

	if ((void *)(head + 1) > end || head->eth.h_proto != bpf_htons(ETH_P_IP))
		return SINK_NOT_MARKED;
	if (head->ip.protocol != IPPROTO_UDP && head->ip.protocol != IPPROTO_TCP)
		return SINK_NOT_MARKED;
	marked = set->flags & SINK_OVER_TCP_UDP && (head->ip.tos & set->tos_mask) == set->tos_value;
	if (set->flags & SINK_EXTENSION_UDP && head->ip.protocol == IPPROTO_UDP && head->ip.version_ihl == 0x45 &&
	    !(head->ip.frag_off & bpf_htons(IP_OFFSET))) {
		struct udphdr *udp = data + L4;

		extension = (void *)(udp + 1) <= end && udp->dest == set->extension_port;
	}
	if (!marked && !extension)
		return SINK_NOT_MARKED;
	if (head->ip.version_ihl != 0x45)
		return refuse(COUNT_SINK_IP_OPTIONS, frame_len);
	if (is_fragment(head->ip.frag_off))
		return refuse(COUNT_SINK_FRAGMENT, frame_len);
	ip_len = bpf_ntohs(head->ip.tot_len);
	if (ip_len < sizeof(struct iphdr) || ip_len > frame_len - L3)
		return refuse(COUNT_SINK_BAD_LENGTH, frame_len);

	__builtin_memset(&p->l4, 0, sizeof(p->l4));
	__builtin_memset(&p->news, 0, sizeof(p->news));
	__builtin_memcpy(&p->eth, &head->eth, sizeof(p->eth));
	__builtin_memcpy(&p->ip, &head->ip, sizeof(p->ip));
	p->facts.key.saddr = p->ip.saddr;
	p->facts.key.daddr = p->ip.daddr;
	return extension ? parse_extension(data, end, ip_len, p) : parse_over_tcp_udp(data, end, ip_len, p);
}

static __always_inline void send_latency(const struct tagged_packet *p)
{
	struct latency_event *e = bpf_ringbuf_reserve(&sink_events, sizeof(*e), 0);

	if (!e) {
		count_sink(COUNT_SINK_EVENT_LOST, 1, 0);
		return;
	}
	e->kind = EVENT_LATENCY;
	e->reasons = p->news.reasons;
	e->encapsulation = p->facts.encapsulation;
	e->l4_len = p->facts.l4_len;
	e->bucket = p->news.bucket;
	e->key = p->facts.key;
	e->now_ns = p->facts.now;
	e->latency_ns = p->facts.latency_ns;
	e->ifindex = p->facts.ifindex;
	__builtin_memcpy(e->ip, &p->ip, sizeof(e->ip));
	__builtin_memcpy(e->l4, &p->l4, sizeof(e->l4));
	__builtin_memcpy(e->int_block, &p->facts.block, sizeof(e->int_block));
	e->zero = 0;
	send_event(e);
}

static __always_inline void account(struct tagged_packet *p, const struct sink_settings *set, __u64 frame_len)
{
	struct sink_flow *f = find_or_add_flow(&p->facts.key);

	if (!f) {
		count_sink(COUNT_SINK_UNTRACKED, 1, frame_len);
		return;
	}
	update_flow(f, set, &p->facts, &p->news);
	count_arrival(&p->news);
	tell_loss(f, &p->facts.key, &p->news);
	if (p->news.reasons)
		send_latency(p);
}

/* The L4 checksum without the INT block. Holds for finished checksums and for those that the sender's
 * stack left to a device that never finished them: see hostint-wire(7). */
static __always_inline __u16 checksum_without_int(__u16 check, const struct int_block *block)
{
	__u64 sum = (__u64)check + bpf_htons(INT_BLOCK_LEN);

	if (block->flags & INT_FLAG_CHECKSUM)
		return csum_fold(sum + csum_words(block, INT_BLOCK_LEN));
	return csum_fold(sum + csum_words(block, INT_BLOCK_LEN - 4));
}

static __always_inline void restore_over_tcp_udp(struct tagged_packet *p, const struct sink_settings *set)
{
	const struct int_block *block = &p->facts.block;
	__u8 ecn = p->ip.tos & 3;
	__u8 tos = block->flags & INT_FLAG_DSCP ? (block->dscp & ~3) | ecn : p->ip.tos & ~set->tos_mask;

	ip_change(&p->ip, tos, p->facts.orig_len, p->ip.protocol);
	if (p->ip.protocol == IPPROTO_TCP) {
		p->l4.tcp.check = checksum_without_int(p->l4.tcp.check, block);
		return;
	}
	/* The UDP length stands in the header and in the pseudo header. */
	if (p->l4.udp.check)
		p->l4.udp.check = csum_udp(csum_fold((__u64)checksum_without_int(p->l4.udp.check, block) +
						     bpf_htons(INT_BLOCK_LEN)));
	p->l4.udp.len = bpf_htons(bpf_ntohs(p->l4.udp.len) - INT_BLOCK_LEN);
}

/* Cuts the INT out. The packet is untouched until the kernel has agreed to shorten it. */
static __always_inline bool strip(struct xdp_md *ctx, struct tagged_packet *p, const struct sink_settings *set)
{
	bool extension = p->facts.encapsulation == ENCAP_EXTENSION_UDP;
	int len = extension ? EXTENSION_LEN : INT_BLOCK_LEN;
	void *data, *end;

	if (bpf_xdp_adjust_head(ctx, len))
		return false;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + L4 + TCP_BASE_LEN > end && (p->facts.l4_len != UDP_LEN || data + L4 + UDP_LEN > end)) {
		bpf_xdp_adjust_head(ctx, -len);
		return false;
	}
	if (extension)
		ip_change(&p->ip, p->ip.tos, p->facts.orig_len, p->facts.key.protocol);
	else
		restore_over_tcp_udp(p, set);
	__builtin_memcpy(data, &p->eth, sizeof(p->eth));
	__builtin_memcpy(data + L3, &p->ip, sizeof(p->ip));
	if (extension)
		return true;
	if (p->facts.l4_len == UDP_LEN) {
		if (data + L4 + UDP_LEN <= end)
			__builtin_memcpy(data + L4, &p->l4, UDP_LEN);
	} else if (data + L4 + TCP_BASE_LEN <= end) {
		__builtin_memcpy(data + L4, &p->l4, TCP_BASE_LEN);
	}
	return true;
}

SEC("xdp")
int sink(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	__u64 frame_len = end - data;
	struct tagged_packet *p;
	__u32 zero = 0;

	if (!set || !host)
		return XDP_PASS;
	p = bpf_map_lookup_elem(&sink_scratch, &zero);
	if (!p || parse(data, end, set, p) != SINK_TAGGED)
		return XDP_PASS;

	p->facts.ifindex = ctx->ingress_ifindex;
	p->facts.now = now_ns(host);
	p->facts.latency_ns = (__u32)p->facts.now - bpf_ntohl(p->facts.block.ingress_ts);
	p->facts.key.sport = p->l4.udp.source;
	p->facts.key.dport = p->l4.udp.dest;
	account(p, set, frame_len);

	if (set->flags & SINK_DROP_TAGGED) {
		count_sink(COUNT_SINK_DROPPED_TAGGED, 1, frame_len);
		return XDP_DROP;
	}
	if (!(p->facts.block.flags & INT_FLAG_CHECKSUM))
		count_sink(COUNT_SINK_HOST_INT, 1, frame_len);
	count_sink(strip(ctx, p, set) ? COUNT_SINK_STRIPPED : COUNT_SINK_CANNOT_RESIZE, 1, frame_len);
	return XDP_PASS;
}

/* Sweeps the flow whose key is the index-th in the "packet". Global: the verifier walks it once, not per call. */
__noinline int sweep_key(struct xdp_md *ctx, __u32 index)
{
	const struct flow_key *key = (void *)(long)ctx->data + index % SWEEP_KEYS * sizeof(*key);
	const struct sink_settings *set = get_sink_settings();
	const struct host_settings *host = get_host_settings();
	struct flow_news news = {};
	struct flow_key k;
	struct sink_flow *f;

	if (!set || !host || (void *)(key + 1) > (void *)(long)ctx->data_end)
		return 0;
	k = *key;
	f = bpf_map_lookup_elem(&sink_flows, &k);
	if (!f)
		return 0;
	sweep_flow(f, set, now_ns(host), &news);
	tell_loss(f, &k, &news);
	return 1;
}

/* Run by the daemon, never attached: the "packet" is a list of keys of flows whose loss period may be over. */
SEC("xdp")
int sink_sweep(struct xdp_md *ctx)
{
	__u64 bytes = ctx->data_end - ctx->data;
	__u32 keys = bytes / sizeof(struct flow_key);

	for (__u32 i = 0; i < SWEEP_KEYS; i++) {
		if (i >= keys)
			break;
		sweep_key(ctx, i);
	}
	return XDP_PASS;
}
