/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recognises the TCP option that holds INT. */
#ifndef HOSTINT_INT_IN_OPTION_H
#define HOSTINT_INT_IN_OPTION_H

#include "kernel/kernel.h"
#include "hostint/int_option.h"

static __always_inline bool is_int_option(const struct int_option *option)
{
	return option->kind == INT_OPTION_KIND && option->length == INT_OPTION_LEN &&
	       option->id == bpf_htons(INT_OPTION_ID);
}

#endif
