/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds what is true of the whole watchlist. */
#ifndef HOSTINT_WATCH_STATE_H
#define HOSTINT_WATCH_STATE_H

#include "kernel/kernel.h"
#include "hostint/watch.h"
#include "kernel/single_value.h"

/* Packets see a new list all at once, when the user half changes the generation. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watch_state);
} watch_state SEC(".maps");

static __always_inline const struct watch_state *get_watch_state(void)
{
	return single_value(&watch_state);
}

#endif
