/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the UDP header, or the first 20 bytes of TCP, behind which INT begins. */
#ifndef HOSTINT_PACKET_L4_FRONT_H
#define HOSTINT_PACKET_L4_FRONT_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "packet/headers.h"
#include "packet/layout.h"

union l4_header {
	struct udphdr udp;
	struct tcphdr tcp; /* without its options */
};

struct l4_front {
	__u32 len;    /* of what stands in front of INT */
	__u32 stated; /* length of the header as the packet states it; less than len if that is wrong */
};

/* Returns what follows the header, or NULL if it is shorter than `len`. Copies the header to `copy`, unless that is NULL. */
static __always_inline void *behind_l4(void *data, void *end, const struct layout *at, __u32 len,
				       struct l4_front *front, union l4_header *copy)
{
	void *l4 = at_offset(data, at->l4);

	if (at->protocol == IPPROTO_UDP) {
		struct udphdr *udp = l4;

		if ((void *)(udp + 1) + len > end)
			return NULL;
		if (copy)
			copy->udp = *udp;
		front->len = UDP_LEN;
		front->stated = at->ip_len == at->l4 - at->l3 + bpf_ntohs(udp->len) ? UDP_LEN : 0;
		return udp + 1;
	}
	struct tcphdr *tcp = l4;

	if ((void *)(tcp + 1) + len > end)
		return NULL;
	if (copy)
		copy->tcp = *tcp;
	front->len = TCP_BASE_LEN;
	front->stated = (tcp->doff >> 4) * 4;
	return tcp + 1;
}

#endif
