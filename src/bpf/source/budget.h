/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says how many entries the metadata stack of a packet may have. */
#ifndef HOSTINT_SOURCE_BUDGET_H
#define HOSTINT_SOURCE_BUDGET_H

#include "kernel/kernel.h"
#include "hostint/lease_table.h"
#include "source/attachment.h"

/* A sink that reads stacks is told that no hop may push; older ones demand the word that Host-INT writes, which is 0. */
static __always_inline __u8 most_entries(const struct source_lease *lease)
{
	return lease->stack && !full_checksum ? 1 : 0;
}

#endif
