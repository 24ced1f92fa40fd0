/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides whether an option of Geneve is INT v2.1 (MD) that a transit hop may change. */
#ifndef HOSTINT_INT_GENEVE_OPTION_H
#define HOSTINT_INT_GENEVE_OPTION_H

#include "kernel/kernel.h"
#include "hostint/wire.h"
#include "int/block.h"
#include "int/md_head.h"

/* Reads an option of INT's class, and the metadata header behind the option's own. */
static __always_inline enum int_verdict check_geneve_int(const struct geneve_option *option)
{
	const struct int_md_head *h = (const void *)option;

	if (option->type != GENEVE_INT_MD || option->words & ~GENEVE_OPTION_WORDS || option->words < INT_MD_LEAST_WORDS)
		return INT_BAD_SHIM;
	if ((h->version & 0xf0) != INT_MD_VERSION)
		return INT_BAD_VERSION;
	return check_md_instructions(h);
}

#endif
