/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Begins the record of a flow that is tagged from this packet on. */
#ifndef HOSTINT_LEASE_BEGIN_TAGGING_H
#define HOSTINT_LEASE_BEGIN_TAGGING_H

#include "kernel/kernel.h"
#include "hostint/source_flow.h"
#include "int/slots.h"
#include "lease/telling.h"
#include "source/flow_numbers.h"
#include "source/outgoing.h"

/* Returns NULL if the table is full. */
static __always_inline struct source_flow *begin_tagging(struct outgoing_packet *p)
{
	struct source_flow *f = add_source_flow(p);

	if (f && is_own_form(p->form)) {
		tell_first();
		f->told = p->segments;
	}
	return f;
}

#endif
