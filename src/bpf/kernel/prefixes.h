/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looks addresses up in lists of prefixes that the user allowed. */
#ifndef HOSTINT_KERNEL_PREFIXES_H
#define HOSTINT_KERNEL_PREFIXES_H

#include "kernel/kernel.h"
#include "hostint/watch.h"

/* addr is as in struct flow_key. */
static __always_inline bool is_in_prefixes(void *map, const __be32 *addr, __u8 family)
{
	struct prefix_key key = {};

	if (family == 4) {
		key.prefix_len = 32 + 32;
		key.family = bpf_htonl(4);
		key.addr[0] = addr[3];
	} else {
		key.prefix_len = 32 + 128;
		key.family = bpf_htonl(6);
		__builtin_memcpy(key.addr, addr, sizeof(key.addr));
	}
	return bpf_map_lookup_elem(map, &key);
}

#endif
