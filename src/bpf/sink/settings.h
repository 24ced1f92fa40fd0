/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Holds the sink's own settings. */
#ifndef HOSTINT_SINK_SETTINGS_H
#define HOSTINT_SINK_SETTINGS_H

#include "kernel/kernel.h"
#include "hostint/abi.h"
#include "kernel/single_value.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sink_settings);
} sink_settings SEC(".maps");

static __always_inline const struct sink_settings *get_sink_settings(void)
{
	return single_value(&sink_settings);
}

#endif
