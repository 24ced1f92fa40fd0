/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tags a packet in options. f is the record of its flow, if there is one. */
#ifndef HOSTINT_LEASE_TAG_IN_OPTIONS_H
#define HOSTINT_LEASE_TAG_IN_OPTIONS_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"
#include "hostint/source_flow.h"
#include "lease/begin_tagging.h"
#include "lease/form.h"
#include "source/datagram_option.h"
#include "source/option_fill.h"
#include "source/outgoing.h"

static __always_inline int tag_in_options(struct __sk_buff *ctx, const struct host_settings *host,
					  struct outgoing_packet *p, struct source_flow *f, bool locked)
{
	struct int_option option;
	int verdict = TCX_NEXT;

	p->encapsulation = 0;
	if (is_tcp(p) && has_option_room(ctx, p, &option))
		fill_int_option(ctx, host, p, f ?: begin_tagging(p), &option, locked);
	else if (!is_tcp(p) && takes_option(ctx, p, f))
		verdict = tag_datagram(ctx, host, p, f ?: begin_tagging(p), locked);
	if (p->is_unseen && p->encapsulation)
		note_unseen();
	return verdict;
}

#endif
