/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads INT in an option behind a datagram's data. */
#ifndef HOSTINT_SINK_DATAGRAM_READ_H
#define HOSTINT_SINK_DATAGRAM_READ_H

#include "kernel/kernel.h"
#include "hostint/count.h"
#include "hostint/int_option.h"
#include "hostint/lease.h"
#include "int/option.h"
#include "kernel/features.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/option_read.h"
#include "sink/probe_read.h"
#include "sink/tagged.h"

enum {
	AREA_PLACES = 0x7fff, /* bounds of where an area of options begins, for the verifier */
	AREA_WHOLE = 0xffff,  /* what datagram_sum() returns if nothing was changed */
};

/* Returns where the area for INT begins if the datagram may have one; else 0. */
static __always_inline __u32 area_at(void *data, void *end, const struct tagged_packet *p)
{
	struct udphdr *udp = at_offset(data, p->at.l4);
	__u32 headers = p->at.l4 - p->at.l3, len;

	if (p->at.protocol != IPPROTO_UDP || p->at.fragment || (void *)(udp + 1) > end)
		return 0;
	len = bpf_ntohs(udp->len);
	if (len < UDP_LEN || p->at.ip_len != headers + len + datagram_room(len))
		return 0;
	return p->at.l3 + p->at.ip_len - INT_DATAGRAM_LEN;
}

static __always_inline bool load_area_xdp(struct xdp_md *ctx, __u32 at, struct datagram_option *area)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct datagram_option *found = data + (at & AREA_PLACES);

	barrier_var(found);
	if ((void *)(found + 1) > end)
		return have_xdp_frags && !bpf_xdp_load_bytes(ctx, at, area, sizeof(*area));
	*area = *found;
	return true;
}

static __always_inline enum sink_read read_datagram_option(void *data, void *end, const struct datagram_option *area,
							   struct tagged_packet *p)
{
	struct udphdr *udp = at_offset(data, p->at.l4);
	const struct int_option option = area->option;
	__u32 len;

	if (!is_option_of(&option, INT_DATAGRAM_KIND) || !(option.flags & INT_OPTION_FILLED) ||
	    (void *)(udp + 1) > end || !fill_key(data, end, &p->at, &p->facts.key) ||
	    !load_ip(data, end, p->at.l3, p->at.family, &p->base))
		return SINK_NOT_MARKED;
	len = bpf_ntohs(udp->len);
	if (datagram_sum(area, datagram_room(len)) != AREA_WHOLE || bpf_ntohs(option.size) != len - UDP_LEN)
		return refuse(COUNT_SINK_FOREIGN_MARK, p->frame_len);
	if (udp->dest == bpf_htons(GPE_PORT) && take_probe(udp + 1, end, FORM_OPTIONS, p))
		return SINK_PROBE;
	p->l4.udp = *udp;
	p->l4_len = UDP_LEN;
	take_option(&option, p);
	p->facts.count = 1;
	p->bad_segment = 0;
	p->headers_len = p->at.l4 - p->at.l3 + UDP_LEN;
	p->orig_len = p->headers_len + len - UDP_LEN;
	return SINK_TAGGED;
}

#endif
