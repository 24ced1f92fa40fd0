/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a source's packets are recognised by, fixed at attach of the source and of its peer. */
#ifndef HOSTINT_INT_MARK_H
#define HOSTINT_INT_MARK_H

#include "kernel/kernel.h"

const volatile __u8 tos_value = 0x04;
const volatile __u8 tos_mask = 0x04;
const volatile __be16 extension_port = 0; /* network order */

#endif
