/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the UDP header, or the first 20 bytes of TCP, behind which INT begins. */
#ifndef HOSTINT_SINK_L4_READ_H
#define HOSTINT_SINK_L4_READ_H

#include "kernel/kernel.h"
#include "packet/headers.h"
#include "packet/layout.h"
#include "sink/tagged.h"

/*
 * Remembers the header. Returns what follows it, or NULL if it is shorter than `len`. Leaves in `stated` the length of the
 * header as the packet states it; less than it has if that is wrong.
 */
static __always_inline void *take_l4(void *data, void *end, __u32 len, struct tagged_packet *p, __u32 *stated)
{
	void *l4 = at_offset(data, p->at.l4);

	if (p->at.protocol == IPPROTO_UDP) {
		struct udphdr *udp = l4;

		if ((void *)(udp + 1) + len > end)
			return NULL;
		p->l4.udp = *udp;
		p->l4_len = UDP_LEN;
		*stated = p->at.ip_len == p->at.l4 - p->at.l3 + bpf_ntohs(udp->len) ? UDP_LEN : 0;
		return udp + 1;
	}
	struct tcphdr *tcp = l4;

	if ((void *)(tcp + 1) + len > end)
		return NULL;
	p->l4.tcp = *tcp;
	p->l4_len = TCP_BASE_LEN;
	*stated = (tcp->doff >> 4) * 4;
	return tcp + 1;
}

#endif
