/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads INT in an option of a TCP segment. It stands behind all others, where the sender's kernel puts it. */
#ifndef HOSTINT_SINK_OPTION_READ_H
#define HOSTINT_SINK_OPTION_READ_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/count.h"
#include "hostint/int_option.h"
#include "int/option.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/segments.h"
#include "sink/tagged.h"

enum {
	OPTION_LEAST_WORDS = (TCP_BASE_LEN + INT_OPTION_LEN) / 4,
	OPTION_PLACES = 0xff, /* bounds of where an option ends, for the verifier */
};

/* Returns NULL if the packet has no option, or it cannot be read. */
static __always_inline const struct int_option *option_of(void *data, void *end, const struct tagged_packet *p)
{
	struct tcphdr *tcp = at_offset(data, p->at.l4);
	const struct int_option *option;
	__u32 words;

	if (p->at.protocol != IPPROTO_TCP || p->at.fragment || (void *)(tcp + 1) > end)
		return NULL;
	words = tcp->doff >> 4;
	if (words < OPTION_LEAST_WORDS)
		return NULL;
	option = at_offset(data, ((p->at.l4 + words * 4) & OPTION_PLACES) - INT_OPTION_LEN);
	if ((void *)(option + 1) > end)
		return NULL;
	return option;
}

/* Says whether a source filled in an option of this packet. */
static __always_inline bool begins_option(void *data, void *end, const struct tagged_packet *p)
{
	const struct int_option *option = option_of(data, end, p);

	return option && is_int_option(option) && option->flags & INT_OPTION_FILLED;
}

static __always_inline void take_option(const struct int_option *option, struct tagged_packet *p)
{
	p->facts.encapsulation = ENCAP_OPTIONS;
	p->facts.source_node = bpf_ntohl(option->node_id);
	p->facts.source_port = 0;
	p->facts.ingress_ts = bpf_ntohl(option->time);
	p->facts.sequence = bpf_ntohl(option->sequence);
	p->facts.age_code = option->flags & INT_OPTION_FLOW_AGE;
	p->ingress_port = 0;
	p->egress_ts = p->facts.ingress_ts;
	p->by_host_int = 0;
	p->has_queue = 0;
	p->behind_l4 = false;
	p->had_budget = false;
	p->dscp = 0;
	p->hops = 0;
	p->grown = 0;
}

/* The packet's layout is in the scratch. */
static __always_inline enum sink_read read_int_option(void *data, void *end, struct tagged_packet *p)
{
	const struct int_option *option = option_of(data, end, p);
	struct tcphdr *tcp = at_offset(data, p->at.l4);
	struct whole_packet of = { .is_tcp = true };
	__u32 headers, payload;

	if (!option || (void *)(tcp + 1) > end)
		return SINK_NOT_MARKED;
	p->l4.tcp = *tcp;
	p->l4_len = TCP_BASE_LEN;
	headers = p->at.l4 - p->at.l3 + (tcp->doff >> 4) * 4;
	if (p->at.ip_len < headers || p->at.ip_len > p->frame_len - p->at.l3)
		return refuse(COUNT_SINK_BAD_LENGTH, p->frame_len);
	take_option(option, p);
	of.base = bpf_ntohl(option->base);
	of.size = bpf_ntohs(option->size);
	of.begin = bpf_ntohl(p->l4.tcp.seq);
	payload = p->at.ip_len - headers;
	of.count = payload <= of.size && of.begin == of.base ? 1 : INT_OPTION_SEGMENTS;
	if (!fill_key(data, end, &p->at, &p->facts.key) || !load_ip(data, end, p->at.l3, p->at.family, &p->base))
		return SINK_NOT_MARKED;
	find_segments(p, payload, of);
	p->headers_len = headers - INT_OPTION_LEN;
	p->orig_len = p->at.ip_len - INT_OPTION_LEN;
	return SINK_TAGGED;
}

#endif
