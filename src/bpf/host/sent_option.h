/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds INT in options of a packet that a driver gets: no hop passes it on, but its source is this host. */
#ifndef HOSTINT_HOST_SENT_OPTION_H
#define HOSTINT_HOST_SENT_OPTION_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "int/option_find.h"
#include "packet/headers.h"
#include "transit/sent.h"

static __always_inline bool read_sent_option(const void *from, __u32 at, void *to, __u32 len)
{
	return read_sent(from, at, to, len);
}

/* find_sent() has read the headers in front of it. */
static __always_inline bool find_sent_option(struct sent_packet *p)
{
	struct int_option option;

	if (!p->l4 || !find_filled_option(p, read_sent_option, p->l4, p->protocol, &option))
		return false;
	p->source_node = option.node_id;
	p->source_time = option.time;
	p->behind = p->l4 + (p->protocol == IPPROTO_TCP ? TCP_BASE_LEN : 0);
	return true;
}

#endif
