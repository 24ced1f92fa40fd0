/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the headers of INT v2.1 behind TCP and UDP, which is INT-MD or INT-MX, from those of the original packet. */
#ifndef HOSTINT_SOURCE_V21_PUSH_H
#define HOSTINT_SOURCE_V21_PUSH_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/mark.h"
#include "packet/headers.h"
#include "source/flow_numbers.h"
#include "source/md_fill.h"
#include "source/mx_fill.h"
#include "source/outgoing.h"
#include "source/push.h"

static __always_inline void fill_v21_block(void *block, const struct outgoing_packet *p, __u32 node_id, __u64 now,
					   const struct flow_number *number, const __u32 len)
{
	if (len == INT_MX_BLOCK_LEN)
		fill_mx_block(block, p, node_id, now, number);
	else
		fill_md_block(block, p, node_id, now, number, len);
}

/* `len`, a constant, is that of the block. */
static __always_inline void push_v21(struct outgoing_packet *p, __u32 node_id, __u64 now,
				     const struct flow_number *number, const __u32 len)
{
	change_out_ip(p, (p->at.tos & ~md_tos_mask) | md_tos_value, p->at.ip_len + len, p->at.protocol);
	if (p->at.protocol == IPPROTO_TCP) {
		struct tcphdr *tcp = &p->out.md_tcp.tcp;

		fill_v21_block(tcp + 1, p, node_id, now, number, len);
		*tcp = p->l4.tcp;
		tcp_checksum(tcp, tcp + 1, len, p->unfinished);
	} else {
		struct udphdr *udp = &p->out.md_udp.udp;

		fill_v21_block(udp + 1, p, node_id, now, number, len);
		*udp = p->l4.udp;
		udp_checksum(udp, udp + 1, len, p->unfinished);
	}
}

#endif
