/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads whether a packet's checksum is finished, where that matters to how it is tagged. */
#ifndef HOSTINT_SOURCE_CHECKSUM_H
#define HOSTINT_SOURCE_CHECKSUM_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/source_flow.h"
#include "packet/checksum_state.h"
#include "source/attachment.h"
#include "source/outgoing.h"

/* Only where INT stands behind the L4 header does its checksum change, and devices finish those of UDP superpackets. */
static __always_inline bool needs_checksum_state(const struct outgoing_packet *p)
{
	return superpackets == SUPER_ENCAP_ALL || encapsulation == ENCAP_OVER_TCP_UDP ||
	       encapsulation == ENCAP_INT_MD || (chooses_form() && p->form == FLOW_MIXED);
}

/* Returns false if the state cannot be read. */
static __always_inline bool read_checksum_state(struct __sk_buff *ctx, struct outgoing_packet *p)
{
	enum checksum_state state = checksum_state(ctx, &p->at);

	p->unfinished = state == CHECKSUM_UNFINISHED;
	return state != CHECKSUM_UNREADABLE;
}

#endif
