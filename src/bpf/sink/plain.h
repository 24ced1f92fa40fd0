/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognises most packets that the sink has nothing to do with. */
#ifndef HOSTINT_SINK_PLAIN_H
#define HOSTINT_SINK_PLAIN_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "hostint/lease.h"
#include "int/plain.h"
#include "sink/option_read.h"

/* Returns true if the packet cannot have INT, and cannot be a probe. */
static __always_inline bool is_plain(void *data, void *end, const struct sink_settings *set)
{
	const struct int_marks marks = {
		.tos_value = set->tos_value,
		.tos_mask = set->tos_mask,
		.extension_port = set->extension_port,
		.other_tos_value = set->md_tos_value,
		.other_tos_mask = set->md_tos_mask,
		.other_port = bpf_htons(LEASE_STRAY_PORT),
		.option_words = set->flags & SINK_OPTIONS ? OPTION_LEAST_WORDS : 0,
	};

	return has_no_mark(data, end, &marks);
}

#endif
