/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills in the record of a flow that begins with the packet in the scratch. */
#ifndef HOSTINT_SOURCE_FLOW_BEGIN_H
#define HOSTINT_SOURCE_FLOW_BEGIN_H

#include "kernel/kernel.h"
#include "hostint/source_flow.h"
#include "int/slots.h"
#include "source/outgoing.h"

enum {
	GUARD_SHIFT = 20, /* the guard measures time in 2^20 ns, about a millisecond */
};

/* Returns how many TCP sequence numbers the segment takes: those of its data, SYN and FIN. */
static __always_inline __u32 tcp_len(const struct outgoing_packet *p)
{
	__u32 data = p->at.ip_len - (p->at.l4 - p->at.l3) - p->l4_header_len;

	return data + !!(p->l4.tcp.flags & TCP_SYN) + !!(p->l4.tcp.flags & TCP_FIN);
}

/* Numbers go on where the table has the flow already, because the sink may know it, too. */
static __always_inline void begin_flow(const struct outgoing_packet *p, struct source_flow *f)
{
	f->form = p->form;
	f->left = p->left;
	f->leased_ns = p->leased_ns;
	f->leases_serial = p->leases_serial;
	f->longest = p->longest;
	f->stack = p->stack;
	f->repeats = 0;
	f->stalled = 0;
	f->superpacket = 0;
	f->counted = 0;
	f->open = 0;
	if (!is_tcp(p))
		return;
	f->repeated = bpf_ntohl(p->l4.tcp.seq);
	f->tcp_end = f->repeated + tcp_len(p);
	f->tcp_end_at = p->now_ns >> GUARD_SHIFT;
	f->open = is_own_form(p->form) && !(p->l4.tcp.flags & (TCP_FIN | TCP_RST));
}

#endif
